import { expect, test } from 'vitest';
import { nextReportMs, type Moving } from './report-pace.ts';

const told = (revision: number, inFlight: number) => ({
  revision,
  versions: { '1': { inFlight, requests: 9, errors: 0, p99Ms: 1 }, '2': { inFlight: 5, requests: 9, errors: 0, p99Ms: 1 } },
});
const pausing: Moving = { revision: 2, leaving: [], sinceMs: 60_000 };

test.each<[string, Moving, ReturnType<typeof told> | undefined, number]>([
  ['before the first', pausing, undefined, 300],
  ['until the routes of now are told', pausing, told(1, 0), 300],
  ['just after they changed', { ...pausing, sinceMs: 0 }, told(2, 0), 300],
  ['a while after', { ...pausing, sinceMs: 1_000 }, told(2, 0), 1_000],
  ['in a long pause, however much is under way', pausing, told(2, 7), 3_000],
  ['while a version waits for its last requests', { ...pausing, leaving: ['1'] }, told(2, 7), 300],
  ['when they have ended', { ...pausing, leaving: ['1'] }, told(2, 0), 3_000],
])('nextReportMs %s', (_, moving, report, expected) => expect(nextReportMs(moving, report)).toBe(expected));
