import { describe, expect, it, vi } from 'vitest';
import { FakeClock, settle } from '../../../lib/clock-fake.ts';
import { WarmPool } from './warm-pool.ts';

async function filled(wanted: number) {
  const clock = new FakeClock();
  let started = 0;
  const start = vi.fn((): number | undefined => started++);
  const pool = new WarmPool({ wanted, start, clock });
  pool.fill();
  await settle();
  return { pool, clock, start };
}

describe('WarmPool', () => {
  it('starts all of them, one in a turn', async () => {
    const pool = new WarmPool({ wanted: 3, start: () => ({}), clock: new FakeClock() });
    pool.fill();
    pool.fill();
    expect(pool.size).toBe(1);
    await settle(1);
    expect(pool.size).toBe(2);
    await settle();
    expect(pool.size).toBe(3);
  });

  it('waits for 20 ms after the first was taken while half of them wait', async () => {
    const { pool, clock } = await filled(4);
    pool.take();
    await clock.advance(10);
    pool.take();
    await clock.advance(9);
    expect(pool.size).toBe(2);
    await clock.advance(1);
    expect(pool.size).toBe(4);
    expect(clock.pendingTimers).toBe(0);
  });

  it.each([1, 4])('does not let the next Run find none of %i', async (wanted) => {
    const { pool } = await filled(wanted);
    while (pool.size * 2 >= wanted) pool.take();
    await settle();
    expect(pool.size).toBe(wanted);
  });

  it('starts one in a turn, however many were taken in one', async () => {
    const { pool, clock } = await filled(4);
    for (let i = 0; i < 4; i++) expect(pool.take()).toBe(i);
    await settle(1);
    expect(pool.size).toBe(1);
    await settle(1);
    expect(pool.size).toBe(2);
    await settle();
    expect(pool.size).toBe(4);
    expect(clock.pendingTimers).toBe(0);
  });

  it('starts none when none was taken and others wait', async () => {
    const { pool, clock, start } = await filled(2);
    pool.remove(0);
    expect(pool.take(() => false)).toBeUndefined();
    await clock.advance(1000);
    expect(start).toHaveBeenCalledTimes(2);
    expect(clock.pendingTimers).toBe(0);
  });

  it('starts all again when a Run finds none', async () => {
    const { pool } = await filled(2);
    expect([pool.remove(0), pool.remove(1), pool.remove(1)]).toEqual([true, true, false]);
    await settle();
    expect(pool.size).toBe(0);
    expect(pool.take()).toBeUndefined();
    await settle();
    expect(pool.size).toBe(2);
  });

  it('gives up when one cannot be started, until the next is wanted', async () => {
    const { pool, start } = await filled(1);
    start.mockReturnValue(undefined);
    expect(pool.take()).toBe(0);
    await settle();
    expect(start).toHaveBeenCalledTimes(2);
    expect(pool.take()).toBeUndefined();
    await settle();
    expect(start).toHaveBeenCalledTimes(3);
  });

  it.each([1, 3])('starts none after it was closed with %i taken', async (taken) => {
    const { pool, clock, start } = await filled(4);
    for (let i = 0; i < taken; i++) pool.take();
    expect(pool.close()).toEqual([0, 1, 2, 3].slice(taken));
    await clock.advance(1000);
    expect(start).toHaveBeenCalledTimes(4);
  });
});
