import type { KubeObject } from '../../../../kube/object.ts';
import { comparePods } from '../../replica-set/model/deletion-order.ts';
import { isTerminating } from '../../workload/model/pod-state.ts';
import { finishedAt, remainingBackOff, type FailureRecord } from './back-off.ts';
import { Indexes } from './indexes.ts';
import { failuresBefore, hasLimitPerIndex, indexOf, replacesFailedOnly, type IndexedView, type JobView } from './job-view.ts';

/** At most so many Pods are created or deleted in one pass. */
const BURST = 500;

export type PodPlan =
  | { type: 'none' }
  | { type: 'delete'; pods: KubeObject[] }
  /** One Pod per entry: of that index, or of none. */
  | { type: 'create'; indexes: (number | undefined)[] }
  /** Failures lately: nothing before so many milliseconds. */
  | { type: 'wait'; ms: number };

/** What a Job that goes on needs now. */
export function planPods(view: JobView, record: FailureRecord, now: number): PodPlan {
  const { job, active } = view;
  if (job.spec.suspend) return active.length > 0 ? { type: 'delete', pods: podsToRemove(view, active.length, now) } : { type: 'none' };
  const wanted = wantedActive(view);
  const surplus = podsToRemove(view, Math.max(0, active.length - wanted), now).slice(0, BURST);
  if (surplus.length > 0) return { type: 'delete', pods: surplus };
  const missing = Math.min(BURST, wanted - active.length - (replacesFailedOnly(job) ? view.terminating : 0));
  if (missing <= 0) return { type: 'none' };
  if (view.indexed && hasLimitPerIndex(job)) return planIndexes(view, view.indexed, missing, now);
  const ms = remainingBackOff(record, now);
  if (ms > 0) return { type: 'wait', ms };
  const indexes = view.indexed ? pendingIndexes(view, view.indexed, missing) : Array.from({ length: missing }, () => undefined);
  return indexes.length > 0 ? { type: 'create', indexes } : { type: 'none' };
}

function wantedActive({ job, active, succeeded }: JobView): number {
  const parallelism: number = job.spec.parallelism ?? 1;
  const { completions } = job.spec;
  if (completions === undefined) return succeeded > 0 ? active.length : parallelism;
  return Math.max(0, Math.min(completions - succeeded, parallelism));
}

/** Each index fails and waits on its own. */
function planIndexes(view: JobView, indexed: IndexedView, missing: number, now: number): PodPlan {
  let shortest: number | undefined;
  const ready = pendingIndexes(view, indexed, missing).filter((index) => {
    const last = indexed.lastFailed.get(index);
    const wait = last ? remainingBackOff({ failures: failuresBefore(last) + 1, lastFailure: finishedAt(last) }, now) : 0;
    if (wait > 0 && (shortest === undefined || wait < shortest)) shortest = wait;
    return wait === 0;
  });
  if (ready.length > 0) return { type: 'create', indexes: ready };
  return shortest === undefined ? { type: 'none' } : { type: 'wait', ms: shortest };
}

function pendingIndexes(view: JobView, { completions, succeeded, failed }: IndexedView, count: number): number[] {
  const occupied = view.active.concat(replacesFailedOnly(view.job) ? view.pods.filter(isTerminating) : []);
  const taken = Indexes.of(occupied.map(indexOf).filter((index) => index >= 0));
  return succeeded
    .union(taken)
    .union(failed ?? Indexes.none)
    .missing(count, completions);
}

/** Pods with the index of another or with none go in any case; then those that are missed least, until there are enough. */
function podsToRemove({ active, indexed }: JobView, atLeast: number, now: number): KubeObject[] {
  const ranked = [...active].sort((a, b) => comparePods(a, b, now));
  if (!indexed) return ranked.slice(0, atLeast);
  const kept = new Map<number, KubeObject>();
  for (const pod of ranked) if (indexOf(pod) >= 0 && indexOf(pod) < indexed.completions) kept.set(indexOf(pod), pod);
  const keepers = new Set(kept.values());
  const removed = ranked.filter((pod) => !keepers.has(pod));
  const more = Math.max(0, atLeast - removed.length);
  return [...removed, ...ranked.filter((pod) => keepers.has(pod)).slice(0, more)];
}
