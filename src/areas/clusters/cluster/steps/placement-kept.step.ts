import { ClusterCondition } from '../../../../api/tenantry.dev/v1alpha1/cluster-names.ts';
import type { TenantCluster } from '../../../../api/tenantry.dev/v1alpha1/tenant-cluster.ts';
import { done } from '../../../../runtime/steps/outcome.ts';
import type { Step } from '../../../../runtime/steps/run-steps.ts';
import type { ClusterPorts } from '../cluster.steps.ts';

/** Goes on whatever became of it: Runs that have yet to end keep nothing else of the cluster waiting, and `status.placement` tells. */
export function placementKept(ports: Pick<ClusterPorts, 'connection' | 'keepPlacement'>): Step<TenantCluster> {
  return {
    name: ClusterCondition.PlacementKept,
    async run(cluster) {
      if (cluster.spec.placement === undefined && cluster.status?.placement === undefined) return done('NotAsked');
      const { tenantClient } = await ports.connection(cluster);
      const state = await ports.keepPlacement(cluster, tenantClient);
      const { placement: _, ...status } = cluster.status ?? {};
      cluster.status = { ...status, ...(state && { placement: { ...state, observedGeneration: cluster.metadata.generation } }) };
      return done(state?.phase ?? 'NotAsked', state && state.left > 0 ? `${state.left} Runs have yet to end where they began` : '');
    },
  };
}
