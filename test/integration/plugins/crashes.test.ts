import { Client as PostgresClient } from 'pg';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { PluginInstallationKind } from '../../../src/api/plugins.tenantry.dev/v1alpha1/plugin-installation.ts';
import { PluginVersionKind } from '../../../src/api/plugins.tenantry.dev/v1alpha1/plugin-version.ts';
import { TenantKind } from '../../../src/api/tenantry.dev/v1alpha1/tenant.ts';
import { tokenController } from '../../../src/areas/plugins/identity/token.controller.ts';
import { installationController } from '../../../src/areas/plugins/installation/installation.controller.ts';
import { installationParts } from '../../../src/areas/plugins/installation/installation-parts.ts';
import { createClient, type Client } from '../../../src/client/client.ts';
import { connectContext } from '../../../src/client/config/connect.ts';
import { loadKubeconfig } from '../../../src/client/config/kubeconfig-file.ts';
import { resolveContext } from '../../../src/client/config/kubeconfig.ts';
import { CustomResourceDefinition, Deployment, Namespace, Secret, Service } from '../../../src/client/kinds.ts';
import { TransportError } from '../../../src/client/transport-error.ts';
import type { Transport } from '../../../src/client/transport.ts';
import type { KubeObject } from '../../../src/kube/object.ts';
import { realClock } from '../../../src/lib/clock.ts';
import { silentLog } from '../../../src/lib/log.ts';
import { MetricsRegistry } from '../../../src/lib/metrics.ts';
import { EventRecorder } from '../../../src/runtime/event-recorder.ts';
import { SharedInformers } from '../../../src/runtime/informer/shared-informers.ts';
import { TenantWorld } from '../../conformance/tenancy/tenant-world.ts';
import type { ApiTarget } from '../../support/api-target.ts';
import { ownCustomResourceDefinitions } from '../../support/custom-resource-definitions.ts';
import { startEmbeddedTarget } from '../../support/embedded-target.ts';
import { startPostgres, type PostgresServer } from '../../support/postgres-server.ts';
import { aManifest } from './plugin-world.ts';

const GROUPS = ['plugins.tenantry.dev', 'tenantry.dev', 'hnc.x-k8s.io'];
const IMAGE = `registry.example/app@sha256:${'a'.repeat(64)}`;

let target: ApiTarget;
let world: TenantWorld;
let stopPlaying: () => Promise<void>;
let postgres: PostgresServer;

beforeAll(async () => {
  target = await startEmbeddedTarget();
  world = await TenantWorld.over(target);
  const definitions = (ownCustomResourceDefinitions() as KubeObject[]).filter(({ spec }) => GROUPS.includes(spec.group));
  await Promise.all(definitions.map((definition) => world.client.resource<KubeObject>(CustomResourceDefinition).create(definition)));
  await world.eventually(() => world.find(() => world.client.resource(PluginInstallationKind).list()));
  await world.client.resource(Namespace).create({ metadata: { name: 'school', labels: { 'tenantry.dev/tenant': 'school' } } });
  await world.client.resource(TenantKind).create({ metadata: { name: 'school' }, spec: {} });
  await world.node('worker');
  postgres = await startPostgres();
  await world.client.resource(Namespace).create({ metadata: { name: 'tenantry-system' } });
  const settings = { metadata: { name: 'plugin-platform' }, stringData: { 'postgres-dsn': postgres.dsn } };
  await world.client.resource(Secret, 'tenantry-system').create(settings);
  stopPlaying = playTenancy();
}, 60_000);
afterAll(async () => {
  await stopPlaying?.();
  await world?.stop();
  await postgres?.stop();
}, 60_000);

const namespaces: string[] = [];

/** What the tree would do, and the node. */
function playTenancy(): () => Promise<void> {
  const stop = new AbortController();
  const stopKubelet = world.playKubelet(namespaces);
  const play = async (): Promise<void> => {
    while (!stop.signal.aborted) {
      const patch = { metadata: { labels: { 'tenantry.dev/tenant': 'school' } } };
      for (const name of namespaces)
        await world.client
          .resource(Namespace)
          .patch(name, { type: 'merge', patch })
          .catch(() => {});
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  };
  const playing = play();
  return async () => {
    stop.abort();
    await Promise.all([playing, stopKubelet()]);
  };
}

interface Area {
  crashed: Promise<void>;
  stop(): Promise<void>;
}

/** The controllers, on a connection that is dead after so many writes: the last of them was made, and nobody learnt of it. */
async function startArea(writes: number): Promise<Area> {
  const context = resolveContext(await loadKubeconfig({ path: target.kubeconfig }));
  const transport = await connectContext(context);
  let crash!: () => void;
  const crashed = new Promise<void>((resolve) => (crash = resolve));
  const client = createClient(dyingAfter(writes, transport, crash));
  const informers = new SharedInformers({ client, log: silentLog });
  const events = new EventRecorder({ client: world.client, log: silentLog, controller: 'test', instance: 'test' });
  const registry = {} as never;
  const environment = {
    client,
    clock: realClock,
    log: silentLog,
    metrics: new MetricsRegistry(),
    instance: 'test',
    registry,
    informers,
    events,
  };
  const parts = installationParts(environment);
  const controllers = [installationController(environment, parts), tokenController(environment, parts)];
  for (const controller of controllers) controller.start();
  return {
    crashed,
    async stop() {
      await Promise.all(controllers.map((controller) => controller.stop()));
      await informers.stop();
      await client.close();
    },
  };
}

function dyingAfter(writes: number, transport: Transport, crash: () => void): Transport {
  let left = writes;
  return {
    ...transport,
    watch: (request) => transport.watch(request),
    close: () => transport.close(),
    async request(request) {
      if (left <= 0) throw new TransportError('Closed', 'the process is gone');
      const answer = await transport.request(request);
      if (request.method === 'GET' || --left > 0) return answer;
      crash();
      throw new TransportError('Closed', 'the process is gone');
    },
  };
}

async function publish(client: Client, plugin: string): Promise<void> {
  const name = `acme.${plugin}.1.0.0`;
  const manifest = aManifest('acme', plugin, '1.0.0', 'registry.example/app:1.0.0', {
    runtime: { replicas: { min: 1, max: 2 } },
    database: { migrations: { path: 'db' } },
  });
  const files = { 'db/001_notes.sql': 'CREATE TABLE notes (text text)' };
  await client
    .resource(PluginVersionKind)
    .create({ metadata: { name }, spec: { publisher: 'acme', plugin, version: '1.0.0', manifest, files } });
  const status = { phase: 'VERIFIED', image: IMAGE, observedGeneration: 1 };
  await client.resource(PluginVersionKind).status.patch(name, { type: 'merge', patch: { status } });
}

async function rolesAndDatabases(): Promise<string[]> {
  const admin = new PostgresClient({ connectionString: postgres.dsn });
  await admin.connect();
  const { rows } = await admin.query<{ name: string }>(
    "SELECT rolname AS name FROM pg_roles WHERE rolname LIKE 'plugin%' UNION ALL SELECT datname FROM pg_database WHERE datname LIKE 'tenant%'",
  );
  await admin.end();
  return rows.map(({ name }) => name);
}

it('an installation is completed by the next process, after whichever write the last one died', { timeout: 180_000 }, async () => {
  let completed = false;
  let writes = 1;
  for (; !completed; writes++) {
    const plugin = `app${writes}`;
    namespaces.push(`plugin-school-${plugin}`);
    await publish(world.client, plugin);
    await world.client
      .resource(PluginInstallationKind, 'school')
      .create({ metadata: { name: plugin }, spec: { publisher: 'acme', plugin, version: '1.0.0', data: 'Delete' } });
    const isActive = () =>
      world.eventually(async () => (await world.client.resource(PluginInstallationKind, 'school').get(plugin)).status?.phase === 'ACTIVE');
    const dying = await startArea(writes);
    // The one that gets as far as ACTIVE has shown all writes that there are.
    completed = await Promise.race([dying.crashed.then(() => false), isActive()]);
    await dying.stop();
    const next = await startArea(Number.POSITIVE_INFINITY);
    await isActive();
    await world.client.resource(PluginInstallationKind, 'school').delete(plugin);
    await world.eventually(
      async () => (await world.find(() => world.client.resource(PluginInstallationKind, 'school').get(plugin))) === undefined,
    );
    expect(await world.find(() => world.client.resource(Namespace).get(`plugin-school-${plugin}`))).toBeUndefined();
    expect(await rolesAndDatabases()).toEqual([]);
    await next.stop();
    namespaces.pop();
    expect(writes).toBeLessThan(60);
  }
  // As many as there are objects, at least: otherwise nothing was shown.
  expect(writes).toBeGreaterThan(12);
});

async function publishVersion(plugin: string, version: string): Promise<void> {
  // Every version has an image of its own, and the requests move in two steps without a pause.
  const upgrade = { strategy: 'canary' as const, canarySteps: [{ weight: 50 }, { weight: 100 }] };
  const manifest = aManifest('acme', plugin, version, `registry.example/app:${version}`, { runtime: { upgrade } });
  const name = `acme.${plugin}.${version}`;
  await world.client.resource(PluginVersionKind).create({ metadata: { name }, spec: { publisher: 'acme', plugin, version, manifest } });
  const image = `registry.example/app@sha256:${version.replaceAll('.', '').padEnd(64, '0')}`;
  const status = { phase: 'VERIFIED', image, observedGeneration: 1 };
  await world.client.resource(PluginVersionKind).status.patch(name, { type: 'merge', patch: { status } });
}

it(
  'an upgrade and a rollback are completed by the next process, after whichever write the last one died',
  { timeout: 180_000 },
  async () => {
    const plugin = 'upgraded';
    const namespace = `plugin-school-${plugin}`;
    namespaces.push(namespace);
    await publishVersion(plugin, '1.0.0');
    await publishVersion(plugin, '1.1.0');
    const installations = world.client.resource(PluginInstallationKind, 'school');
    await installations.create({ metadata: { name: plugin }, spec: { publisher: 'acme', plugin, version: '1.0.0' } });
    const isAt = (version: string, phase: string) =>
      world.eventually(async () => {
        const { status, metadata } = await installations.get(plugin);
        return status?.phase === phase && status.version === version && status.observedGeneration === metadata.generation;
      });
    const first = await startArea(Number.POSITIVE_INFINITY);
    await isAt('1.0.0', 'ACTIVE');
    await first.stop();

    let request = 0;
    const changes = [
      { spec: () => ({ version: '1.1.0', rollback: null }), version: '1.1.0', phase: 'ACTIVE' },
      { spec: () => ({ rollback: { request: ++request } }), version: '1.0.0', phase: 'ROLLED_BACK' },
    ];
    let isCompleted = false;
    let writes = 1;
    for (; !isCompleted; writes++) {
      isCompleted = true;
      for (const { spec, version, phase } of changes) {
        await installations.patch(plugin, { type: 'merge', patch: { spec: spec() } });
        const dying = await startArea(writes);
        if (!(await Promise.race([dying.crashed.then(() => false), isAt(version, phase)]))) isCompleted = false;
        await dying.stop();
        const next = await startArea(Number.POSITIVE_INFINITY);
        await isAt(version, phase);
        const workload = `plugin-${version.replaceAll('.', '-')}`;
        await world.eventually(async () => (await world.client.resource(Deployment, namespace).list()).items.length === 1);
        expect((await world.client.resource(Service, namespace).list()).items.map(({ metadata }) => metadata.name)).toEqual([workload]);
        expect((await installations.get(plugin)).status!.gateway!.routes).toEqual([{ version, workload, weight: 100 }]);
        await next.stop();
      }
      expect(writes).toBeLessThan(40);
    }
    // The status at every step, and what comes and goes: otherwise nothing was shown.
    expect(writes).toBeGreaterThan(6);
  },
);
