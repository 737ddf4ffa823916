import { describe, expect, test } from 'vitest';
import { judgeLag, LAG_FOR_MS, quantile, type LateGroups } from './judge-lag.ts';

const lags = (...seconds: number[]) =>
  seconds.map((each, partition) => ({
    tenant: 'school',
    plugin: 'hello',
    topic: 't',
    group: 'school.hello.main',
    partition,
    seconds: each,
  }));
const MINUTE = 60_000;

describe('judgeLag', () => {
  /** What it says at each look, a minute apart. */
  const over = (looks: number[][]): boolean[] => {
    let late: LateGroups = new Map();
    return looks.map((seconds, minute) => {
      const judged = judgeLag(late, lags(...seconds), minute * MINUTE);
      late = judged.late;
      return judged.raised.length > 0;
    });
  };

  test('raises after five minutes above the limit, and not before', () => {
    expect(over([[90], [90], [90], [90], [90], [90]])).toEqual([false, false, false, false, false, true]);
  });
  test('begins anew after one look below it', () => {
    expect(over([[90], [90], [90], [10], [90], [90], [90], [90], [90], [90]]).filter(Boolean)).toHaveLength(1);
  });
  test('never raises at the limit', () => {
    expect(over(Array.from({ length: 10 }, () => [60]))).not.toContain(true);
  });
  test('ends with one look below it', () => {
    expect(over([...Array.from({ length: 6 }, () => [90]), [5]]).slice(-2)).toEqual([true, false]);
  });
  test('sees one partition of a few that nobody reads', () => {
    expect(over(Array.from({ length: 6 }, () => [0, 0, 90])).at(-1)).toBe(true);
  });
  test('tells each group by itself, and since when', () => {
    const other = lags(500).map((lag) => ({ ...lag, group: 'school.hello.other' }));
    const { raised, late } = judgeLag(new Map([['school.hello.main', 0]]), [...lags(61), ...other], LAG_FOR_MS);
    expect(raised).toEqual([{ group: 'school.hello.main', since: 0 }]);
    expect(late.get('school.hello.other')).toBe(LAG_FOR_MS);
  });
});

test('quantile is that of Prometheus', () => {
  expect(quantile(0.99, [5])).toBe(5);
  expect(quantile(0.99, [0, 100])).toBeCloseTo(99);
  expect(quantile(0.99, [100, 0, 0])).toBeCloseTo(98);
});
