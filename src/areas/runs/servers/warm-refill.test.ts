import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { WarmRefill } from './warm-refill.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

function pool(wanted: number) {
  let waiting = 0;
  const refill = new WarmRefill(
    wanted,
    () => waiting,
    () => (waiting++, true),
  );
  const take = () => {
    waiting--;
    refill.taken();
  };
  return { refill, take, count: () => waiting };
}

describe('WarmRefill', () => {
  it('starts all of them one after the other', () => {
    const { refill, count } = pool(3);
    refill.fill();
    expect(count()).toBe(1);
    vi.runAllTimers();
    expect(count()).toBe(3);
  });

  it('lets a Run end first while half of them wait', () => {
    const { refill, take, count } = pool(4);
    refill.fill();
    vi.runAllTimers();
    take();
    vi.advanceTimersByTime(19);
    expect(count()).toBe(3);
    vi.advanceTimersByTime(2);
    expect(count()).toBe(4);
  });

  it.each([1, 4])('does not let the next Run find none of %i', (wanted) => {
    const { refill, take, count } = pool(wanted);
    refill.fill();
    vi.runAllTimers();
    while (count() * 2 >= wanted) take();
    for (let i = 0; i < wanted; i++) vi.advanceTimersByTime(1);
    expect(count()).toBe(wanted);
  });

  it('gives up when one cannot be started, until the next is taken', () => {
    const startOne = vi.fn(() => false);
    const refill = new WarmRefill(2, () => 0, startOne);
    refill.fill();
    vi.runAllTimers();
    expect(startOne).toHaveBeenCalledTimes(1);
    refill.taken();
    vi.runAllTimers();
    expect(startOne).toHaveBeenCalledTimes(2);
  });

  it('starts none after it was closed', () => {
    const { refill, take, count } = pool(4);
    refill.fill();
    vi.runAllTimers();
    take();
    refill.close();
    vi.runAllTimers();
    expect(count()).toBe(3);
  });
});
