import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { Backoff, backoffDelay, seededRandom } from './backoff.ts';
import { generateName, randomSuffix } from './ids.ts';

test('Backoff doubles up to its maximum and starts over after reset', () => {
  const backoff = new Backoff({ initialMs: 10, maxMs: 60, jitter: 0 });
  expect([1, 2, 3, 4, 5].map(() => backoff.next())).toEqual([10, 20, 40, 60, 60]);
  backoff.reset();
  expect(backoff.next()).toBe(10);
});

test('backoffDelay stays between the unjittered wait less its jitter and that wait, for any failure count', () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 5000 }), fc.integer(), (failures, seed) => {
      const delay = backoffDelay(failures, { initialMs: 5, maxMs: 1000, jitter: 0.5, random: seededRandom(seed) });
      const full = Math.min(1000, 5 * 2 ** Math.min(failures - 1, 64));
      return delay <= full && delay >= full / 2;
    }),
  );
});

test('seededRandom repeats its sequence for the same seed', () => {
  const draw = (seed: number): number[] => Array.from({ length: 5 }, seededRandom(seed));
  expect(draw(7)).toEqual(draw(7));
  expect(draw(7)).not.toEqual(draw(8));
});

test('generateName keeps to 63 characters of the safe alphabet', () => {
  expect(generateName('web-', seededRandom(1))).toMatch(/^web-[bcdfghjklmnpqrstvwxz2456789]{5}$/);
  expect(generateName('x'.repeat(80))).toHaveLength(63);
  expect(randomSuffix(10)).toMatch(/^[bcdfghjklmnpqrstvwxz2456789]{10}$/);
});
