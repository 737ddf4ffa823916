import { expect, test } from 'vitest';
import { slowStart } from './slow-start.ts';

test.each<[string, number, number, number[], boolean]>([
  ['all succeed', 8, -1, [1, 2, 4, 1], false],
  ['the first fails', 8, 0, [1], true],
  ['one of the third batch fails', 20, 4, [1, 2, 4], true],
  ['nothing is asked', 0, -1, [], false],
])('slowStart doubles its batches and stops after a failure: %s', async (_name, count, failing, batches, fails) => {
  const seen: number[] = [];
  let batch = 0;
  const failure = await slowStart(count, async (index) => {
    if (batch++ === 0) void Promise.resolve().then(() => void (seen.push(batch), (batch = 0)));
    await Promise.resolve();
    if (index === failing) throw new Error('no');
  });
  expect(seen).toEqual(batches);
  expect(failure !== undefined).toBe(fails);
});
