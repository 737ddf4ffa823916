import { expect, test } from 'vitest';
import { FakeClock } from './clock-fake.ts';

test('FakeClock fires timers in the order of their due times, and at them', async () => {
  const clock = new FakeClock(0);
  const fired: string[] = [];
  clock.setTimer(20, () => fired.push(`b@${clock.now()}`));
  clock.setTimer(10, () => {
    fired.push(`a@${clock.now()}`);
    clock.setTimer(5, () => fired.push(`nested@${clock.now()}`));
  });
  await clock.advance(19);
  expect(fired).toEqual(['a@10', 'nested@15']);
  await clock.advance(1);
  expect(fired).toEqual(['a@10', 'nested@15', 'b@20']);
  expect(clock.monotonic()).toBe(20);
});

test('FakeClock does not fire a timer that was cancelled', async () => {
  const clock = new FakeClock();
  let fired = false;
  const timer = clock.setTimer(1, () => (fired = true));
  timer.cancel();
  await clock.advance(10);
  expect(fired).toBe(false);
  expect(clock.pendingTimers).toBe(0);
});
