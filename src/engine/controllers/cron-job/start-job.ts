import { Job } from '../../../client/kinds.ts';
import type { KubeObject } from '../../../kube/object.ts';
import { isControlledBy, ownerReference } from '../../../kube/ownership.ts';
import { isStatusError } from '../../../kube/status.ts';
import { formatTime } from '../../../kube/time.ts';
import { errorText } from '../../../lib/log.ts';
import type { Environment } from '../environment.ts';
import { isNamespaceTerminating } from '../workload/pod-control.ts';
import { deleteJob, type CronStatus } from './active-jobs.ts';
import { formatInZone, type Zone } from './model/zone.ts';

const SCHEDULED_ANNOTATION = 'batch.kubernetes.io/cronjob-scheduled-timestamp';

type Ports = Pick<Environment, 'client' | 'events'>;

export function jobName(cronJob: KubeObject, scheduled: number): string {
  return `${cronJob.metadata.name}-${Math.floor(scheduled / 60_000)}`;
}

/** Starts the Job of a time, as far as those that still run let it. */
export async function startJob(ports: Ports, cronJob: KubeObject, scheduled: number, zone: Zone, status: CronStatus): Promise<void> {
  const { client, events } = ports;
  const name = jobName(cronJob, scheduled);
  const time = formatTime(new Date(scheduled));
  if (status.lastScheduleTime === time || status.active.some((one) => one.name === name)) return;
  const { concurrencyPolicy } = cronJob.spec;
  if (concurrencyPolicy === 'Forbid' && status.active.length > 0) {
    const message = 'Not starting job because prior execution is running and concurrency policy is Forbid';
    events.record(cronJob, { type: 'Normal', reason: 'JobAlreadyActive', message });
    return;
  }
  if (concurrencyPolicy === 'Replace') {
    for (const reference of status.active) {
      if (!(await deleteJob(ports, cronJob, reference, status))) {
        throw new Error(`could not replace job ${reference.namespace}/${reference.name}`);
      }
    }
  }
  const jobs = client.resource<KubeObject>(Job, cronJob.metadata.namespace);
  let job: KubeObject;
  try {
    job = await jobs.create(jobOf(cronJob, name, scheduled, zone));
    events.record(cronJob, { type: 'Normal', reason: 'SuccessfulCreate', message: `Created job ${name}` });
  } catch (error) {
    if (isNamespaceTerminating(error)) return;
    if (!isStatusError(error, 'AlreadyExists')) {
      events.record(cronJob, { type: 'Warning', reason: 'FailedCreate', message: `Error creating job: ${errorText(error)}` });
      throw error;
    }
    // We started it and did not get to say so, or somebody else's is in the way.
    job = await jobs.get(name);
    if (!isControlledBy(job, cronJob)) return;
  }
  const { namespace, uid, resourceVersion } = job.metadata;
  status.active.push({ apiVersion: 'batch/v1', kind: 'Job', name, namespace, uid, resourceVersion });
  status.lastScheduleTime = time;
}

function jobOf(cronJob: KubeObject, name: string, scheduled: number, zone: Zone) {
  const { metadata, spec } = cronJob.spec.jobTemplate;
  return {
    metadata: {
      name,
      labels: { ...metadata?.labels },
      annotations: { ...metadata?.annotations, [SCHEDULED_ANNOTATION]: formatInZone(scheduled, zone) },
      ownerReferences: [ownerReference(cronJob, { controller: true, blockOwnerDeletion: true })],
    },
    spec,
  };
}
