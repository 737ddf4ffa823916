import { ClusterCondition } from '../../../../api/tenantry.dev/v1alpha1/cluster-names.ts';
import type { TenantCluster } from '../../../../api/tenantry.dev/v1alpha1/tenant-cluster.ts';
import { done } from '../../../../runtime/steps/outcome.ts';
import type { Step } from '../../../../runtime/steps/run-steps.ts';
import { withListener, type ClusterNetwork } from '../../vpc/model/cluster-place.ts';
import type { ClusterPorts } from '../cluster.steps.ts';

/** Its workers find names of the world and images at the platform. Without that they work all the same, and the condition says what is missing. */
export function platformServed({ services, servedAddresses }: Pick<ClusterPorts, 'services' | 'servedAddresses'>): Step<TenantCluster> {
  return {
    name: ClusterCondition.PlatformServed,
    async run(cluster) {
      const network = cluster.status?.network;
      if (network === undefined) return done('NoNetwork');
      const failed = (await services.serve([...servedAddresses(), network.address])).get(network.address);
      const names = services.listeners.map(({ name }) => name);
      const others: ClusterNetwork = { ...network, listeners: (network.listeners ?? []).filter(({ name }) => !names.includes(name)) };
      const listeners = failed === undefined ? services.listeners : [];
      cluster.status = { ...cluster.status, network: listeners.reduce((so, listener) => withListener(so, { ...listener }), others) };
      return failed === undefined ? done('Served', 'names and images') : done('NotServed', `names and images cannot be served: ${failed}`);
    },
  };
}
