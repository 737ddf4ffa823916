import { setCondition, type Condition } from '../../../../kube/conditions.ts';
import { scaledValue } from '../../../../kube/int-or-string.ts';
import type { Json, KubeObject } from '../../../../kube/object.ts';
import { isReady } from '../../workload/model/pod-state.ts';

/** An evicted Pod that is still not being deleted after this was not evicted after all. */
export const DELETION_TIMEOUT_MS = 2 * 60_000;

/** Whether the scale of the controllers is needed, or the number of Pods is enough. */
export function needsScale({ spec }: KubeObject): boolean {
  return spec.maxUnavailable !== undefined || typeof spec.minAvailable === 'string';
}

export function desiredHealthy({ spec }: KubeObject, expected: number): number {
  if (spec.maxUnavailable !== undefined) return Math.max(0, expected - scaledValue(spec.maxUnavailable, expected, 'up'));
  return spec.minAvailable === undefined ? 0 : scaledValue(spec.minAvailable, expected, 'up');
}

export interface Disrupted {
  pods: Record<string, string>;
  /** Evicted long ago and still there. */
  notDeleted: KubeObject[];
  /** Milliseconds until the next of them has to be looked at. */
  recheckMs?: number;
}

/** Which of the evicted Pods are still expected to go. */
export function stillDisrupted(budget: KubeObject, pods: readonly KubeObject[], now: number): Disrupted {
  const known: Record<string, string> = budget.status?.disruptedPods ?? {};
  const disrupted: Disrupted = { pods: {}, notDeleted: [] };
  for (const pod of pods) {
    const since = known[pod.metadata.name!];
    if (since === undefined || pod.metadata.deletionTimestamp !== undefined) continue;
    const left = Date.parse(since) + DELETION_TIMEOUT_MS - now;
    if (left < 0) {
      disrupted.notDeleted.push(pod);
      continue;
    }
    disrupted.pods[pod.metadata.name!] = since;
    // One more, so that it has passed for sure.
    disrupted.recheckMs = Math.min(disrupted.recheckMs ?? Infinity, left + 1);
  }
  return disrupted;
}

export function budgetStatus(
  budget: KubeObject,
  pods: readonly KubeObject[],
  expected: number,
  disrupted: Record<string, string>,
  now: number,
): Json {
  const healthy = pods.filter((pod) => {
    return pod.metadata.deletionTimestamp === undefined && disrupted[pod.metadata.name!] === undefined && isReady(pod);
  }).length;
  const desired = desiredHealthy(budget, expected);
  const allowed = expected <= 0 ? 0 : Math.max(0, healthy - desired);
  const observedGeneration = budget.metadata.generation;
  return {
    observedGeneration,
    disruptedPods: Object.keys(disrupted).length > 0 ? disrupted : undefined,
    disruptionsAllowed: allowed,
    currentHealthy: healthy,
    desiredHealthy: desired,
    expectedPods: expected,
    conditions: withAllowed(
      budget,
      allowed > 0 ? 'True' : 'False',
      allowed > 0 ? 'SufficientPods' : 'InsufficientPods',
      '',
      observedGeneration,
      now,
    ),
  };
}

/** Nothing may go while the numbers are unknown. */
export function failedStatus(budget: KubeObject, message: string, now: number): Json {
  const { status } = budget;
  const zero = { currentHealthy: 0, desiredHealthy: 0, expectedPods: 0 };
  const conditions = withAllowed(budget, 'False', 'SyncFailed', message, status?.observedGeneration, now);
  return { ...zero, ...status, disruptionsAllowed: 0, conditions };
}

function withAllowed(
  budget: KubeObject,
  status: 'True' | 'False',
  reason: string,
  message: string,
  observedGeneration: number | undefined,
  now: number,
): Condition[] {
  const conditions: Condition[] = (budget.status?.conditions ?? []).map((condition: Condition) => ({ ...condition }));
  setCondition(conditions, { type: 'DisruptionAllowed', status, reason, message, observedGeneration }, new Date(now));
  return conditions;
}
