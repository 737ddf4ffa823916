import { expect, test } from 'vitest';
import type { ResourceClient } from '../../client/resource-client.ts';
import type { WatchUpdate } from '../../client/watch.ts';
import type { KubeObject } from '../../kube/object.ts';
import { FakeClock } from '../../lib/clock-fake.ts';
import { silentLog } from '../../lib/log.ts';
import { Reflector } from './reflector.ts';

function named(name: string): KubeObject {
  return { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name, resourceVersion: '1' } };
}

/** Reflects a resource whose watches give these updates, one array per connection, and then stay open. */
function reflect(clock: FakeClock, connections: WatchUpdate[][]) {
  const told: string[] = [];
  const stop = new AbortController();
  let opened = 0;
  const resource = {
    kind: { plural: 'configmaps', group: '' },
    async *watch() {
      yield* connections[Math.min(opened++, connections.length - 1)];
      if (opened >= connections.length && connections.at(-1)!.at(-1)?.type !== 'EXPIRED') await new Promise(() => {});
    },
  } as unknown as ResourceClient;
  void new Reflector(
    { resource, clock, log: silentLog },
    {
      listBegins: () => told.push('begins'),
      listed: (object) => told.push(`listed ${object.metadata.name}`),
      unlisted: (object) => told.push(`unlisted ${object.metadata.name}`),
      listEnds: () => void told.push('ends'),
      changed: (type, object) => told.push(`${type} ${object.metadata.name}`),
    },
  ).run(stop.signal);
  return { told, stop: () => stop.abort(), connections: () => opened };
}

test('an object, is not part of the state, when it is deleted before the initial events are complete', async () => {
  const clock = new FakeClock();
  const { told, stop } = reflect(clock, [
    [
      { type: 'ADDED', object: named('a') },
      { type: 'ADDED', object: named('b') },
      { type: 'DELETED', object: named('a') },
      { type: 'SYNCED', resourceVersion: '5' },
      { type: 'DELETED', object: named('b') },
    ],
  ]);
  await clock.advance(0);
  expect(told).toEqual(['begins', 'listed a', 'listed b', 'unlisted a', 'ends', 'DELETED b']);
  stop();
});

test('a server that cannot be reached, is asked again with growing pauses, not at once', async () => {
  const clock = new FakeClock();
  const { stop, connections } = reflect(clock, [[{ type: 'EXPIRED' }]]);
  await clock.advance(0);
  expect(connections()).toBe(1);
  await clock.advance(60_000);
  expect(connections()).toBeGreaterThan(3);
  expect(connections()).toBeLessThan(20);
  stop();
});
