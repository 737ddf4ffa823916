import { CronJob, Job } from '../../../client/kinds.ts';
import type { KubeObject } from '../../../kube/object.ts';
import { errorText } from '../../../lib/log.ts';
import { Controller, type ReconcileResult } from '../../../runtime/controller.ts';
import type { Environment, Running } from '../environment.ts';
import { controlledBy, wakeOwners, workloadInformer } from '../workload/informers.ts';
import { writeStatus } from '../workload/write-status.ts';
import { deleteJob, updateActive, type CronStatus } from './active-jobs.ts';
import { isTooLate, newestMissed, surplusJobs, untilNext } from './model/next-run.ts';
import { parseSchedule, type Schedule } from './model/schedule.ts';
import { zoneOf, type Zone } from './model/zone.ts';
import { startJob } from './start-job.ts';

/** @param localZone of schedules that name none; the zone of the process, as upstream */
export function cronJobController(environment: Environment, localZone = Intl.DateTimeFormat().resolvedOptions().timeZone): Running {
  const { clock, log, metrics } = environment;
  const cronJobs = workloadInformer(environment, CronJob);
  const jobs = workloadInformer(environment, Job);
  return new Controller({
    name: 'cron-job',
    clock,
    log,
    metrics,
    concurrency: 5,
    async reconcile(key) {
      const cronJob = cronJobs.get(key);
      return cronJob && reconcile(environment, cronJob, controlledBy(jobs, cronJob), localZone);
    },
  })
    .watch(cronJobs)
    .watch(
      jobs,
      wakeOwners(CronJob, cronJobs, () => false),
    )
    .start();
}

async function reconcile(
  environment: Environment,
  cronJob: KubeObject,
  jobs: readonly KubeObject[],
  localZone: string,
): Promise<ReconcileResult | void> {
  const status: CronStatus = { ...cronJob.status, active: [...(cronJob.status?.active ?? [])] };
  let result: ReconcileResult | undefined;
  let failure: unknown;
  try {
    for (const job of surplusJobs(cronJob, jobs)) await deleteJob(environment, cronJob, job.metadata, status);
    await updateActive(environment, cronJob, jobs, status);
    if (cronJob.metadata.deletionTimestamp === undefined) result = await runIfDue(environment, cronJob, localZone, status);
  } catch (error) {
    failure = error;
  }
  // Whatever was done before a failure is written, or a Job would be forgotten.
  await writeStatus(environment.client, CronJob, cronJob, { ...status, active: status.active.length > 0 ? status.active : undefined });
  if (failure !== undefined) throw failure;
  return result;
}

async function runIfDue(
  environment: Environment,
  cronJob: KubeObject,
  localZone: string,
  status: CronStatus,
): Promise<ReconcileResult | undefined> {
  if (cronJob.spec.suspend) return undefined;
  const read = readSchedule(environment, cronJob, localZone);
  if (!read) return undefined;
  const { schedule, zone } = read;
  const { clock, events } = environment;
  const now = clock.now();
  const { time, many } = newestMissed(cronJob, schedule, now);
  if (time !== undefined) {
    if (many) {
      const message = 'too many missed start times. Set or decrease .spec.startingDeadlineSeconds or check clock skew';
      events.record(cronJob, { type: 'Warning', reason: 'TooManyMissedTimes', message });
    }
    if (isTooLate(cronJob, time, now)) {
      const message = `Missed scheduled time to start a job: ${new Date(time).toUTCString().replace('GMT', '+0000')}`;
      events.record(cronJob, { type: 'Warning', reason: 'MissSchedule', message });
    } else await startJob(environment, cronJob, time, zone, status);
  }
  // The timer that this is all about.
  const afterMs = untilNext(cronJob, schedule, now);
  return afterMs === undefined ? undefined : { afterMs };
}

/** Undefined, and an event, when it cannot be read: only a change of the spec helps. */
function readSchedule({ events }: Environment, cronJob: KubeObject, localZone: string): { schedule: Schedule; zone: Zone } | undefined {
  const { schedule, timeZone = localZone } = cronJob.spec;
  let zone: Zone;
  try {
    zone = zoneOf(timeZone);
  } catch {
    const message = `invalid timeZone: "${timeZone}": unknown time zone ${timeZone}`;
    events.record(cronJob, { type: 'Warning', reason: 'UnknownTimeZone', message });
    return undefined;
  }
  try {
    return { schedule: parseSchedule(schedule, zone), zone };
  } catch (error) {
    const message = `unparseable schedule: "${schedule}" : ${errorText(error)}`;
    events.record(cronJob, { type: 'Warning', reason: 'UnparseableSchedule', message });
    return undefined;
  }
}
