import { expect, test } from 'vitest';
import type { Json, KubeObject } from '../../../../kube/object.ts';
import { isTooLate, newestMissed, surplusJobs, untilNext } from './next-run.ts';
import { parseSchedule } from './schedule.ts';
import { utc } from './zone.ts';

const at = (time: string): number => Date.parse(`2026-01-01T${time}Z`);
const hourly = parseSchedule('0 * * * *', utc);
const aCronJob = (spec: Json = {}, lastScheduleTime?: string): KubeObject => ({
  apiVersion: 'batch/v1',
  kind: 'CronJob',
  metadata: { name: 'c', creationTimestamp: '2026-01-01T00:10:00Z' },
  spec,
  status: { lastScheduleTime },
});

test.each<[string, KubeObject, string, string | undefined, boolean]>([
  ['nothing yet', aCronJob(), '00:50:00', undefined, false],
  ['its first time', aCronJob(), '01:00:00', '01:00:00', false],
  ['only the last of several', aCronJob(), '05:30:00', '05:00:00', false],
  ['nothing that was run', aCronJob({}, '2026-01-01T05:00:00Z'), '05:30:00', undefined, false],
  ['nothing before the deadline', aCronJob({ startingDeadlineSeconds: 60 }), '05:30:00', undefined, false],
  ['what the deadline allows', aCronJob({ startingDeadlineSeconds: 3600 }), '05:30:00', '05:00:00', false],
])('newestMissed finds %s', (_name, cronJob, now, time, many) => {
  expect(newestMissed(cronJob, hourly, at(now))).toEqual({ time: time && at(time), many });
});

test('newestMissed says when there are many', () => {
  const minutely = parseSchedule('* * * * *', utc);
  expect(newestMissed(aCronJob(), minutely, at('05:30:30'))).toEqual({ time: at('05:30:00'), many: true });
});

test('newestMissed copes with uneven distances', () => {
  const office = parseSchedule('0 9,17 * * *', utc);
  expect(newestMissed(aCronJob(), office, Date.parse('2026-01-09T10:00:00Z')).time).toBe(Date.parse('2026-01-09T09:00:00Z'));
});

test('untilNext is the way to the next time, a little more than exact', () => {
  expect(untilNext(aCronJob(), hourly, at('00:50:00'))).toBe(600_100);
  expect(untilNext(aCronJob(), hourly, at('01:00:00'))).toBe(3_600_100);
  expect(untilNext(aCronJob({}, '2026-01-01T01:00:00Z'), hourly, at('01:00:01'))).toBe(3_599_100);
});

test('isTooLate asks the deadline', () => {
  expect(isTooLate(aCronJob(), at('01:00:00'), at('09:00:00'))).toBe(false);
  expect(isTooLate(aCronJob({ startingDeadlineSeconds: 10 }), at('01:00:00'), at('01:00:10'))).toBe(false);
  expect(isTooLate(aCronJob({ startingDeadlineSeconds: 10 }), at('01:00:00'), at('01:00:11'))).toBe(true);
});

test('surplusJobs are the oldest of each kind', () => {
  const aJob = (name: string, type: string, startTime: string): KubeObject => ({
    apiVersion: 'batch/v1',
    kind: 'Job',
    metadata: { name },
    status: { startTime, conditions: [{ type, status: 'True' }] },
  });
  const jobs = [
    aJob('c', 'Complete', '3'),
    aJob('a', 'Complete', '1'),
    aJob('b', 'Complete', '2'),
    aJob('f', 'Failed', '1'),
    aJob('r', 'Suspended', '0'),
  ];
  const names = (spec: Json): string[] => surplusJobs(aCronJob(spec), jobs).map(({ metadata }) => metadata.name!);
  expect(names({ successfulJobsHistoryLimit: 1, failedJobsHistoryLimit: 1 })).toEqual(['a', 'b']);
  expect(names({ successfulJobsHistoryLimit: 3, failedJobsHistoryLimit: 0 })).toEqual(['f']);
  expect(names({})).toEqual([]);
});
