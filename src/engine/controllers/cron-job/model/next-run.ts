import type { KubeObject } from '../../../../kube/object.ts';
import type { Schedule } from './schedule.ts';

/** More missed times than this are told about. */
const MANY = 100;
/** After its time, so that clocks of whole seconds have reached it. */
const DELTA_MS = 100;

export interface Missed {
  /** The newest time that has come and was not run; undefined when there is none. */
  time?: number;
  many: boolean;
}

/** @param honourDeadline times before startingDeadlineSeconds do not count */
export function newestMissed(cronJob: KubeObject, schedule: Schedule, now: number, honourDeadline = true): Missed {
  const earliest = earliestTime(cronJob, now, honourDeadline);
  const first = schedule(earliest);
  const second = first === undefined ? undefined : schedule(first);
  if (first === undefined || now < first) return { many: false };
  if (second === undefined || now < second) return { time: first, many: false };
  const between = Math.max(1000, second - first);
  const count = Math.floor((now - first) / between) + 1;
  // Jumps near the end; distances may differ, so it starts two before it.
  let time: number | undefined;
  const from = Math.max(earliest, first + (count - 2) * between - 1);
  for (let next = schedule(from); next !== undefined && next <= now; next = schedule(next)) time = next;
  return { time: time ?? first, many: count > MANY };
}

function earliestTime({ metadata, spec, status }: KubeObject, now: number, honourDeadline: boolean): number {
  const since = Date.parse(status?.lastScheduleTime ?? metadata.creationTimestamp ?? '');
  const deadline: number | undefined = spec.startingDeadlineSeconds;
  return honourDeadline && deadline !== undefined ? Math.max(since, now - deadline * 1000) : since;
}

/** Milliseconds until the next time. */
export function untilNext(cronJob: KubeObject, schedule: Schedule, now: number): number | undefined {
  const { time } = newestMissed(cronJob, schedule, now, false);
  const next = schedule(time ?? earliestTime(cronJob, now, false));
  return next === undefined ? undefined : Math.max(0, next + DELTA_MS - now);
}

export function isTooLate({ spec }: KubeObject, scheduled: number, now: number): boolean {
  return spec.startingDeadlineSeconds !== undefined && scheduled + spec.startingDeadlineSeconds * 1000 < now;
}

/** Finished Jobs that the limits have no room for, the oldest first. */
export function surplusJobs(cronJob: KubeObject, jobs: readonly KubeObject[]): KubeObject[] {
  const { successfulJobsHistoryLimit, failedJobsHistoryLimit } = cronJob.spec;
  return [...oldest(jobs, 'Complete', successfulJobsHistoryLimit), ...oldest(jobs, 'Failed', failedJobsHistoryLimit)];
}

function oldest(jobs: readonly KubeObject[], type: string, limit: number | undefined): KubeObject[] {
  if (limit === undefined) return [];
  const finished = jobs.filter((job) => finishedType(job) === type && job.metadata.deletionTimestamp === undefined);
  finished.sort((a, b) => {
    const [timeA = '~', timeB = '~'] = [a.status?.startTime, b.status?.startTime];
    if (timeA !== timeB) return timeA < timeB ? -1 : 1;
    return a.metadata.name! < b.metadata.name! ? -1 : 1;
  });
  return finished.slice(0, Math.max(0, finished.length - limit));
}

export function finishedType(job: KubeObject): 'Complete' | 'Failed' | undefined {
  for (const { type, status } of job.status?.conditions ?? [])
    if ((type === 'Complete' || type === 'Failed') && status === 'True') return type;
  return undefined;
}
