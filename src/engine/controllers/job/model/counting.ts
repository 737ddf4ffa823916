import type { Json, KubeObject } from '../../../../kube/object.ts';
import type { WorkloadCondition } from '../../workload/model/workload-conditions.ts';
import { Indexes } from './indexes.ts';
import { hasLimitPerIndex, hasValidIndex, indexOf, isFailed, type JobView } from './job-view.ts';
import { failureVerdict } from './pod-failure-policy.ts';

/** So many Pods wait to be counted at most: the status must not grow without bound. */
const MAX_UNCOUNTED = 500;

export interface Counted {
  /** Finalizers to remove once the status is written. */
  release: KubeObject[];
  uncounted: { succeeded: string[]; failed: string[] };
  completedIndexes?: Indexes;
  /** More are left for the next pass. */
  full: boolean;
}

/** Which Pods are to be counted now, and how. */
export function countPods(view: JobView, finish: WorkloadCondition | undefined): Counted {
  const { job, indexed } = view;
  const uncounted = {
    succeeded: [...view.uncounted.succeeded].filter((uid) => view.tracked.has(uid)),
    failed: [...view.uncounted.failed].filter((uid) => view.tracked.has(uid)),
  };
  const release: KubeObject[] = [];
  const newIndexes = new Set<number>();
  for (const pod of view.pods) {
    const uid = pod.metadata.uid!;
    if (!view.tracked.has(uid) || !mayRelease(view, pod, finish)) continue;
    if (newIndexes.size + uncounted.succeeded.length + uncounted.failed.length >= MAX_UNCOUNTED) {
      return { release, uncounted, completedIndexes: indexed?.counted.union(Indexes.of(newIndexes)), full: true };
    }
    release.push(pod);
    if (pod.status?.phase === 'Succeeded' && !view.uncounted.failed.has(uid)) {
      if (indexed) {
        if (hasValidIndex(job, pod) && !indexed.counted.has(indexOf(pod))) newIndexes.add(indexOf(pod));
      } else if (!view.uncounted.succeeded.has(uid)) uncounted.succeeded.push(uid);
    } else if (isFailed(job, pod) || finish?.type === 'FailureTarget') {
      const counts = failureVerdict(job.spec.podFailurePolicy, pod).counts;
      if (!view.uncounted.failed.has(uid) && hasValidIndex(job, pod) && counts) uncounted.failed.push(uid);
    }
  }
  return { release, uncounted, completedIndexes: indexed?.counted.union(Indexes.of(newIndexes)), full: false };
}

function mayRelease({ job, indexed }: JobView, pod: KubeObject, finish: WorkloadCondition | undefined): boolean {
  if (job.metadata.deletionTimestamp !== undefined || finish !== undefined || pod.status?.phase === 'Succeeded') return true;
  if (!isFailed(job, pod)) return false;
  return !hasLimitPerIndex(job) || indexed?.lastFailed.get(indexOf(pod))?.metadata.uid !== pod.metadata.uid;
}

/** Moves Pods whose finalizer is gone from "uncounted" into the counters. */
export function settleUncounted(status: Json, stillTracked: ReadonlySet<string>): Json {
  const { succeeded = [], failed = [] } = status.uncountedTerminatedPods ?? {};
  const keep = (uids: string[]): string[] => uids.filter((uid) => stillTracked.has(uid));
  const [waitingSucceeded, waitingFailed] = [keep(succeeded), keep(failed)];
  return {
    ...status,
    succeeded: (status.succeeded ?? 0) + succeeded.length - waitingSucceeded.length || undefined,
    failed: (status.failed ?? 0) + failed.length - waitingFailed.length || undefined,
    uncountedTerminatedPods: uncountedField(waitingSucceeded, waitingFailed),
  };
}

export function uncountedField(succeeded: string[], failed: string[]): Json {
  return { ...(succeeded.length > 0 ? { succeeded } : {}), ...(failed.length > 0 ? { failed } : {}) };
}
