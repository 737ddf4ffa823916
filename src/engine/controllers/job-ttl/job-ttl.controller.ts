import { Job } from '../../../client/kinds.ts';
import type { Condition } from '../../../kube/conditions.ts';
import type { KubeObject } from '../../../kube/object.ts';
import { isStatusError } from '../../../kube/status.ts';
import { Controller } from '../../../runtime/controller.ts';
import { splitKey } from '../../../runtime/informer/object-cache.ts';
import type { Environment, Running } from '../environment.ts';
import { workloadInformer } from '../workload/informers.ts';

/** Removes finished Jobs whose ttlSecondsAfterFinished has passed. */
export function jobTtlController(environment: Environment): Running {
  const { client, clock, log, metrics } = environment;
  // The whole Job, shared with the Job controller: a second, smaller cache beside that one would cost more.
  const jobs = workloadInformer(environment, Job);
  const controller = new Controller({
    name: 'job-ttl',
    clock,
    log,
    metrics,
    async reconcile(key, { signal }) {
      const cached = jobs.get(key);
      const left = cached && timeLeft(cached, clock.now());
      if (left === undefined) return undefined;
      // A timer, because time passing changes nothing that a watch could see.
      if (left > 0) return { afterMs: left };
      const { namespace, name } = splitKey(key);
      const resource = client.resource(Job, namespace);
      try {
        // The ttl may have been raised since the cache heard of it.
        const fresh = await resource.get(name, { signal });
        const stillLeft = timeLeft(fresh, clock.now());
        if (stillLeft === undefined || stillLeft > 0) return stillLeft === undefined ? undefined : { afterMs: stillLeft };
        await resource.delete(name, { propagationPolicy: 'Foreground', preconditions: { uid: fresh.metadata.uid }, signal });
      } catch (error) {
        if (!isStatusError(error, 'NotFound')) throw error;
      }
      return undefined;
    },
  });
  return controller
    .watch(jobs, ({ type, object }) => (type === 'deleted' ? [] : [`${object.metadata.namespace}/${object.metadata.name}`]))
    .start();
}

/** Milliseconds until the Job may go, not above 0 when it may; undefined when it stays. */
export function timeLeft(job: KubeObject, now: number): number | undefined {
  const ttl: unknown = job.spec?.ttlSecondsAfterFinished;
  if (typeof ttl !== 'number' || job.metadata.deletionTimestamp !== undefined) return undefined;
  const finished = finishedCondition(job);
  if (!finished?.lastTransitionTime) return undefined;
  return Date.parse(finished.lastTransitionTime) + ttl * 1000 - now;
}

function finishedCondition(job: KubeObject): Condition | undefined {
  const conditions: Condition[] = job.status?.conditions ?? [];
  return conditions.find(({ type, status }) => (type === 'Complete' || type === 'Failed') && status === 'True');
}
