import { Job } from '../../../client/kinds.ts';
import type { Json, KubeObject } from '../../../kube/object.ts';
import { isStatusError } from '../../../kube/status.ts';
import { errorText } from '../../../lib/log.ts';
import type { Environment } from '../environment.ts';
import { finishedType } from './model/next-run.ts';

/** The part of the status that a pass changes. */
export interface CronStatus {
  active: Json[];
  lastScheduleTime?: string;
  lastSuccessfulTime?: string;
}

type Ports = Pick<Environment, 'client' | 'events'>;

/** Takes finished and vanished Jobs off the list and remembers the last success. */
export async function updateActive(
  { client, events }: Ports,
  cronJob: KubeObject,
  jobs: readonly KubeObject[],
  status: CronStatus,
): Promise<void> {
  const children = new Set<string>();
  for (const job of jobs) {
    const { uid, name } = job.metadata;
    children.add(uid!);
    const finished = finishedType(job);
    if (!finished) continue;
    if (removeActive(status, uid!)) {
      events.record(cronJob, { type: 'Normal', reason: 'SawCompletedJob', message: `Saw completed job: ${name}, condition: ${finished}` });
    }
    const time: string | undefined = job.status?.completionTime;
    if (finished === 'Complete' && time && (!status.lastSuccessfulTime || time > status.lastSuccessfulTime))
      status.lastSuccessfulTime = time;
  }
  for (const { uid, name, namespace } of status.active) {
    if (children.has(uid)) continue;
    // The cache may not know it yet.
    if (await exists(() => client.resource(Job, namespace).get(name))) continue;
    events.record(cronJob, { type: 'Normal', reason: 'MissingJob', message: `Active job went missing: ${name}` });
    removeActive(status, uid);
  }
}

/** @returns whether it is gone or going */
export async function deleteJob({ client, events }: Ports, cronJob: KubeObject, reference: Json, status: CronStatus): Promise<boolean> {
  const { name, uid } = reference;
  try {
    await client.resource(Job, cronJob.metadata.namespace).delete(name, { propagationPolicy: 'Background', preconditions: { uid } });
  } catch (error) {
    if (!isStatusError(error, 'NotFound')) {
      events.record(cronJob, { type: 'Warning', reason: 'FailedDelete', message: `Deleted job: ${errorText(error)}` });
      return false;
    }
  }
  removeActive(status, uid);
  events.record(cronJob, { type: 'Normal', reason: 'SuccessfulDelete', message: `Deleted job ${name}` });
  return true;
}

function removeActive(status: CronStatus, uid: string): boolean {
  const before = status.active.length;
  status.active = status.active.filter((one) => one.uid !== uid);
  return status.active.length < before;
}

async function exists(read: () => Promise<unknown>): Promise<boolean> {
  try {
    await read();
    return true;
  } catch (error) {
    if (isStatusError(error, 'NotFound')) return false;
    throw error;
  }
}
