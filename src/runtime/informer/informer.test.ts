import { expect, test } from 'vitest';
import { FakeApi } from '../../../test/support/fake-api.ts';
import { createClient } from '../../client/client.ts';
import { createInMemoryTransport } from '../../client/in-memory/in-memory-transport.ts';
import { ConfigMap } from '../../client/kinds.ts';
import type { KubeObject } from '../../kube/object.ts';
import { failure } from '../../kube/status.ts';
import { FakeClock } from '../../lib/clock-fake.ts';
import { silentLog } from '../../lib/log.ts';
import type { Informer } from './informer.ts';
import { SharedInformers } from './shared-informers.ts';

function setUp(
  streams: boolean,
  intercept: FakeApi['intercept'] = () => {},
): {
  api: FakeApi;
  clock: FakeClock;
  informers: SharedInformers;
  informer: Informer;
  seen: string[];
  put: (name: string, value: string) => void;
} {
  const api = new FakeApi();
  api.streams = streams;
  api.intercept = intercept;
  const clock = new FakeClock();
  const client = createClient(createInMemoryTransport(api.handler), { clock, random: () => 0 });
  const informers = new SharedInformers({ client, log: silentLog });
  const put = (name: string, value: string): void => {
    api.put({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name, namespace: 'x', uid: `uid-${name}` }, data: { value } }, 'configmaps');
  };
  put('a', '1');
  put('b', '1');
  const informer = informers.get(ConfigMap);
  const seen: string[] = [];
  informer.onChange((change) => {
    seen.push(`${change.type} ${change.object.metadata.name}=${change.object.data?.value}`);
  });
  return { api, clock, informers, informer, seen, put };
}

for (const streams of [true, false]) {
  const how = streams ? 'with initial events' : 'with a list';

  test(`informer reports the present state, then each change, ${how}`, async () => {
    const { api, clock, informer, seen, put } = setUp(streams);
    await clock.advance(0);
    expect(informer.synced).toBe(true);
    expect(seen).toEqual(['added a=1', 'added b=1']);
    put('a', '2');
    api.remove('configmaps', 'x', 'b');
    await clock.advance(0);
    expect(seen.slice(2)).toEqual(['modified a=2', 'deleted b=1']);
    expect(informer.get('x/a')?.data.value).toBe('2');
    expect(informer.find('x', 'b')).toBeUndefined();
  });

  test(`informer misses and repeats nothing when its connection breaks, ${how}`, async () => {
    const { api, clock, seen, put } = setUp(streams);
    await clock.advance(0);
    for (let round = 2; round < 20; round++) {
      put('a', String(round));
      api.disconnect();
      put('a', `${round}b`);
      await clock.advance(60_000);
    }
    const expected = Array.from({ length: 18 }, (_, i) => [`modified a=${i + 2}`, `modified a=${i + 2}b`]).flat();
    expect(seen.slice(2)).toEqual(expected);
    expect(api.watchCount).toBe(1);
  });

  test(`informer lists again when the history is gone, and reports the difference, ${how}`, async () => {
    const { api, clock, informer, seen, put } = setUp(streams);
    await clock.advance(0);
    api.disconnect();
    put('a', '2');
    api.remove('configmaps', 'x', 'b');
    put('c', '1');
    put('c', '2');
    api.expireHistory();
    await clock.advance(60_000);
    expect(seen.slice(2).sort()).toEqual(['added c=2', 'deleted b=1', 'modified a=2']);
    expect(informer.size).toBe(2);
  });

  test(`informer reports an object that was replaced unseen as deleted and added, ${how}`, async () => {
    const { api, clock, seen } = setUp(streams);
    await clock.advance(0);
    api.disconnect();
    api.remove('configmaps', 'x', 'a');
    api.put(
      { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a', namespace: 'x', uid: 'another' }, data: { value: '9' } },
      'configmaps',
    );
    api.expireHistory();
    await clock.advance(60_000);
    expect(seen.slice(2)).toEqual(['deleted a=1', 'added a=9']);
  });
}

test('informer keeps trying while it is refused, and syncs when it is let in', async () => {
  const { api, clock, informer } = setUp(true, () => {
    throw failure('Forbidden', 'not yet');
  });
  await clock.advance(10_000);
  expect(informer.synced).toBe(false);
  api.intercept = () => {};
  await clock.advance(60_000);
  await informer.whenSynced();
  expect(informer.size).toBe(2);
});

test('objects are frozen, indexes follow changes, and a late handler is told what is there', async () => {
  const { clock, informer, put } = setUp(true);
  informer.addIndex('value', (object) => [object.data.value]);
  await clock.advance(0);
  expect(() => ((informer.get('x/a') as KubeObject).data.value = 'changed')).toThrow(TypeError);
  expect(informer.byIndex('value', '1')).toHaveLength(2);
  put('a', '2');
  await clock.advance(0);
  expect(informer.byIndex('value', '1').map((object) => object.metadata.name)).toEqual(['b']);
  expect(() => informer.byIndex('other', '')).toThrow('Cannot look up index "other"');
  const late: string[] = [];
  const stop = informer.onChange((change) => late.push(change.type));
  stop();
  put('a', '3');
  await clock.advance(0);
  expect(late).toEqual(['added', 'added']);
});

test('SharedInformers give one informer per resource and selection, and stop ends their watches', async () => {
  const { api, clock, informers, informer } = setUp(true);
  await clock.advance(0);
  expect(informers.get(ConfigMap)).toBe(informer);
  expect(informers.get(ConfigMap, { namespace: 'x' })).not.toBe(informer);
  await informers.whenSynced();
  expect(api.watchCount).toBe(2);
  informers.release(ConfigMap, { namespace: 'x' });
  await clock.advance(0);
  expect(api.watchCount).toBe(1);
  await informers.stop();
  expect(api.watchCount).toBe(0);
});

for (const streams of [true, false]) {
  const how = streams ? 'with initial events' : 'with a list';

  test(`informer keeps no more than its ceiling, says so, and everything when there is room again, ${how}`, async () => {
    const { api, clock, informers, put } = setUp(streams);
    const told: boolean[] = [];
    for (const name of ['c', 'd', 'e', 'f']) put(name, '1');
    const held: Informer<NonNullable<(typeof ConfigMap)['objectType']>> = informers.get(ConfigMap, {
      namespace: 'x',
      transform: (map) => (map.data?.value === 'no' ? undefined : map),
      ceiling: { weight: 4, onChange: () => told.push(held.isCut) },
    });
    const names = (): string => [...held.list()].map(({ metadata }) => metadata.name).join('');
    await clock.advance(0);
    expect(names()).toBe('abcd');
    put('g', '1');
    api.remove('configmaps', 'x', 'f');
    put('a', '2');
    await clock.advance(0);
    expect([names(), held.get('x/a')?.data?.value, told]).toEqual(['abcd', '2', [true]]);
    api.remove('configmaps', 'x', 'b');
    put('c', 'no');
    await clock.advance(60_000);
    expect([names().split('').sort().join(''), told]).toEqual(['adeg', [true, false]]);
    expect(held.isCut).toBe(false);
    await informers.stop();
  });
}

test('informer drops an object that has grown beyond its ceiling', async () => {
  const { clock, informers, put } = setUp(true);
  const held = informers.get(ConfigMap, { namespace: 'x', ceiling: { weight: 4, weigh: ({ data }) => Number(data?.value) } });
  const deleted: string[] = [];
  held.onChange(({ type, object }) => void (type === 'deleted' && deleted.push(object.metadata.name!)));
  await clock.advance(0);
  put('a', '4');
  await clock.advance(0);
  expect([deleted, held.isCut, held.size]).toEqual([['a'], true, 1]);
  await informers.stop();
});

test('informer goes on without an object that its transform cannot take', async () => {
  const { clock, informers, put } = setUp(true);
  const held = informers.get(ConfigMap, {
    namespace: 'x',
    transform: (map) => {
      if (map.data?.value === 'odd') throw new Error('odd');
      return map;
    },
  });
  await clock.advance(0);
  put('a', 'odd');
  put('c', '1');
  await clock.advance(0);
  expect([held.get('x/a'), held.get('x/c')?.data?.value]).toEqual([undefined, '1']);
  await informers.stop();
});
