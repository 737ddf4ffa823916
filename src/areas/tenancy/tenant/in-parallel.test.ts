import { expect, test } from 'vitest';
import { inParallel } from './in-parallel.ts';

test('inParallel does all of it, at most 32 at once, and lets others have their turn', async () => {
  let underWay = 0;
  let most = 0;
  let turns = 0;
  const done: number[] = [];
  const others = setImmediate(() => turns++);
  await inParallel(
    Array.from({ length: 2000 }, (_, index) => index),
    async (item) => {
      most = Math.max(most, ++underWay);
      await Promise.resolve();
      underWay--;
      done.push(item);
    },
  );
  clearImmediate(others);
  expect(done).toHaveLength(2000);
  expect(most).toBe(32);
  expect(turns).toBe(1);
});

test('inParallel ends with the first failure', async () => {
  let begun = 0;
  const work = async (): Promise<void> => {
    begun++;
    await Promise.resolve();
    throw new Error('refused');
  };
  await expect(inParallel(Array.from({ length: 1000 }), work)).rejects.toThrow('refused');
  expect(begun).toBeLessThan(100);
});
