import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { CoreEvent, ResourceQuota } from '../../../src/client/kinds.ts';
import { installObjects } from '../../../src/main/areas.ts';
import { ownCustomResourceDefinitions } from '../../support/custom-resource-definitions.ts';
import { startInMemoryEngine, type InMemoryEngine } from '../controllers/engine-in-memory.ts';
import { PropagationWorld } from './propagation-world.ts';

let engine: InMemoryEngine;
let world: PropagationWorld;

beforeAll(async () => {
  engine = await startInMemoryEngine();
  await installObjects(engine.client, ownCustomResourceDefinitions());
  world = await PropagationWorld.start(engine.client);
});

afterAll(async () => {
  await world?.stop();
  await engine?.stop();
});

const eventually = (check: () => Promise<void>): Promise<void> => vi.waitFor(check, { timeout: 18_000, interval: 20 });

test('a copy that a namespace refuses, is told to both sides, and comes when it is let in', async () => {
  await world.configure([{ resource: 'configmaps' }]);
  await world.namespace('source');
  await world.namespace('full', 'source');
  const quotas = engine.client.resource(ResourceQuota, 'full');
  await quotas.create({ metadata: { name: 'none' }, spec: { hard: { 'count/configmaps': '1' } } });
  await eventually(async () => expect((await quotas.get('none')).status?.hard).toEqual({ 'count/configmaps': '1' }));
  await world.configMap('source', 'm', { a: '1' });
  const told = async (namespace: string) =>
    (await engine.client.resource(CoreEvent, namespace).list()).items.map(({ reason, message }) => `${reason}: ${message}`);
  const why =
    'configmaps "m" is forbidden: exceeded quota: none, requested: count/configmaps=1, used: count/configmaps=1, limited: count/configmaps=1.';
  await eventually(async () => {
    expect(await told('source')).toContain(`CannotPropagateObject: Could not write to destination namespace "full": ${why}`);
    expect(await told('full')).toContain(`CannotUpdateObject: Could not write from source namespace "source": ${why}`);
  });
  await quotas.delete('none');
  await eventually(async () => expect(await world.copies('m')).toEqual({ source: { a: '1' }, full: { a: '1' } }));
});
