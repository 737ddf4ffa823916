import { ClusterPolicyKind, selectsTenant } from '../../../../api/tenantry.dev/v1alpha1/cluster-policy.ts';
import type { Tenant } from '../../../../api/tenantry.dev/v1alpha1/tenant.ts';
import type { Client } from '../../../../client/client.ts';
import { isStatusError } from '../../../../kube/status.ts';
import { NO_CLUSTERS } from '../../tenant/isolation/isolation-provider.ts';

/** Why the tenant can have no cluster of its own. Whether one fits into what the policies allow is asked when it is made, and told by the Tenant. */
export function clusterRefusal(client: Client): (tenant: Tenant) => Promise<string | undefined> {
  return async (tenant) => {
    try {
      const { items } = await client.resource(ClusterPolicyKind).list();
      if (items.some((policy) => selectsTenant(policy, tenant))) return undefined;
      return 'Cannot give the tenant isolation "Cluster": no ClusterPolicy allows it to have clusters; make one that selects it';
    } catch (error) {
      // Nobody serves the kind.
      if (isStatusError(error, 'NotFound')) return NO_CLUSTERS;
      throw error;
    }
  };
}
