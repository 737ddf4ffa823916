import { describe, expect, test } from 'vitest';
import { BackOff, durationText, RESTART_BACK_OFF } from './back-off.ts';

describe('BackOff', () => {
  test('does not hold back what never failed', () => {
    expect(new BackOff(RESTART_BACK_OFF).left('c', 0, 0)).toBe(0);
  });

  test('doubles from 10 seconds to 5 minutes', () => {
    const backOff = new BackOff(RESTART_BACK_OFF);
    const waits: number[] = [];
    for (let now = 0, failure = 0; failure < 8; failure++) {
      backOff.advance('c', now, now);
      waits.push(backOff.waitMs('c') / 1000);
      expect(backOff.left('c', now, now)).toBe(backOff.waitMs('c'));
      now += backOff.waitMs('c');
    }
    expect(waits).toEqual([10, 20, 40, 80, 160, 300, 300, 300]);
  });

  test('counts from the failure, not from the last look', () => {
    const backOff = new BackOff(RESTART_BACK_OFF);
    backOff.advance('c', 0, 0);
    expect(backOff.left('c', 60_000, 64_000)).toBe(6000);
    expect(backOff.left('c', 60_000, 70_000)).toBe(0);
  });

  test('forgets after ten minutes without trouble', () => {
    const backOff = new BackOff(RESTART_BACK_OFF);
    backOff.advance('c', 0, 0);
    backOff.advance('c', 20_000, 20_000);
    expect(backOff.left('c', 700_000, 700_000)).toBe(0);
    backOff.advance('c', 700_000, 700_000);
    expect(backOff.waitMs('c')).toBe(10_000);
  });

  test('keeps keys apart', () => {
    const backOff = new BackOff(RESTART_BACK_OFF);
    backOff.advance('a', 0, 0);
    expect(backOff.left('b', 0, 0)).toBe(0);
  });
});

test.each([
  [0, '0s'],
  [250, '250ms'],
  [1500, '1.5s'],
  [10_000, '10s'],
  [80_000, '1m20s'],
  [300_000, '5m0s'],
  [3_661_000, '1h1m1s'],
])('durationText(%i) is %s', (ms, text) => {
  expect(durationText(ms)).toBe(text);
});
