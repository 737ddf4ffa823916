import type { TenantCluster } from '../../../../api/tenantry.dev/v1alpha1/tenant-cluster.ts';
import { deepEqual } from '../../../../kube/json-value.ts';
import { wantsNetwork } from './cluster-place.ts';

/** Whether a change of a cluster changes anything of its tenant's network. */
export function concernsNetwork(before: TenantCluster, after: TenantCluster): boolean {
  // One that is deleted before it had a place says so by nothing else.
  if (wantsNetwork(before) !== wantsNetwork(after)) return true;
  const facts = ({ status }: TenantCluster) => [status?.network, status?.endpoint, status?.workers, status?.loadBalancers];
  return wantsNetwork(after) && !deepEqual(facts(before), facts(after));
}
