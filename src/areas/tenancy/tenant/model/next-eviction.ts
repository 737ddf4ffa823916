import type { PlanFacts, PodFact, TenantPlan, WorkloadMove } from '../../../../api/tenantry.dev/v1alpha1/plan.ts';

/** How long a Pod that took the place of a moved one may take to become ready before the move goes on without it. */
export const REPLACEMENT_MS = 5 * 60_000;

/** The last Pod of a workload that went, and how many there were with it. */
export interface Eviction {
  workload: Pick<WorkloadMove, 'namespace' | 'kind' | 'name'>;
  /** Whose it is: the successors of others, once off the nodes, are not waited for. */
  tenant: string | undefined;
  uid: string;
  pods: number;
  at: number;
}

/** Of one move, by workload. */
export type Evictions = ReadonlyMap<string, Eviction>;

export interface EvictionChoice {
  /** Workloads whose next Pod may go, in order. The first that its disruption budget lets go is the one. */
  candidates: { workload: WorkloadMove; pod: PodFact }[];
  /** What the move waits for before the next Pod goes. */
  waitsFor?: { workload: WorkloadMove; why: string };
}

/**
 * One workload at a time, one Pod of it at a time: the next goes when the one before has its successor ready. What others have on the
 * tenant's nodes goes first. Pods that nothing makes again are left to their owners.
 */
export function nextEviction(plan: TenantPlan, facts: PlanFacts, evictions: Evictions, now: number): EvictionChoice {
  const candidates: EvictionChoice['candidates'] = [];
  for (const workload of [...plan.displaced, ...plan.moves]) {
    if (workload.kind === 'Pod') continue;
    const why = unfinished(workload, facts, evictions.get(workloadKey(workload)), now);
    if (why !== undefined) return { candidates: [], waitsFor: { workload, why } };
    candidates.push({ workload, pod: workload.pods.find((pod) => !pod.ready) ?? workload.pods[0] });
  }
  if (candidates.length > 0) return { candidates };
  for (const last of evictions.values()) {
    if (last.tenant !== plan.tenant) continue;
    const workload = { ...last.workload, pods: [] };
    const why = unfinished(workload, facts, last, now);
    if (why !== undefined) return { candidates, waitsFor: { workload, why } };
  }
  return { candidates };
}

export function workloadKey({ namespace, kind, name }: Pick<WorkloadMove, 'namespace' | 'kind' | 'name'>): string {
  return `${namespace}/${kind}/${name}`;
}

/** All Pods of the workload, those in place included. */
export function podsOf({ namespace, kind, name }: Eviction['workload'], facts: PlanFacts): PodFact[] {
  return facts.pods.filter(
    (pod) => pod.namespace === namespace && pod.controller?.kind === kind && pod.controller.name === name && !pod.terminating,
  );
}

function unfinished(workload: WorkloadMove, facts: PlanFacts, last: Eviction | undefined, now: number): string | undefined {
  if (workload.pods.some(({ terminating }) => terminating)) return 'a Pod of it is ending';
  const leaving = new Set(workload.pods);
  // The caches may not have heard of the last one yet.
  const present = podsOf(workload, facts).filter(({ uid }) => uid !== last?.uid);
  const isMissing = last !== undefined && present.length < last.pods && now - last.at < REPLACEMENT_MS;
  const isStarting = present.some((pod) => !leaving.has(pod) && !pod.ready && now - pod.createdAt < REPLACEMENT_MS);
  return isMissing || isStarting ? 'a Pod that takes over is starting' : undefined;
}
