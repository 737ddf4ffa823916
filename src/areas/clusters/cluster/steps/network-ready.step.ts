import { ClusterCondition, ClusterReason } from '../../../../api/tenantry.dev/v1alpha1/cluster-names.ts';
import type { TenantCluster } from '../../../../api/tenantry.dev/v1alpha1/tenant-cluster.ts';
import { done, stalled, waiting } from '../../../../runtime/steps/outcome.ts';
import type { Step } from '../../../../runtime/steps/run-steps.ts';
import { defaultVpc, placeOf, wantsNetwork } from '../../vpc/model/cluster-place.ts';
import type { ClusterPorts } from '../cluster.steps.ts';

/** What the kernel or a program refused may be in order again at any time, and nothing tells when. */
const RETRY_MS = 5000;

type Ports = Pick<ClusterPorts, 'vpcOf' | 'makeVpc' | 'othersOf' | 'ensureNetwork'>;

/** It has a place in the VPC of its tenant, and packets pass there. One without workers that asks for none has no network. */
export function networkReady({ vpcOf, makeVpc, othersOf, ensureNetwork }: Ports): Step<TenantCluster> {
  return {
    name: ClusterCondition.NetworkReady,
    async run(cluster) {
      if (!wantsNetwork(cluster)) return done('NotAsked');
      const tenant = cluster.metadata.namespace!;
      const vpc = vpcOf(cluster);
      if (vpc === undefined) {
        await makeVpc(defaultVpc(tenant, cluster.spec.network?.subnet));
        return waiting(ClusterReason.NetworkNotReady, `the VPC of tenant "${tenant}" is made`);
      }
      if (vpc.metadata.deletionTimestamp !== undefined && cluster.status?.network === undefined) {
        return waiting(ClusterReason.NetworkNotReady, `the VPC of tenant "${tenant}" is being deleted`);
      }
      if (vpc.status?.transit === undefined) return waiting(ClusterReason.NetworkNotReady, `the VPC of tenant "${tenant}" is made`);
      const place = placeOf(cluster, vpc, othersOf(cluster));
      if ('problem' in place) return stalled(ClusterReason.NoPlace, place.problem);
      const network = await ensureNetwork(tenant);
      if (network.state === 'NoNetworks') return stalled(ClusterReason.NoNetworks, network.message);
      if (network.state !== 'Made') return waiting(ClusterReason.NetworkNotReady, network.message, RETRY_MS);
      cluster.status = { ...cluster.status, network: place.network };
      return done('Connected', `subnet ${place.network.subnet} (${place.network.cidr}) of VPC ${tenant}`);
    },
  };
}
