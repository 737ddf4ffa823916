import { expect, test } from 'vitest';
import { FakeApi } from '../../../test/support/fake-api.ts';
import { createClient } from '../../client/client.ts';
import { createInMemoryTransport } from '../../client/in-memory/in-memory-transport.ts';
import type { KubeObject } from '../../kube/object.ts';
import { FakeClock } from '../../lib/clock-fake.ts';
import { silentLog } from '../../lib/log.ts';
import type { EventRecorder } from '../../runtime/event-recorder.ts';
import { SchedulingQueue } from './queue/scheduling-queue.ts';
import { StatusWriter } from './status-writer.ts';
import { aPod } from './testing/builders.ts';

function setUp() {
  const api = new FakeApi();
  const clock = new FakeClock();
  const writes: string[] = [];
  api.intercept = (request) => {
    if (request.method === 'PATCH') writes.push(request.path.split('/').at(-2)!);
  };
  const client = createClient(createInMemoryTransport(api.handler), { clock });
  const events: KubeObject[] = [];
  const recorder = { record: (object: KubeObject) => void events.push(object) } as unknown as EventRecorder;
  return {
    clock,
    writes,
    events,
    writer: new StatusWriter({ client, clock, log: silentLog, events: recorder }),
    queue: new SchedulingQueue(clock),
  };
}

const told = { conditions: [{ type: 'PodScheduled', status: 'False' as const, reason: 'Unschedulable', message: 'before' }] };

test('of several news about a Pod the last is told, and nothing to a Pod that no longer waits', async () => {
  const { clock, writes, events, writer } = setUp();
  // Four are under way at once; these wait behind them.
  for (const name of ['a', 'b', 'c', 'd']) writer.tell({ info: aPod(name).info(), reason: 'Unschedulable', message: 'm' }, true);
  writer.tell({ info: aPod('e').info(), reason: 'Unschedulable', message: 'old' }, true);
  writer.tell({ info: aPod('e').info(), reason: 'Unschedulable', message: 'new' }, true);
  writer.tell({ info: aPod('f').info(), reason: 'Unschedulable', message: 'm' }, true);
  writer.forget('default/f');
  await clock.advance(0);
  expect(writes.sort()).toEqual(['a', 'b', 'c', 'd', 'e']);
  expect(events).toHaveLength(5);
});

test('Pods that share the lot of another are all told at first, and slowly when they were told before', async () => {
  const { clock, writes, writer, queue } = setUp();
  for (let i = 0; i < 120; i++) queue.add(aPod(`new${i}`).info());
  for (let i = 0; i < 120; i++) queue.add(aPod(`old${i}`).withStatus(told).info());
  writer.tellAll(queue.sleep(queue.pop()!, { text: 'full', filters: new Set() }), 'full');
  for (let i = 0; i < 40; i++) await clock.advance(0);
  const quick = writes.filter((name) => name.startsWith('new')).length;
  expect(quick).toBe(120);
  const before = writes.length;
  await clock.advance(1000);
  expect(writes.length - before).toBeGreaterThan(10);
  expect(writes.length - before).toBeLessThanOrEqual(50);
  await clock.advance(10_000);
  expect(writes.length).toBe(240);
});

test('news that no longer hold are not told', async () => {
  const { clock, writes, writer, queue } = setUp();
  for (let i = 0; i < 10; i++) queue.add(aPod(`p${i}`).info());
  const members = queue.sleep(queue.pop()!, { text: 'full', filters: new Set() });
  queue.wake(() => true);
  writer.tellAll(members, 'full');
  await clock.advance(0);
  expect(writes).toEqual([]);
});
