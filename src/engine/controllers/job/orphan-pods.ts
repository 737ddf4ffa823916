import { Job } from '../../../client/kinds.ts';
import type { KubeObject } from '../../../kube/object.ts';
import { controllerOf, hasFinalizer } from '../../../kube/ownership.ts';
import { isStatusError } from '../../../kube/status.ts';
import { Controller } from '../../../runtime/controller.ts';
import type { Informer } from '../../../runtime/informer/informer.ts';
import { keyOf } from '../../../runtime/informer/object-cache.ts';
import type { Environment, Running } from '../environment.ts';
import { controlledBy } from '../workload/informers.ts';
import { releasePod } from './job-reconciler.ts';
import { TRACKING_FINALIZER } from './model/job-view.ts';

/** Frees tracked Pods that no Job counts any more: theirs is gone, or is not theirs. */
export function orphanPodsController(environment: Environment, jobs: Informer, pods: Informer): Running {
  const { client, clock, log, metrics } = environment;
  const isOrphan = (pod: KubeObject): boolean => hasFinalizer(pod, TRACKING_FINALIZER) && !cachedJobOf(pod, jobs);
  return new Controller({
    name: 'job-orphan-pods',
    clock,
    log,
    metrics,
    async reconcile(key) {
      const pod = pods.get(key);
      if (!pod || !isOrphan(pod)) return;
      // The cache of Jobs may be behind that of Pods: only the server knows.
      if (!(await jobExists(pod))) await releasePod(environment, pod);
    },
  })
    .watch(pods, ({ type, object }) => (type !== 'deleted' && isOrphan(object) ? [keyOf(object)] : []))
    .watch(jobs, ({ type, object }) => (type === 'deleted' ? controlledBy(pods, object).map(keyOf) : []))
    .start();

  async function jobExists(pod: KubeObject): Promise<boolean> {
    const owner = controllerOf(pod);
    if (owner?.kind !== 'Job') return false;
    try {
      return (await client.resource<KubeObject>(Job, pod.metadata.namespace).get(owner.name)).metadata.uid === owner.uid;
    } catch (error) {
      if (isStatusError(error, 'NotFound')) return false;
      throw error;
    }
  }
}

function cachedJobOf(pod: KubeObject, jobs: Informer): KubeObject | undefined {
  const owner = controllerOf(pod);
  const job = owner?.kind === 'Job' ? jobs.find(pod.metadata.namespace, owner.name) : undefined;
  return job?.metadata.uid === owner?.uid ? job : undefined;
}
