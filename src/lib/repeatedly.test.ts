import { expect, it } from 'vitest';
import { FakeClock } from './clock-fake.ts';
import { repeatedly } from './repeatedly.ts';

const turn = () => new Promise((resolve) => setImmediate(resolve));

it('work that is repeated goes on when it fails, rests after each end, and ends when it is cancelled', async () => {
  const clock = new FakeClock();
  const ends: (() => void)[] = [];
  const timer = repeatedly(clock, 100, () => new Promise((_, reject) => void ends.push(() => reject(new Error('no')))));
  await clock.advance(100);
  await clock.advance(500);
  expect(ends).toHaveLength(1);
  ends[0]();
  await turn();
  await clock.advance(99);
  expect(ends).toHaveLength(1);
  await clock.advance(1);
  expect(ends).toHaveLength(2);
  timer.cancel();
  ends[1]();
  await turn();
  await clock.advance(1000);
  expect(ends).toHaveLength(2);
});
