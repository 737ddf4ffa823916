import { planFor, type PlanFacts, type PodFact, type TenantPlan } from '../../../../api/tenantry.dev/v1alpha1/plan.ts';
import { TenantCondition, TenantReason } from '../../../../api/tenantry.dev/v1alpha1/reasons.ts';
import type { Tenant } from '../../../../api/tenantry.dev/v1alpha1/tenant.ts';
import { findCondition, setCondition } from '../../../../kube/conditions.ts';
import { waiting, type Waiting } from '../../../../runtime/steps/outcome.ts';
import { nextEviction, podsOf, workloadKey, type Eviction } from '../model/next-eviction.ts';

export interface MovePorts {
  /** The Pods of the tenant and of its nodes, and all nodes. */
  facts(tenant: Tenant): Promise<PlanFacts>;
  isPinned(tenant: string): boolean;
  /** From then on the tenant's new Pods go to its own nodes, or do not. What is so already is not written. */
  pin(tenant: string): Promise<void>;
  unpin(tenant: string): Promise<void>;
  ownNodes(tenant: string): string[];
  takeNodes(tenant: string, nodes: readonly string[]): Promise<void>;
  releaseNodes(tenant: string, nodes: readonly string[]): Promise<void>;
  /** @returns false when a disruption budget keeps it */
  evict(pod: PodFact): Promise<boolean>;
  /** By tenant and workload; what is lost with the process is that a successor may be missing, and budgets still hold. */
  evictions: Map<string, Map<string, Eviction>>;
  /** The tenants that wait for Pods, their own or others', to come or go. */
  moving: Set<string>;
}

/** Disruption budgets change without any object of ours changing. */
const HELD_MS = 2000;
/** A Pod that never becomes ready is waited for by time. */
const STARTING_MS = 15_000;

export function plan(tenant: Tenant, facts: PlanFacts): TenantPlan {
  return planFor(tenant, tenant.spec, facts);
}

/** Evicts the next Pod that is not where it should be. @returns undefined when all are */
export async function moveNext(
  tenant: Tenant,
  moving: TenantPlan,
  facts: PlanFacts,
  now: number,
  { evict, evictions }: Pick<MovePorts, 'evict' | 'evictions'>,
): Promise<Waiting | undefined> {
  const total = moving.pods + moving.displaced.reduce((sum, { pods }) => sum + pods.length, 0);
  const left = [...moving.displaced, ...moving.moves].reduce((sum, { pods }) => sum + pods.length, 0);
  const name = tenant.metadata.name!;
  const under = evictions.get(name) ?? new Map<string, Eviction>();
  const { candidates, waitsFor } = nextEviction(moving, facts, under, now);
  if (left === 0 && !waitsFor) {
    evictions.delete(name);
    reportMoving(tenant, false, TenantReason.InPlace, `all ${moving.pods} Pods are in place`, now);
    return undefined;
  }
  const progress = (detail: string, afterMs: number): Waiting => {
    const message = `${total - left} of ${total} Pods are in place; ${detail}`;
    reportMoving(tenant, true, TenantReason.Moving, message, now);
    return waiting(TenantReason.Moving, message, afterMs);
  };
  if (waitsFor) return progress(`${nameOf(tenant, waitsFor.workload)}: ${waitsFor.why}`, STARTING_MS);
  for (const { workload, pod } of candidates) {
    if (!(await evict(pod))) continue;
    under.set(workloadKey(workload), { workload, tenant: pod.tenant, uid: pod.uid, pods: podsOf(workload, facts).length, at: now });
    evictions.set(name, under);
    return progress(`${nameOf(tenant, workload)} moves`, STARTING_MS);
  }
  const held =
    candidates.length > 0 ? `disruption budgets hold ${candidates.length} workloads` : 'Pods without a controller are in the way';
  return progress(held, HELD_MS);
}

/** Owners read it: what is not theirs has no name here. */
function nameOf(tenant: Tenant, { namespace, kind, name }: { namespace: string; kind: string; name: string }): string {
  const own = namespace === tenant.metadata.name || tenant.status?.namespaces?.includes(namespace);
  return own ? `${kind} ${namespace}/${name}` : 'a workload of others on its nodes';
}

/** Absent until the first move. */
export function reportMoving(tenant: Tenant, moves: boolean, reason: string, message: string, now: number): void {
  const status = (tenant.status ??= {});
  const conditions = (status.conditions ??= []);
  if (!moves && !findCondition(conditions, TenantCondition.Moving)) return;
  setCondition(conditions, { type: TenantCondition.Moving, status: moves ? 'True' : 'False', reason, message }, new Date(now));
}
