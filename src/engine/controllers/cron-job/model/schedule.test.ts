import { expect, test } from 'vitest';
import { parseSchedule } from './schedule.ts';
import { formatInZone, utc, zoneOf } from './zone.ts';

const iso = (instant: number | undefined): string | undefined => (instant === undefined ? undefined : new Date(instant).toISOString());

test.each<[string, string, string]>([
  ['* * * * *', '2026-01-01T00:00:30Z', '2026-01-01T00:01:00.000Z'],
  ['*/15 * * * *', '2026-01-01T00:15:00Z', '2026-01-01T00:30:00.000Z'],
  ['5-10/2 3 * * *', '2026-01-01T03:07:00Z', '2026-01-01T03:09:00.000Z'],
  ['0 0 29 2 *', '2026-01-01T00:00:00Z', '2028-02-29T00:00:00.000Z'],
  ['0 12 * * MON-FRI', '2026-01-02T12:00:00Z', '2026-01-05T12:00:00.000Z'],
  ['0 0 13 * 5', '2026-01-01T00:00:00Z', '2026-01-02T00:00:00.000Z'],
  ['0 0 1-7 * */1', '2026-01-08T00:00:00Z', '2026-02-01T00:00:00.000Z'],
  ['0 0 * jan,jul sun', '2026-02-01T00:00:00Z', '2026-07-05T00:00:00.000Z'],
  ['30 23 31 12 ?', '2026-01-01T00:00:00Z', '2026-12-31T23:30:00.000Z'],
  ['@hourly', '2026-01-01T00:00:00Z', '2026-01-01T01:00:00.000Z'],
  ['@weekly', '2026-01-01T00:00:00Z', '2026-01-04T00:00:00.000Z'],
  ['@every 1h30m', '2026-01-01T00:00:00.500Z', '2026-01-01T01:30:00.000Z'],
])('%s after %s is %s', (text, after, next) => {
  expect(iso(parseSchedule(text, utc)(Date.parse(after)))).toBe(next);
});

test('a day that does not exist never comes', () => {
  expect(parseSchedule('0 0 30 2 *', utc)(Date.parse('2026-01-01T00:00:00Z'))).toBeUndefined();
});

test.each<[string, string, string, string]>([
  ['in a zone ahead of UTC', '0 9 * * *', '2026-01-01T00:00:00Z', '2026-01-01T08:00:00.000Z'],
  ['in summer', '0 9 * * *', '2026-07-01T00:00:00Z', '2026-07-01T07:00:00.000Z'],
  ['not in the hour that is skipped', '30 2 * * *', '2026-03-28T12:00:00Z', '2026-03-30T00:30:00.000Z'],
  ['in the hour that comes twice', '30 2 * * *', '2026-10-24T12:00:00Z', '2026-10-25T00:30:00.000Z'],
  ['and again', '30 2 * * *', '2026-10-25T00:30:00Z', '2026-10-25T01:30:00.000Z'],
  ['at midnight of the short day', '0 0 * * *', '2026-03-28T23:00:00Z', '2026-03-29T22:00:00.000Z'],
])('Berlin %s', (_name, text, after, next) => {
  expect(iso(parseSchedule(text, zoneOf('Europe/Berlin'))(Date.parse(after)))).toBe(next);
});

test.each(['', '* * * *', '60 * * * *', '* * 0 * *', '5-2 * * * *', '*/0 * * * *', 'x * * * *', '@often', '@every soon', '* * * * 7'])(
  '"%s" is no schedule',
  (text) => {
    expect(() => parseSchedule(text, utc)).toThrow();
  },
);

test('times are written with the offset of their zone', () => {
  const instant = Date.parse('2026-07-01T00:00:00Z');
  expect([
    formatInZone(instant, utc),
    formatInZone(instant, zoneOf('Asia/Kolkata')),
    formatInZone(instant, zoneOf('America/New_York')),
  ]).toEqual(['2026-07-01T00:00:00Z', '2026-07-01T05:30:00+05:30', '2026-06-30T20:00:00-04:00']);
  expect(() => zoneOf('Mars/Olympus')).toThrow(RangeError);
});
