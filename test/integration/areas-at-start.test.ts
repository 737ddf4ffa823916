import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createClient, type Client } from '../../src/client/client.ts';
import { createInMemoryTransport } from '../../src/client/in-memory/in-memory-transport.ts';
import { CustomResourceDefinition } from '../../src/client/kinds.ts';
import { RuntimeKind } from '../../src/api/kruntimes.io/v1alpha1/runtime.ts';
import { inProcessHandler } from '../../src/engine/apiserver/in-process.ts';
import { isConditionTrue } from '../../src/kube/conditions.ts';
import type { KubeObject } from '../../src/kube/object.ts';
import { silentLog } from '../../src/lib/log.ts';
import { startEngine, type Engine } from '../../src/main/engine.ts';
import { ownCustomResourceDefinitions } from '../support/custom-resource-definitions.ts';

const data = mkdtempSync(join(tmpdir(), 'tenantry-areas-'));
const RUNTIMES = 'runtimes.kruntimes.io';
let engine: Engine;
let client: Client;

async function start(definitions: KubeObject[]): Promise<void> {
  engine = await startEngine({
    data,
    address: '127.0.0.1',
    port: 0,
    fallBackToFreePort: false,
    version: '0.0.0-test',
    log: silentLog,
    areas: () => definitions,
  });
  const admin = { name: 'admin', groups: ['system:masters', 'system:authenticated'] };
  client = createClient(createInMemoryTransport(inProcessHandler(engine.server, admin)));
}

async function restart(definitions: KubeObject[]): Promise<void> {
  await engine.stop();
  await start(definitions);
}

function namesOf(objects: readonly { metadata: { name?: string } }[]): Set<string | undefined> {
  return new Set(objects.map(({ metadata }) => metadata.name));
}

beforeAll(() => start(ownCustomResourceDefinitions()));

afterAll(async () => {
  await engine.stop();
  rmSync(data, { recursive: true, force: true });
});

it('every definition is established and served when the engine is ready', async () => {
  const definitions = ownCustomResourceDefinitions();
  const { items } = await client.resource<KubeObject>(CustomResourceDefinition).list();
  expect(namesOf(items)).toEqual(namesOf(definitions));
  for (const { status, spec } of items) {
    expect(isConditionTrue(status?.conditions, 'NamesAccepted') && isConditionTrue(status?.conditions, 'Established')).toBe(true);
    expect(status?.acceptedNames).toMatchObject({ plural: spec.names.plural, kind: spec.names.kind });
    expect(status?.storedVersions).toHaveLength(1);
  }
  const { resources } = await client.discovery.resources();
  const served = new Set(resources.map(({ plural, group }) => `${plural}.${group}`));
  expect(definitions.filter(({ metadata }) => !served.has(metadata.name))).toEqual([]);
});

it('a definition is written once, complete', async () => {
  const { metadata } = await client.resource<KubeObject>(CustomResourceDefinition).get(RUNTIMES);
  expect(metadata.generation).toBe(1);
  const entry = engine.server.core.store.get(`apiextensions.k8s.io/customresourcedefinitions/${RUNTIMES}`);
  expect(entry).toBeDefined();
  expect(entry!.createdRevision).toBe(entry!.revision);
});

it('a start with the same definitions writes none of them', async () => {
  const before = (await client.resource(CustomResourceDefinition).get(RUNTIMES)).metadata.resourceVersion;
  await restart(ownCustomResourceDefinitions());
  expect((await client.resource(CustomResourceDefinition).get(RUNTIMES)).metadata.resourceVersion).toBe(before);
});

it('a definition that another version made is brought up to date; what people added to it stays', async () => {
  await client.resource(CustomResourceDefinition).patch(RUNTIMES, { type: 'merge', patch: { metadata: { labels: { team: 'blue' } } } });
  const changed = ownCustomResourceDefinitions();
  changed.find(({ metadata }) => metadata.name === RUNTIMES)!.spec.names.shortNames = ['rtx'];
  await restart(changed);
  const found = await client.resource<KubeObject>(CustomResourceDefinition).get(RUNTIMES);
  expect(found.spec.names.shortNames).toEqual(['rtx']);
  expect(found.metadata).toMatchObject({ generation: 2, labels: { team: 'blue' } });
  expect(isConditionTrue(found.status?.conditions, 'Established')).toBe(true);
});

it('a Runtime that comes with the engine is there, and stays away once it was deleted', async () => {
  const runtimes = client.resource(RuntimeKind, 'default');
  expect(namesOf((await runtimes.list()).items)).toEqual(new Set(['bash', 'node', 'python']));
  await runtimes.delete('python');
  await restart(ownCustomResourceDefinitions());
  expect(namesOf((await client.resource(RuntimeKind, 'default').list()).items)).toEqual(new Set(['bash', 'node']));
});
