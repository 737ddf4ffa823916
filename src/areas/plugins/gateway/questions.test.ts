import { expect, test } from 'vitest';
import { Questions } from './questions.ts';

test('so many are asked at once, so many wait, and the rest is told', async () => {
  const questions = new Questions();
  const open: (() => void)[] = [];
  let most = 0;
  const ask = () =>
    questions.ask(async () => {
      await new Promise<void>((resolve) => {
        open.push(resolve);
        most = Math.max(most, open.length);
      });
    });
  const all = Array.from({ length: 16 + 256 }, ask);
  await expect(ask()).rejects.toThrow('too many callers');
  for (let i = 0; i < all.length; i++) {
    open.shift()!();
    await all[i];
  }
  expect(most).toBe(16);
  const again = ask();
  open.shift()!();
  await again;
});

test('a question that fails gives its place to the next', async () => {
  const questions = new Questions();
  const failing = Array.from({ length: 40 }, () => questions.ask(() => Promise.reject(new Error('down'))));
  expect((await Promise.allSettled(failing)).every(({ status }) => status === 'rejected')).toBe(true);
  expect(await questions.ask(() => Promise.resolve(1))).toBe(1);
});
