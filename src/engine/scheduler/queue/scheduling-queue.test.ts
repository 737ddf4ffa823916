import { expect, test } from 'vitest';
import { FakeClock } from '../../../lib/clock-fake.ts';
import { aPod, type PodBuilder } from '../testing/builders.ts';
import type { ClassFailure } from './pod-class.ts';
import { SchedulingQueue } from './scheduling-queue.ts';

const FULL: ClassFailure = { text: 'full', filters: new Set(['NodeResourcesFit'] as const) };

function setUp(...pods: PodBuilder[]): { queue: SchedulingQueue; clock: FakeClock; next: () => string | undefined } {
  const clock = new FakeClock();
  const queue = new SchedulingQueue(clock);
  for (const pod of pods) queue.add(pod.info());
  /** Takes the next one, as if it found a node. */
  const next = (): string | undefined => {
    const pod = queue.pop();
    if (pod) queue.done(pod);
    return pod?.info.pod.metadata.name;
  };
  return { queue, clock, next };
}

test('Pods come by priority, then by arrival, whatever their class', () => {
  const { next } = setUp(
    aPod('a').requesting({ cpu: '1' }),
    aPod('b').requesting({ cpu: '2' }),
    aPod('c').requesting({ cpu: '1' }),
    aPod('d').ofPriority(9),
    aPod('e').requesting({ cpu: '2' }),
  );
  expect([next(), next(), next(), next(), next(), next()]).toEqual(['d', 'a', 'b', 'c', 'e', undefined]);
});

test('a class that was refused sleeps as a whole, newcomers included, until something may help it', () => {
  const { queue, next } = setUp(aPod('a'), aPod('b'), aPod('other').requesting({ cpu: '1' }));
  const first = queue.pop()!;
  expect(
    queue
      .sleep(first, FULL)
      .map(({ info }) => info.key)
      .sort(),
  ).toEqual(['default/a', 'default/b']);
  expect(queue.add(aPod('c').info())).toBe(FULL);
  expect(queue.counts()).toEqual({ active: 1, asleep: 3, retrying: 0 });
  expect([next(), next()]).toEqual(['other', undefined]);
  queue.wake(({ filters }) => filters.has('NodePorts'));
  expect(next()).toBeUndefined();
  queue.wake(({ filters }) => filters.has('NodeResourcesFit'));
  expect([next(), next(), next(), next()]).toEqual(['a', 'b', 'c', undefined]);
});

test('what happens while a Pod is being tried is not overlooked', () => {
  const { queue, next } = setUp(aPod('a'));
  const pod = queue.pop()!;
  queue.wake(() => true);
  queue.sleep(pod, FULL);
  expect(next()).toBe('a');
});

test('a class that just failed lets others go first, and is tried when nobody else is there', async () => {
  const { queue, clock, next } = setUp(aPod('failed'));
  queue.sleep(queue.pop()!, FULL);
  queue.wake(() => true);
  queue.add(aPod('fresh').requesting({ cpu: '1' }).info());
  expect([next(), next()]).toEqual(['fresh', 'failed']);
  queue.add(aPod('failed').info());
  queue.sleep(queue.pop()!, FULL);
  await clock.advance(1000);
  queue.wake(() => true);
  queue.add(aPod('later').requesting({ cpu: '1' }).info());
  expect([next(), next()]).toEqual(['failed', 'later']);
});

test('Pods that go are not given out', () => {
  const { queue, next } = setUp(aPod('a'), aPod('b'));
  queue.remove('default/a');
  expect([next(), next()]).toEqual(['b', undefined]);
});

test('a Pod that changes keeps its place, in its new class', () => {
  const { queue, next } = setUp(aPod('a'), aPod('b').requesting({ cpu: '1' }));
  queue.sleep(queue.pop()!, FULL);
  queue.add(aPod('a').tolerating({ operator: 'Exists' }).info());
  expect([next(), next()]).toEqual(['a', 'b']);
});

test('a Pod whose binding failed comes again after a while, longer each time', async () => {
  const { queue, clock, next } = setUp(aPod('a'));
  const pod = queue.pop()!;
  queue.done(pod);
  queue.retry(pod);
  expect(queue.counts().retrying).toBe(1);
  await clock.advance(999);
  expect(next()).toBeUndefined();
  await clock.advance(1);
  queue.done(queue.pop()!);
  queue.retry(pod);
  await clock.advance(1999);
  expect(next()).toBeUndefined();
  await clock.advance(1);
  expect(next()).toBe('a');
});

test('a Pod that was promised a node waits alone, and its class goes on', () => {
  const { queue, next } = setUp(aPod('a'), aPod('b'));
  const pod = queue.pop()!;
  queue.promise(pod, aPod('a').withStatus({ nominatedNodeName: 'n' }).info(), FULL);
  expect([next(), next()]).toEqual(['b', undefined]);
  queue.wake(() => true);
  expect(next()).toBe('a');
});

test('whenReady resolves when somebody comes, and when the queue is closed', async () => {
  const { queue } = setUp();
  let ready = 0;
  void queue.whenReady().then(() => ready++);
  await Promise.resolve();
  expect(ready).toBe(0);
  queue.add(aPod().info());
  await Promise.resolve();
  expect(ready).toBe(1);
  queue.pop();
  const closed = queue.whenReady();
  queue.close();
  await closed;
});
