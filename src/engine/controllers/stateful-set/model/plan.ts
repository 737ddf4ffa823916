import type { KubeObject } from '../../../../kube/object.ts';
import { isAvailable, isTerminal } from '../../workload/model/pod-state.ts';
import { hasIdentity, isInRange, ordinalOf, revisionOf, startOrdinal } from './identity.ts';

export type Action =
  /** `current`: with the older revision, because the partition keeps it. */
  | { type: 'create'; ordinal: number; current: boolean }
  | { type: 'delete'; pod: KubeObject }
  /** Labels, claims and their owners are brought in line. */
  | { type: 'repair'; pod: KubeObject };

export interface StatefulState {
  set: KubeObject;
  pods: readonly KubeObject[];
  /** Name of the revision that Pods should have. */
  updateRevision: string;
  /** Whether the claims of a Pod are there and owned as the retention policy says. */
  claimsAreRight(pod: KubeObject): boolean;
  now: number;
}

/** What to do now. In order, one thing waits for the other; in parallel all is done at once. */
export function planStatefulSet(state: StatefulState): Action[] {
  const { set } = state;
  const replicas: number = set.spec.replicas ?? 1;
  const byOrdinal = new Map(state.pods.map((pod) => [ordinalOf(set, pod), pod]));
  const ordinals = Array.from({ length: replicas }, (_, i) => startOrdinal(set) + i);
  const actions: Action[] = [];
  const ordered = set.spec.podManagementPolicy !== 'Parallel';
  for (const ordinal of ordinals) {
    const waits = planReplica(state, ordinal, byOrdinal.get(ordinal), actions);
    if (waits && ordered) return actions;
  }
  const condemned = state.pods.filter((pod) => ordinalOf(set, pod) >= 0 && !isInRange(set, ordinalOf(set, pod)));
  condemned.sort((a, b) => ordinalOf(set, b) - ordinalOf(set, a));
  for (const pod of condemned) if (!state.claimsAreRight(pod)) actions.push({ type: 'repair', pod });
  if (planCondemned(state, condemned, actions, ordered)) return actions;
  if (set.spec.updateStrategy?.type !== 'OnDelete') planUpdate(state, ordinals, byOrdinal, actions);
  return actions;
}

/** @returns whether the ordinals above have to wait for this one */
function planReplica(state: StatefulState, ordinal: number, pod: KubeObject | undefined, actions: Action[]): boolean {
  if (!pod) {
    actions.push({ type: 'create', ordinal, current: keepsCurrent(state.set, ordinal) });
    return true;
  }
  const leaving = pod.metadata.deletionTimestamp !== undefined;
  if (isTerminal(pod)) {
    if (!leaving) actions.push({ type: 'delete', pod });
    return true;
  }
  if (!leaving && (!hasIdentity(pod) || !state.claimsAreRight(pod))) actions.push({ type: 'repair', pod });
  return leaving || !available(state, pod);
}

/** @returns whether the update has to wait */
function planCondemned(state: StatefulState, condemned: readonly KubeObject[], actions: Action[], ordered: boolean): boolean {
  // Only the lowest of the broken ones may go first: the others would break what is still whole.
  const firstBroken = condemned.findLast((pod) => !available(state, pod) || pod.metadata.deletionTimestamp !== undefined);
  for (const pod of condemned) {
    const leaving = pod.metadata.deletionTimestamp !== undefined;
    if (!ordered) {
      if (!leaving) actions.push({ type: 'delete', pod });
      continue;
    }
    if (!leaving && (available(state, pod) || pod === firstBroken)) actions.push({ type: 'delete', pod });
    return true;
  }
  return false;
}

/** From the highest ordinal down to the partition: replaces the first outdated Pod, and waits for each that is not available. */
function planUpdate(
  state: StatefulState,
  ordinals: readonly number[],
  byOrdinal: ReadonlyMap<number, KubeObject>,
  actions: Action[],
): void {
  const partition: number = state.set.spec.updateStrategy?.rollingUpdate?.partition ?? 0;
  // The partition counts positions, not ordinals.
  for (const ordinal of ordinals.slice(partition).reverse()) {
    const pod = byOrdinal.get(ordinal);
    const leaving = pod?.metadata.deletionTimestamp !== undefined;
    if (pod && !leaving && revisionOf(pod) !== state.updateRevision) {
      actions.push({ type: 'delete', pod });
      return;
    }
    if (!pod || leaving || !available(state, pod)) return;
  }
}

/** Ordinals below the partition are created as they were. */
function keepsCurrent(set: KubeObject, ordinal: number): boolean {
  const { type, rollingUpdate } = set.spec.updateStrategy ?? {};
  if (type === 'OnDelete') return false;
  const kept: number = rollingUpdate ? (rollingUpdate.partition ?? 0) : (set.status?.currentReplicas ?? 0);
  return ordinal < startOrdinal(set) + kept;
}

function available({ set, now }: StatefulState, pod: KubeObject): boolean {
  return pod.status?.phase === 'Running' && isAvailable(pod, set.spec.minReadySeconds ?? 0, now);
}
