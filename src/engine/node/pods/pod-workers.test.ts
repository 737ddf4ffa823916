import { describe, expect, test } from 'vitest';
import { createClient } from '../../../client/client.ts';
import { createInMemoryTransport } from '../../../client/in-memory/in-memory-transport.ts';
import { Pod } from '../../../client/kinds.ts';
import { settle } from '../../../lib/clock-fake.ts';
import { silentLog } from '../../../lib/log.ts';
import { Informer } from '../../../runtime/informer/informer.ts';
import { FakeApi } from '../../../../test/support/fake-api.ts';
import { runId } from './model/container-runs.ts';
import type { PodObject } from './model/pod-object.ts';
import { PodWorkers } from './pod-workers.ts';
import { aPod } from './testing/a-pod.ts';
import { ScriptedNode } from './testing/scripted-node.ts';

/** Workers on an API: everything below them does as a scripted node. */
async function aNode(
  before: (api: FakeApi, node: ScriptedNode) => Promise<void> | void = () => {},
  whileCleaning: (api: FakeApi) => void = () => {},
) {
  const node = new ScriptedNode(aPod());
  const api = new FakeApi();
  await before(api, node);
  const client = createClient(createInMemoryTransport(api.handler), { clock: node.clock });
  const stop = new AbortController();
  const pods = new Informer<PodObject>({ resource: client.resource(Pod), clock: node.clock, log: silentLog });
  void pods.run(stop.signal);
  const cleaned: string[][] = [];
  const workers = new PodWorkers({
    clock: node.clock,
    log: silentLog,
    pods,
    driver: node.driver,
    network: {
      cleanUp: async (live) => {
        if (cleaned.push([...live]) === 1) whileCleaning(api);
        await settle();
      },
    },
    volumes: { cleanUp: async () => {} },
    files: node.files,
    ports: {
      ...node.ports(),
      patchStatus: (pod, status) => client.resource(Pod, 'shop').status.patch(pod.metadata.name!, { type: 'merge', patch: { status } }),
      deletePod: async (pod) => api.remove('pods', 'shop', pod.metadata.name!),
    },
    signal: stop.signal,
  });
  await workers.start();
  await node.settle();
  return { node, api, workers, cleaned, close: () => stop.abort() };
}

const container = (uid: string, name = 'c') => ({
  id: runId(uid, name, 0),
  pod: { namespace: 'shop', name: 'web', uid },
  name,
  attempt: 0,
});

describe('PodWorkers', () => {
  test('run the Pods there are and those that come', async () => {
    const { node, api, workers, close } = await aNode((fresh) => void fresh.put(aPod({}, {}, { uid: 'u1', name: 'one' }), 'pods'));
    api.put(aPod({}, {}, { uid: 'u2', name: 'two' }), 'pods');
    await node.settle();
    await settle();
    expect([...workers.all()].map(({ uid }) => uid).sort()).toEqual(['u1', 'u2']);
    expect(node.driver.started).toEqual(['c.0', 'c.0']);
    expect(workers.find('shop', 'two')?.uid).toBe('u2');
    close();
  });

  test('forget a Pod when nothing of it is left', async () => {
    const { node, api, workers, close } = await aNode((fresh) => void fresh.put(aPod({}, {}, { uid: 'u1' }), 'pods'));
    api.remove('pods', 'shop', 'web');
    await node.settle();
    expect(node.driver.removed).toEqual(['c.0']);
    expect([...workers.all()]).toEqual([]);
    close();
  });

  test('tell a Pod from one of the same name', async () => {
    const { node, api, workers, close } = await aNode((fresh) => void fresh.put(aPod({}, {}, { uid: 'u1' }), 'pods'));
    api.remove('pods', 'shop', 'web');
    api.put(aPod({}, {}, { uid: 'u2' }), 'pods');
    await node.settle();
    expect(workers.find('shop', 'web')?.uid).toBe('u2');
    expect(node.driver.started).toEqual(['c.0', 'c.0']);
    close();
  });

  test('end what belongs to nobody any more, before anything starts', async () => {
    const { node, cleaned, close } = await aNode(async (fresh, scripted) => {
      fresh.put(aPod({}, {}, { uid: 'u1' }), 'pods');
      await scripted.driver.start({ ...container('gone'), image: { name: 'i' } } as never);
    });
    expect(node.driver.signals).toEqual([['c', 'SIGTERM']]);
    expect(node.driver.removed).toEqual(['c.0']);
    expect(cleaned).toEqual([['u1']]);
    close();
  });

  test('end what went while they were cleaning up', async () => {
    const { node, workers, close } = await aNode(
      async (fresh, scripted) => {
        fresh.put(aPod({}, {}, { uid: 'u1' }), 'pods');
        await scripted.driver.start({ ...container('u1'), image: { name: 'i' } } as never);
      },
      (api) => api.remove('pods', 'shop', 'web'),
    );
    await node.settle();
    expect(node.driver.signals).toEqual([['c', 'SIGTERM']]);
    expect(node.driver.removed).toEqual(['c.0']);
    expect([...workers.all()]).toEqual([]);
    close();
  });

  test('leave everything running when they let go', async () => {
    const { node, workers, close } = await aNode((fresh) => void fresh.put(aPod({}, {}, { uid: 'u1' }), 'pods'));
    workers.release();
    await node.advance(60_000);
    expect(node.driver.signals).toEqual([]);
    close();
  });

  test('leave nothing running when they shut down', async () => {
    const { node, workers, close } = await aNode((fresh) => {
      fresh.put(aPod({}, {}, { uid: 'u1', name: 'one' }), 'pods');
      fresh.put(aPod({}, {}, { uid: 'u2', name: 'two' }), 'pods');
    });
    await workers.shutDown();
    expect(node.driver.removed).toEqual(['c.0', 'c.0']);
    expect(node.driver.sandboxes.size).toBe(0);
    close();
  });
});
