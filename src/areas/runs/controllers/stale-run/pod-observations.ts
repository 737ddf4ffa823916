import { RUNTIMED_READY } from '../../../../api/kruntimes.io/v1alpha1/reasons.ts';
import { findCondition } from '../../../../kube/conditions.ts';
import type { Json, KubeObject } from '../../../../kube/object.ts';
import { parseTime } from '../../../../kube/time.ts';
import type { Clock } from '../../../../lib/clock.ts';
import type { AssignedPod } from './model/judge-run.ts';

interface Observation {
  uid: string;
  /** What the last heartbeat said of itself. */
  probe: string | undefined;
  probeSeen: number;
  notReadySince?: number;
}

/**
 * Since when Pods are silent or not ready, as seen from here. A step of a clock, ours or a node's, makes no Pod look dead; and after a
 * restart every Pod has its whole time again to be heard of.
 */
export class PodObservations {
  readonly #clock: Clock;
  readonly #pods = new Map<string, Observation>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  see(key: string, pod: KubeObject): void {
    const now = this.#clock.monotonic();
    const conditions: Json[] = pod.status?.conditions ?? [];
    const probe: string | undefined = findCondition(conditions, RUNTIMED_READY)?.lastProbeTime;
    const ready = findCondition(conditions, 'Ready');
    const before = this.#pods.get(key);
    const known = before?.uid === pod.metadata.uid ? before : undefined;
    this.#pods.set(key, {
      uid: pod.metadata.uid!,
      probe,
      probeSeen: known !== undefined && known.probe === probe ? known.probeSeen : now,
      // A Pod that nobody has said anything of yet is not unready.
      ...(ready !== undefined && ready.status !== 'True' ? { notReadySince: known?.notReadySince ?? now } : {}),
    });
  }

  forget(key: string): void {
    this.#pods.delete(key);
  }

  /** The Pod as it is now. */
  state(key: string, pod: KubeObject): AssignedPod {
    const seen = this.#pods.get(key);
    const now = this.#clock.monotonic();
    const { deletionTimestamp, uid } = pod.metadata;
    const { phase } = pod.status ?? {};
    return {
      uid: uid!,
      isGoing: deletionTimestamp !== undefined,
      ...(deletionTimestamp === undefined ? {} : { overdueMs: this.#clock.now() - (parseTime(deletionTimestamp) ?? this.#clock.now()) }),
      hasEnded: phase === 'Failed' || phase === 'Succeeded',
      ...(seen?.uid === uid && seen?.notReadySince !== undefined ? { notReadyForMs: now - seen.notReadySince } : {}),
      ...(seen?.uid === uid && seen?.probe !== undefined ? { silentForMs: now - seen.probeSeen } : {}),
    };
  }
}
