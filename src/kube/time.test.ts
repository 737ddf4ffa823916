import { describe, expect, it } from 'vitest';
import { ageOf, formatAge } from './age.ts';
import { canonicalMicroTime, canonicalTime, formatMicroTime, formatTime, timeError } from './time.ts';

it('times are written to the second, micro times to the microsecond', () => {
  const date = new Date('2024-02-29T12:34:56.789Z');
  expect([formatTime(date), formatMicroTime(date)]).toEqual(['2024-02-29T12:34:56Z', '2024-02-29T12:34:56.789000Z']);
});

describe('canonicalTime', () => {
  it.each([
    ['2024-02-29T12:34:56Z', '2024-02-29T12:34:56Z'],
    ['2024-02-29T12:34:56.789Z', '2024-02-29T12:34:56Z'],
    ['2024-02-29T12:34:56+02:00', '2024-02-29T10:34:56Z'],
    ['2024-02-28T23:30:00-01:00', '2024-02-29T00:30:00Z'],
  ])('%s', (text, canonical) => expect(canonicalTime(text)).toBe(canonical));

  it.each([
    ['', 'parsing time "" as "2006-01-02T15:04:05Z07:00": cannot parse "" as "2006"'],
    ['yesterday', 'parsing time "yesterday" as "2006-01-02T15:04:05Z07:00": cannot parse "yesterday" as "2006"'],
    ['2024-02-29', 'parsing time "2024-02-29" as "2006-01-02T15:04:05Z07:00": cannot parse "" as "T"'],
    ['2024-02-29T12:34:56', 'parsing time "2024-02-29T12:34:56" as "2006-01-02T15:04:05Z07:00": cannot parse "" as "Z07:00"'],
    ['2024-02-29T12:34:56Zx', 'parsing time "2024-02-29T12:34:56Zx": extra text: "x"'],
    ['2024-13-01T00:00:00Z', 'parsing time "2024-13-01T00:00:00Z": month out of range'],
    ['2023-02-29T00:00:00Z', 'parsing time "2023-02-29T00:00:00Z": day out of range'],
    ['2023-02-28T24:00:00Z', 'parsing time "2023-02-28T24:00:00Z": hour out of range'],
  ])('refuses %j', (text, message) => {
    expect(canonicalTime(text)).toBeUndefined();
    expect(timeError(text)).toBe(message);
  });
});

it('micro times need six digits', () => {
  expect(canonicalMicroTime('2024-02-29T12:34:56.123456+01:00')).toBe('2024-02-29T11:34:56.123456Z');
  expect([canonicalMicroTime('2024-02-29T12:34:56Z'), canonicalMicroTime('2024-02-29T12:34:56.1Z')]).toEqual([undefined, undefined]);
});

describe('formatAge', () => {
  const [S, M, H, D] = [1000, 60_000, 3_600_000, 86_400_000];
  it.each([
    [-2 * S, '<invalid>'],
    [-S, '0s'],
    [0, '0s'],
    [119 * S, '119s'],
    [2 * M, '2m'],
    [2 * M + S, '2m1s'],
    [10 * M + S, '10m'],
    [3 * H - S, '179m'],
    [3 * H, '3h'],
    [7 * H + 59 * M, '7h59m'],
    [8 * H + M, '8h'],
    [47 * H, '47h'],
    [2 * D, '2d'],
    [2 * D + H, '2d1h'],
    [8 * D + H, '8d'],
    [729 * D, '729d'],
    [730 * D, '2y'],
    [731 * D, '2y1d'],
    [2920 * D + D, '8y'],
  ])('%d ms', (milliseconds, text) => expect(formatAge(milliseconds)).toBe(text));

  it('of an object', () => {
    const now = new Date('2024-01-01T00:01:00Z');
    expect([ageOf('2024-01-01T00:00:00Z', now), ageOf(undefined, now)]).toEqual(['60s', '<unknown>']);
  });
});
