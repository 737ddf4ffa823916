import type { Json, KubeObject } from '../../../../kube/object.ts';
import { hasFinalizer } from '../../../../kube/ownership.ts';
import { isActive, isReady, isTerminating } from '../../workload/model/pod-state.ts';
import { finishedAt } from './back-off.ts';
import { Indexes } from './indexes.ts';
import { failureVerdict } from './pod-failure-policy.ts';

export const TRACKING_FINALIZER = 'batch.kubernetes.io/job-tracking';
export const INDEX = 'batch.kubernetes.io/job-completion-index';
const FAILURE_COUNT = 'batch.kubernetes.io/job-index-failure-count';
const IGNORED_COUNT = 'batch.kubernetes.io/job-index-ignored-failure-count';

/** What one pass sees of a Job. */
export interface JobView {
  job: KubeObject;
  /** Sorted by index in Indexed Jobs. */
  pods: readonly KubeObject[];
  active: readonly KubeObject[];
  ready: number;
  terminating: number;
  /** Pods that carry the finalizer, as far as the server is concerned. */
  tracked: ReadonlySet<string>;
  uncounted: { succeeded: ReadonlySet<string>; failed: ReadonlySet<string> };
  newlySucceeded: readonly KubeObject[];
  newlyFailed: readonly KubeObject[];
  succeeded: number;
  failed: number;
  indexed?: IndexedView;
}

export interface IndexedView {
  completions: number;
  /** Before this pass. */
  counted: Indexes;
  succeeded: Indexes;
  /** With backoffLimitPerIndex only. */
  failed?: Indexes;
  /** The last failed Pod of each index that still has tries left: it is kept until its successor carries its count on. */
  lastFailed: ReadonlyMap<number, KubeObject>;
}

/** @param freed uids of Pods whose finalizer we removed while the cache still shows it */
export function viewJob(job: KubeObject, jobPods: readonly KubeObject[], freed: ReadonlySet<string>): JobView {
  const pods = isIndexed(job) ? [...jobPods].sort((a, b) => indexOf(a) - indexOf(b)) : jobPods;
  const tracked = new Set<string>();
  for (const pod of pods) if (hasFinalizer(pod, TRACKING_FINALIZER) && !freed.has(pod.metadata.uid!)) tracked.add(pod.metadata.uid!);
  const { succeeded = [], failed = [] } = job.status?.uncountedTerminatedPods ?? {};
  const uncounted = { succeeded: new Set<string>(succeeded), failed: new Set<string>(failed) };
  const valid = pods.filter((pod) => tracked.has(pod.metadata.uid!) && hasValidIndex(job, pod));
  const newlySucceeded = valid.filter((pod) => pod.status?.phase === 'Succeeded' && !uncounted.succeeded.has(pod.metadata.uid!));
  const newlyFailed = valid.filter((pod) => isFailed(job, pod) && !uncounted.failed.has(pod.metadata.uid!));
  const counting = newlyFailed.filter((pod) => failureVerdict(job.spec.podFailurePolicy, pod).counts).length;
  const active = pods.filter(isActive);
  const indexed = isIndexed(job) ? viewIndexes(job, pods, active, tracked) : undefined;
  return {
    job,
    pods,
    active,
    ready: active.filter(isReady).length,
    terminating: pods.filter(isTerminating).length,
    tracked,
    uncounted,
    newlySucceeded,
    newlyFailed,
    succeeded: indexed?.succeeded.size ?? (job.status?.succeeded ?? 0) + newlySucceeded.length + uncounted.succeeded.size,
    failed: (job.status?.failed ?? 0) + counting + uncounted.failed.size,
    indexed,
  };
}

function viewIndexes(
  job: KubeObject,
  pods: readonly KubeObject[],
  active: readonly KubeObject[],
  tracked: ReadonlySet<string>,
): IndexedView {
  const completions: number = job.spec.completions;
  const counted = Indexes.parse(job.status?.completedIndexes, completions);
  const valid = pods.filter((pod) => tracked.has(pod.metadata.uid!) && hasValidIndex(job, pod));
  const succeeded = counted.union(Indexes.of(valid.filter(({ status }) => status?.phase === 'Succeeded').map(indexOf)));
  if (!hasLimitPerIndex(job)) return { completions, counted, succeeded, lastFailed: new Map() };
  const exhausted = valid.filter((pod) => isIndexFailed(job, pod)).map(indexOf);
  const failed = Indexes.parse(job.status?.failedIndexes, completions).union(Indexes.of(exhausted));
  const running = new Set(active.map(indexOf));
  const lastFailed = new Map<number, KubeObject>();
  for (const pod of valid) {
    const index = indexOf(pod);
    if (!isFailed(job, pod) || succeeded.has(index) || failed.has(index) || running.has(index)) continue;
    const other = lastFailed.get(index);
    if (!other || (failuresBefore(other) <= failuresBefore(pod) && finishedAt(other) <= finishedAt(pod))) lastFailed.set(index, pod);
  }
  return { completions, counted, succeeded, failed, lastFailed };
}

export function isIndexed(job: KubeObject): boolean {
  return job.spec.completionMode === 'Indexed';
}

export function hasLimitPerIndex(job: KubeObject): boolean {
  return job.spec.backoffLimitPerIndex !== undefined;
}

/** A terminating Pod is replaced only after it is really over. */
export function replacesFailedOnly(job: KubeObject): boolean {
  return job.spec.podReplacementPolicy === 'Failed' || job.spec.podFailurePolicy !== undefined;
}

export function isFailed(job: KubeObject, pod: KubeObject): boolean {
  if (pod.status?.phase === 'Failed') return true;
  return !replacesFailedOnly(job) && pod.metadata.deletionTimestamp !== undefined && pod.status?.phase !== 'Succeeded';
}

/** -1 when it has none. */
export function indexOf(pod: KubeObject): number {
  const text = pod.metadata.annotations?.[INDEX];
  return text !== undefined && /^\d+$/.test(text) ? Number(text) : -1;
}

export function hasValidIndex(job: KubeObject, pod: KubeObject): boolean {
  return !isIndexed(job) || (indexOf(pod) >= 0 && indexOf(pod) < job.spec.completions);
}

function isIndexFailed(job: KubeObject, pod: KubeObject): boolean {
  if (!isFailed(job, pod)) return false;
  const { counts, action } = failureVerdict(job.spec.podFailurePolicy, pod);
  return action === 'FailIndex' || (counts && countIn(pod, FAILURE_COUNT) >= job.spec.backoffLimitPerIndex);
}

export function failuresBefore(pod: KubeObject): number {
  return countIn(pod, FAILURE_COUNT) + countIn(pod, IGNORED_COUNT);
}

/** What the successor of a failed Pod carries on of its index. */
export function failureAnnotations(job: KubeObject, replaced: KubeObject | undefined): Record<string, string> {
  if (!replaced) return { [FAILURE_COUNT]: '0' };
  const { counts } = failureVerdict(job.spec.podFailurePolicy, replaced);
  const ignored = countIn(replaced, IGNORED_COUNT) + (counts ? 0 : 1);
  const annotations: Record<string, string> = { [FAILURE_COUNT]: String(countIn(replaced, FAILURE_COUNT) + (counts ? 1 : 0)) };
  if (ignored > 0) annotations[IGNORED_COUNT] = String(ignored);
  return annotations;
}

function countIn(pod: KubeObject, annotation: string): number {
  const text: Json = pod.metadata.annotations?.[annotation];
  return text !== undefined && /^\d{1,10}$/.test(text) ? Number(text) : 0;
}
