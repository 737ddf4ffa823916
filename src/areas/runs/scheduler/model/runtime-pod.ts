import { DRAINING_ANNOTATION } from '../../../../api/kruntimes.io/v1alpha1/names.ts';
import { RUNTIMED_READY } from '../../../../api/kruntimes.io/v1alpha1/reasons.ts';
import { findCondition, isConditionTrue } from '../../../../kube/conditions.ts';
import type { Json, KubeObject } from '../../../../kube/object.ts';
import { parseTime } from '../../../../kube/time.ts';
import { capacityOf, type ResourceAmounts } from '../../../../api/kruntimes.io/v1alpha1/capacity.ts';

/** What the scheduler keeps of a Runtime Pod. */
export interface RuntimePod {
  name: string;
  uid: string;
  capacity: ResourceAmounts;
  /** Everything but the freshness of the heartbeat, which time alone changes. */
  available: boolean;
  /** When runtimed was last heard of, in milliseconds since the epoch. */
  heartbeat: number;
}

/** runtimed says it lives every five seconds; a Pod that was silent for three of them gets no new Runs. */
export const FRESH_MS = 15_000;

export function runtimePod(pod: KubeObject): RuntimePod {
  const conditions: Json[] = pod.status?.conditions ?? [];
  const runtimed = findCondition(conditions, RUNTIMED_READY);
  return {
    name: pod.metadata.name!,
    uid: pod.metadata.uid!,
    capacity: capacityOf(pod),
    available:
      pod.status?.phase === 'Running' &&
      pod.metadata.deletionTimestamp === undefined &&
      pod.metadata.annotations?.[DRAINING_ANNOTATION] === undefined &&
      isConditionTrue(conditions, 'Ready') &&
      runtimed?.status === 'True',
    heartbeat: (runtimed && parseTime(runtimed.lastProbeTime ?? '')) ?? 0,
  };
}

export function isFresh(pod: RuntimePod, now: number): boolean {
  return pod.available && now - pod.heartbeat <= FRESH_MS;
}

/** Whether a change of the Pod may let a waiting Run start: a mere heartbeat of a Pod that was fresh does not. */
export function mayHelp(before: RuntimePod | undefined, after: RuntimePod, now: number): boolean {
  if (!isFresh(after, now)) return false;
  if (before === undefined || !isFresh(before, now)) return true;
  return [...after.capacity].some(([name, amount]) => amount > (before.capacity.get(name) ?? 0));
}
