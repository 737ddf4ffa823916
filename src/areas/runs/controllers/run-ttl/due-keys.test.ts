import { describe, expect, it } from 'vitest';
import { FakeClock } from '../../../../lib/clock-fake.ts';
import { DueKeys } from './due-keys.ts';

describe('DueKeys', () => {
  it('tells keys in the order of their times, with one timer', async () => {
    const clock = new FakeClock();
    const told: string[] = [];
    const keys = new DueKeys(clock, (key) => told.push(`${key}@${clock.monotonic()}`));
    const start = clock.now();
    keys.put('late', start + 9000);
    keys.put('early', start + 1000);
    keys.put('middle', start + 5000);
    expect(clock.pendingTimers).toBe(1);
    await clock.advance(6000);
    keys.put('past', start);
    await clock.advance(10_000);
    expect(told).toEqual(['early@1000', 'middle@5000', 'past@6000', 'late@9000']);
    expect(clock.pendingTimers).toBe(0);
  });

  it('waits for a time that no timer can wait for at once', async () => {
    const clock = new FakeClock();
    const told: string[] = [];
    const keys = new DueKeys(clock, (key) => told.push(key));
    keys.put('far', clock.now() + 3 * 600_000 + 1);
    await clock.advance(3 * 600_000);
    expect(told).toEqual([]);
    await clock.advance(1);
    expect(told).toEqual(['far']);
  });
});
