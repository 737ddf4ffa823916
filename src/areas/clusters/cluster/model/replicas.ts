import type { TenantCluster } from '../../../../api/tenantry.dev/v1alpha1/tenant-cluster.ts';
import type { RunningControlPlane } from '../../control-plane/control-planes.ts';

/** Providers of this area make processes of one machine, and status says so. */
export function replicasStatus({ replicas: { wanted, ready } }: RunningControlPlane): NonNullable<TenantCluster['status']>['controlPlane'] {
  return { replicas: wanted, ready: Math.min(ready, wanted), spread: 'OneMachine' };
}

export function servingText({ replicas: { wanted, ready, note }, endpoint }: RunningControlPlane, provider: string): string {
  if (wanted === 1) return `one replica (${provider}) at ${endpoint}`;
  const missing = ready >= wanted ? '' : `; ${note ?? 'the others are being started'}`;
  return `${ready} of ${wanted} replicas (${provider}, on one machine) at ${endpoint}${missing}`;
}
