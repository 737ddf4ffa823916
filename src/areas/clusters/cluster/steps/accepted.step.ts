import { ClusterCondition, ClusterReason } from '../../../../api/tenantry.dev/v1alpha1/cluster-names.ts';
import type { TenantCluster } from '../../../../api/tenantry.dev/v1alpha1/tenant-cluster.ts';
import { done, stalled } from '../../../../runtime/steps/outcome.ts';
import type { Step } from '../../../../runtime/steps/run-steps.ts';
import { placementOf } from '../../policy/model/placement.ts';
import type { ClusterPorts } from '../cluster.steps.ts';
import { withVersion } from '../model/upgrade.ts';

/** Who serves it, and which version. One that is served already stays so, whatever became of the bounds. */
export function accepted({ tenantOf, boundsOf, offers }: Pick<ClusterPorts, 'tenantOf' | 'boundsOf' | 'offers'>): Step<TenantCluster> {
  return {
    name: ClusterCondition.Accepted,
    run(cluster, { now }) {
      const tenant = tenantOf(cluster);
      const isServed = cluster.status?.provider !== undefined;
      const bounds = tenant && boundsOf(tenant);
      if (bounds === undefined) {
        if (isServed) return done('Accepted');
        const { namespace } = cluster.metadata;
        if (tenant === undefined) return stalled(ClusterReason.NoTenant, `"${namespace}" is not the root namespace of a tenant`);
        return stalled(ClusterReason.NoPolicy, `no ClusterPolicy allows tenant "${namespace}" to have clusters`);
      }
      const placement = placementOf(cluster, bounds, offers, now());
      if ('refusal' in placement) return isServed ? done('Accepted') : stalled(ClusterReason.NoProvider, placement.refusal);
      cluster.status = { ...withVersion(cluster.status ?? {}, placement.version), provider: placement.provider };
      return done('Accepted');
    },
  };
}
