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
  /** When runtimed was last heard of, by our own watch: the clocks of two machines are not compared, and no step of one makes a Pod look dead. */
  heartbeat: number;
  /** What the last heartbeat said of itself. */
  probe?: string;
}

/** Wall time, for what was there before us, and our own watch. */
export interface Moment {
  now: number;
  monotonic: number;
}

/** runtimed says it lives every five seconds; a Pod that was silent for three of them gets no new Runs. */
export const FRESH_MS = 15_000;

/** @param before the Pod as it was known until now */
export function runtimePod(pod: KubeObject, before: RuntimePod | undefined, moment: Moment): RuntimePod {
  const conditions: Json[] = pod.status?.conditions ?? [];
  const runtimed = findCondition(conditions, RUNTIMED_READY);
  const probe: string | undefined = runtimed?.lastProbeTime;
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
    heartbeat: heard(probe, before?.uid === pod.metadata.uid ? before : undefined, moment),
    probe,
  };
}

/** A Pod that is seen for the first time is believed what it says of the time; if that is long ago, it has to be heard of first. */
function heard(probe: string | undefined, before: RuntimePod | undefined, { now, monotonic }: Moment): number {
  if (probe === undefined) return -Infinity;
  if (before === undefined) return monotonic - Math.max(0, now - (parseTime(probe) ?? 0));
  return before.probe === probe ? before.heartbeat : monotonic;
}

export function isFresh(pod: RuntimePod, monotonic: number): boolean {
  return pod.available && monotonic - pod.heartbeat <= FRESH_MS;
}

/** Whether a change of the Pod may let a waiting Run start: a mere heartbeat of a Pod that was fresh does not. */
export function mayHelp(before: RuntimePod | undefined, after: RuntimePod, monotonic: number): boolean {
  if (!isFresh(after, monotonic)) return false;
  if (before === undefined || !isFresh(before, monotonic)) return true;
  return [...after.capacity].some(([name, amount]) => amount > (before.capacity.get(name) ?? 0));
}
