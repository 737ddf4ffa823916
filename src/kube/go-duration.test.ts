import { describe, expect, it } from 'vitest';
import { formatGoDuration, parseGoDuration } from './go-duration.ts';

describe('parseGoDuration', () => {
  it.each([
    ['90s', 90_000],
    ['1m30s', 90_000],
    ['1.5h', 5_400_000],
    ['100ms', 100],
    ['.5s', 500],
    ['0', 0],
    ['0s', 0],
    ['+3s', 3000],
    ['2us', 0.002],
  ])('%s', (text, milliseconds) => expect(parseGoDuration(text)).toBe(milliseconds));

  it.each(['', '5', '-1s', 's', '1d', '1s ', '1 s', '1s2', 'abc', '1e3s'])('refuses "%s"', (text) => {
    expect(parseGoDuration(text)).toBeUndefined();
  });
});

describe('formatGoDuration', () => {
  it.each([
    [0, '0s'],
    [90_000, '1m30s'],
    [3000, '3s'],
    [3_600_000, '1h0m0s'],
    [500, '500ms'],
    [1500, '1.5s'],
    [0.5, '500µs'],
    [60_000, '1m0s'],
  ])('%d', (milliseconds, text) => expect(formatGoDuration(milliseconds)).toBe(text));
});
