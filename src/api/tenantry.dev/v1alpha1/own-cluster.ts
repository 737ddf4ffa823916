import { ClusterCondition, ClusterReason, PlacementPhase } from './cluster-names.ts';
import type { TenantCluster } from './tenant-cluster.ts';
import type { Tenant } from './tenant.ts';
import { findCondition } from '../../../kube/conditions.ts';

/** Left to itself a tenant gets one worker, which is what the smallest of its Runtimes needs. */
const ONE_WORKER = [{ name: 'workers', replicas: 1 }];

/** What the tenant's cluster may be, the best first: without machines for workers a cluster without is better than none. */
export function clusterCandidates({ spec: { cluster = {} } }: Tenant): TenantCluster['spec'][] {
  const { version, provider, nodePools } = cluster;
  const common = { ...(version !== undefined && { version }), ...(provider !== undefined && { controlPlane: { provider } }) };
  if (nodePools !== undefined) return [{ ...common, nodePools }];
  return [{ ...common, nodePools: ONE_WORKER }, common];
}

export function workersOf({ spec }: Pick<TenantCluster, 'spec'>): number {
  return (spec.nodePools ?? []).reduce((sum, { replicas }) => sum + replicas, 0);
}

/** Why it will get no workers, whoever waits; undefined: it may. */
export function whyNoWorkers({ status }: TenantCluster): string | undefined {
  const never: string[] = [ClusterReason.NoNetworks, ClusterReason.NoMachines];
  const found = [ClusterCondition.NetworkReady, ClusterCondition.WorkersReady].map((type) => findCondition(status?.conditions, type));
  return found.find((condition) => condition?.status === 'False' && never.includes(condition.reason ?? ''))?.message;
}

/** Ready for what its spec says now, and not for what it said before. */
export function isReady({ metadata, status }: TenantCluster): boolean {
  return status?.observedGeneration === metadata.generation && findCondition(status?.conditions, 'Ready')?.status === 'True';
}

/** What became of the placement that the spec asks for now; undefined: nobody has looked at it yet. */
export function placementOf({ metadata, status }: TenantCluster): { phase?: string; left: number } | undefined {
  const { phase, left = 0, observedGeneration } = status?.placement ?? {};
  return observedGeneration === metadata.generation ? { phase, left } : undefined;
}

/** Nothing of the tenant works in it, and nothing will. */
export function isEmpty(cluster: TenantCluster): boolean {
  if (cluster.spec.placement === undefined) return true;
  return (cluster.spec.placement.namespaces ?? []).length === 0 && placementOf(cluster)?.phase === PlacementPhase.Empty;
}

export function messageOf({ status }: TenantCluster): string {
  return findCondition(status?.conditions, 'Ready')?.message || 'it is being made';
}
