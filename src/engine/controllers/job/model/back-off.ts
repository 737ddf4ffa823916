import type { Json, KubeObject } from '../../../../kube/object.ts';

const INITIAL_MS = 10_000;
const LONGEST_MS = 10 * 60_000;

/** Failures in a row since the last success. */
export interface FailureRecord {
  failures: number;
  lastFailure?: number;
}

export function recordAfter(before: FailureRecord, succeeded: readonly KubeObject[], failed: readonly KubeObject[]): FailureRecord {
  const failures = failed.map(finishedAt);
  if (succeeded.length === 0) {
    if (failures.length === 0) return before;
    return { failures: before.failures + failures.length, lastFailure: Math.max(...failures) };
  }
  const lastSuccess = Math.max(...succeeded.map(finishedAt));
  const since = failures.filter((time) => time > lastSuccess);
  return since.length > 0 ? { failures: since.length, lastFailure: Math.max(...since) } : { failures: 0 };
}

/** Milliseconds until the next Pod may be made: ten seconds after the first failure, doubling up to ten minutes. */
export function remainingBackOff({ failures, lastFailure }: FailureRecord, now: number): number {
  if (failures === 0 || lastFailure === undefined) return 0;
  return Math.max(0, Math.min(LONGEST_MS, INITIAL_MS * 2 ** Math.min(failures - 1, 30)) - (now - lastFailure));
}

/** When a Pod ended: the end of its last container, or what comes nearest to that. */
export function finishedAt(pod: KubeObject): number {
  const ends: (string | undefined)[] = (pod.status?.containerStatuses ?? []).map(({ state }: Json) => state?.terminated?.finishedAt);
  if (ends.length > 0 && ends.every(Boolean)) return Math.max(...ends.map((end) => Date.parse(end!)));
  const unready = (pod.status?.conditions ?? []).find((one: Json) => one.type === 'Ready' && one.status === 'False');
  if (unready?.lastTransitionTime) return Date.parse(unready.lastTransitionTime);
  const { deletionTimestamp, deletionGracePeriodSeconds = 0, creationTimestamp } = pod.metadata as Json;
  if (deletionTimestamp !== undefined) return Date.parse(deletionTimestamp) - deletionGracePeriodSeconds * 1000;
  return Date.parse(creationTimestamp ?? '') || 0;
}
