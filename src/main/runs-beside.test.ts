import { expect, it } from 'vitest';
import { FakeClock } from '../lib/clock-fake.ts';
import { silentLog } from '../lib/log.ts';
import { startedOnce } from './runs-beside.ts';

function aStart(failures: number) {
  const clock = new FakeClock();
  const seen = { starts: 0, stops: 0 };
  const start = () => {
    if (seen.starts++ < failures) return Promise.reject(new Error('no answer'));
    return Promise.resolve({ stop: () => Promise.resolve(void seen.stops++) });
  };
  return { clock, seen, runs: startedOnce(start, clock, silentLog) };
}

it('startedOnce tries again by itself what could not be started, until it is, and no more', async () => {
  const { clock, seen, runs } = aStart(2);
  runs.begin();
  await clock.advance(0);
  runs.begin();
  expect(seen.starts).toBe(1);
  await clock.advance(10_000);
  expect(seen.starts).toBe(3);
  runs.begin();
  await clock.advance(600_000);
  expect(seen.starts).toBe(3);
  await runs.stop();
  expect(seen.stops).toBe(1);
});

it('startedOnce starts nothing after it was stopped, also what could not be started before', async () => {
  const { clock, seen, runs } = aStart(100);
  runs.begin();
  await clock.advance(0);
  await runs.stop();
  runs.begin();
  await clock.advance(600_000);
  expect(seen).toEqual({ starts: 1, stops: 0 });
  expect(clock.pendingTimers).toBe(0);
});
