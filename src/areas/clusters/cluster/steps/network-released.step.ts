import { ClusterCondition, ClusterReason } from '../../../../api/tenantry.dev/v1alpha1/cluster-names.ts';
import type { TenantCluster } from '../../../../api/tenantry.dev/v1alpha1/tenant-cluster.ts';
import { done, waiting } from '../../../../runtime/steps/outcome.ts';
import type { Step } from '../../../../runtime/steps/run-steps.ts';
import { isLeftOver, wantsNetwork } from '../../vpc/model/cluster-place.ts';
import type { ClusterPorts } from '../cluster.steps.ts';

const RETRY_MS = 5000;

type Ports = Pick<ClusterPorts, 'vpcOf' | 'othersOf' | 'ensureNetwork'>;

/**
 * Its place in the VPC is given up, which is written first: what is planned of networks comes from what is written. A VPC that was made for clusters goes with
 * the last of them, and the cluster is not gone before.
 */
export function networkReleased({ vpcOf, othersOf, ensureNetwork }: Ports): Step<TenantCluster> {
  return {
    name: ClusterCondition.NetworkReleased,
    async run(cluster) {
      if (cluster.status?.network !== undefined) {
        const { network: _, ...rest } = cluster.status;
        cluster.status = rest;
        return waiting(ClusterReason.NetworkLeaving, 'its place in the VPC is given up');
      }
      const vpc = vpcOf(cluster);
      if (vpc === undefined) return done('Released');
      const others = othersOf(cluster);
      const isLeaving = vpc.metadata.deletionTimestamp !== undefined || isLeftOver(vpc, others);
      if (isLeaving && !others.some(wantsNetwork)) {
        return waiting(ClusterReason.NetworkLeaving, `the VPC of tenant "${cluster.metadata.namespace}" goes`);
      }
      const network = await ensureNetwork(cluster.metadata.namespace!);
      return network.state === 'NotMade' ? waiting(ClusterReason.NetworkNotReady, network.message, RETRY_MS) : done('Released');
    },
  };
}
