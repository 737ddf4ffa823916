import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { FakeClock } from '../lib/clock-fake.ts';
import { WorkQueue, type KeyShare } from './work-queue.ts';

function makeQueue(share?: KeyShare): { queue: WorkQueue; clock: FakeClock } {
  const clock = new FakeClock(0);
  return { clock, queue: new WorkQueue({ clock, backoff: { initialMs: 10, maxMs: 100, jitter: 0 }, share }) };
}

test('a key that waits is not added twice', async () => {
  const { queue } = makeQueue();
  queue.add('a');
  queue.add('b');
  queue.add('a');
  expect(queue.length).toBe(2);
  expect(await queue.get()).toBe('a');
  expect(await queue.get()).toBe('b');
});

test('a key added during its work comes again after done, once', async () => {
  const { queue } = makeQueue();
  queue.add('a');
  await queue.get();
  queue.add('a');
  queue.add('a');
  expect(queue.length).toBe(0);
  queue.done('a');
  expect(queue.length).toBe(1);
  await queue.get();
  queue.done('a');
  expect(queue.idle).toBe(true);
});

test('a taker that waits gets the next key at once', async () => {
  const { queue } = makeQueue();
  const taking = queue.get();
  queue.add('a');
  expect(await taking).toBe('a');
  expect(queue.inProgress).toBe(1);
});

test('of several delays of a key the earliest counts', async () => {
  const { queue, clock } = makeQueue();
  queue.addAfter('a', 100);
  queue.addAfter('a', 50);
  queue.addAfter('a', 200);
  await clock.advance(49);
  expect(queue.length).toBe(0);
  await clock.advance(1);
  expect(queue.length).toBe(1);
  await clock.advance(500);
  expect(queue.length).toBe(1);
});

test('a key that fails waits longer each time, until it is forgotten', () => {
  const { queue } = makeQueue();
  expect([1, 2, 3, 4, 5].map(() => queue.addRateLimited('a'))).toEqual([10, 20, 40, 80, 100]);
  expect(queue.failures('a')).toBe(5);
  queue.forget('a');
  expect(queue.addRateLimited('a')).toBe(10);
});

test('close gives out what waits, then ends all takers; closeNow drops it', async () => {
  const { queue, clock } = makeQueue();
  queue.add('a');
  queue.addAfter('late', 10);
  queue.close();
  queue.add('b');
  expect(await queue.get()).toBe('a');
  expect(await queue.get()).toBeUndefined();
  expect(clock.pendingTimers).toBe(0);

  const other = makeQueue().queue;
  const waiting = other.get();
  other.closeNow();
  expect(await waiting).toBeUndefined();
});

const twoOfATenant: KeyShare = { groupOf: (key) => key.split('/')[0], atOnce: 2 };

test('of one group no more are given out than its share, and others go before those', async () => {
  const { queue } = makeQueue(twoOfATenant);
  for (const key of ['a/1', 'a/2', 'a/3', 'a/4', 'b/1']) queue.add(key);
  expect([await queue.get(), await queue.get(), await queue.get()]).toEqual(['a/1', 'a/2', 'b/1']);
  expect(queue.length).toBe(2);
  const next = queue.get();
  queue.done('b/1');
  queue.add('a/1');
  queue.done('a/1');
  expect(await next).toBe('a/3');
  const further = queue.get();
  queue.done('a/2');
  expect(await further).toBe('a/4');
  queue.done('a/3');
  expect(await queue.get()).toBe('a/1');
  for (const key of ['a/4', 'a/1']) queue.done(key);
  expect(queue.idle).toBe(true);
});

test('closeNow also drops what waits for others of its group', async () => {
  const { queue } = makeQueue(twoOfATenant);
  for (const key of ['a/1', 'a/2', 'a/3']) queue.add(key);
  await queue.get();
  await queue.get();
  const third = queue.get();
  queue.closeNow();
  expect(await third).toBeUndefined();
  queue.done('a/1');
  expect(await queue.get()).toBeUndefined();
});

describe('for any order of adds, takes and dones', () => {
  type Step = { type: 'add' | 'addAfter'; key: string } | { type: 'take' } | { type: 'done'; pick: number } | { type: 'wait' };
  const key = fc.constantFrom('a', 'b', 'c', 'd');
  const step: fc.Arbitrary<Step> = fc.oneof(
    fc.record({ type: fc.constantFrom('add' as const, 'addAfter' as const), key }),
    fc.constant<Step>({ type: 'take' }),
    fc.record({ type: fc.constant('done' as const), pick: fc.nat() }),
    fc.constant<Step>({ type: 'wait' }),
  );

  test('no key is held by two workers, and every add is followed by a take that begins after it', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 60 }), async (steps) => {
        const { queue, clock } = makeQueue();
        const held: string[] = [];
        const owed = new Set<string>();
        const take = async (): Promise<void> => {
          const taken = (await queue.get())!;
          expect(held).not.toContain(taken);
          held.push(taken);
          owed.delete(taken);
        };
        for (const one of steps) {
          if (one.type === 'add' || one.type === 'addAfter') {
            if (one.type === 'add') queue.add(one.key);
            else queue.addAfter(one.key, 10);
            owed.add(one.key);
          } else if (one.type === 'take' && queue.length > 0) await take();
          else if (one.type === 'done' && held.length > 0) queue.done(held.splice(one.pick % held.length, 1)[0]);
          else if (one.type === 'wait') await clock.advance(10);
        }
        await clock.advance(100);
        for (;;) {
          for (const one of held.splice(0)) queue.done(one);
          if (queue.length === 0) break;
          await take();
        }
        expect([...owed]).toEqual([]);
        expect(queue.idle).toBe(true);
      }),
      { numRuns: 200 },
    );
  });

  test('with groups, no more of one are held than its share, and nothing waits while there is room for it', async () => {
    const groupOf = (name: string) => (name < 'c' ? 'first' : 'last');
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 60 }), async (steps) => {
        const { queue, clock } = makeQueue({ groupOf, atOnce: 1 });
        const held: string[] = [];
        const owed = new Set<string>();
        let idleTakers = 0;
        const take = (): void => {
          idleTakers++;
          void queue.get().then((taken) => {
            idleTakers--;
            held.push(taken!);
            owed.delete(taken!);
          });
        };
        const settle = async (): Promise<void> => {
          await clock.advance(0);
          const groups = held.map(groupOf);
          expect(new Set(groups).size).toBe(groups.length);
          const canBegin = [...owed].filter((name) => !groups.includes(groupOf(name)));
          if (idleTakers > 0) expect(canBegin).toEqual([]);
        };
        for (const one of steps) {
          if (one.type === 'add') {
            queue.add(one.key);
            owed.add(one.key);
          } else if (one.type === 'take') take();
          else if (one.type === 'done' && held.length > 0) queue.done(held.splice(one.pick % held.length, 1)[0]);
          await settle();
        }
        for (let round = 0; round < 10; round++) {
          for (let more = 4 - idleTakers; more > 0; more--) take();
          await settle();
          for (const one of held.splice(0)) queue.done(one);
        }
        expect([...owed]).toEqual([]);
        expect(queue.idle).toBe(true);
      }),
      { numRuns: 100 },
    );
  });
});
