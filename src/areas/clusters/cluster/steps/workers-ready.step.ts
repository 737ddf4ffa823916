import { ClusterCondition } from '../../../../api/tenantry.dev/v1alpha1/cluster-names.ts';
import type { TenantCluster } from '../../../../api/tenantry.dev/v1alpha1/tenant-cluster.ts';
import { done, type Outcome } from '../../../../runtime/steps/outcome.ts';
import type { Step } from '../../../../runtime/steps/run-steps.ts';
import type { ClusterPorts } from '../cluster.steps.ts';

/**
 * The work and the word of it are two steps: workers take their time, or cannot be had, and nothing else of the cluster waits for them.
 */
export function workerSteps(ports: Pick<ClusterPorts, 'keepWorkers'>): { kept: Step<TenantCluster>; ready: Step<TenantCluster> } {
  const outcomes = new WeakMap<TenantCluster, Outcome>();
  return {
    kept: {
      name: ClusterCondition.WorkersKept,
      async run(cluster) {
        outcomes.set(cluster, await ports.keepWorkers(cluster));
        return done('Kept');
      },
    },
    ready: {
      name: ClusterCondition.WorkersReady,
      run: (cluster) => outcomes.get(cluster)!,
    },
  };
}
