import { ClusterCondition, ClusterReason } from '../../../../api/tenantry.dev/v1alpha1/cluster-names.ts';
import type { TenantCluster } from '../../../../api/tenantry.dev/v1alpha1/tenant-cluster.ts';
import { deepEqual } from '../../../../kube/json-value.ts';
import { done, waiting } from '../../../../runtime/steps/outcome.ts';
import type { Step } from '../../../../runtime/steps/run-steps.ts';
import { takenAddresses, wantedBalancers } from '../../access/load-balancer/model/wanted-balancers.ts';
import { externalOf } from '../../access/external/model/external-services.ts';
import type { ClusterPorts } from '../cluster.steps.ts';

/** What the kernel or a program refused may be in order again at any time, and nothing tells when. */
const RETRY_MS = 5000;

type Ports = Pick<ClusterPorts, 'balancers' | 'vpcOf' | 'othersOf' | 'ensureNetwork'>;

/** Services of the type LoadBalancer have an address in the cluster's subnet. It is written down before it is made, and told when it is. */
export function servicesPublished({ balancers: open, vpcOf, othersOf, ensureNetwork }: Ports): Step<TenantCluster> {
  return {
    name: ClusterCondition.ServicesPublished,
    async run(cluster) {
      const network = cluster.status?.network;
      if (network === undefined) return done('NoNetwork');
      const inside = await open(cluster);
      const recorded = cluster.status?.loadBalancers ?? [];
      const seen = await inside.inside();
      // What is served stays as it is written down. Nothing else of the cluster waits for it: its mandatory parts least of all.
      if (seen.surplus !== undefined) return done(ClusterReason.TooManyObjects, seen.surplus);
      const { balancers, problems } = wantedBalancers(cluster, seen, takenAddresses(cluster, othersOf(cluster)));
      for (const [service, message] of problems) inside.warn(service, message);
      const gone = recorded.filter(({ service }) => !balancers.some((one) => one.service === service));
      for (const { service } of gone) await inside.withdraw(service);
      if (!deepEqual(recorded, balancers)) {
        cluster.status = { ...cluster.status, loadBalancers: balancers };
        // The write of it comes back here.
        return done('Recorded');
      }
      if (balancers.length === 0) return done('None');
      const made = await ensureNetwork(network.vpc);
      if (made.state !== 'Made') return waiting(ClusterReason.NetworkNotReady, made.message, RETRY_MS);
      for (const balancer of balancers)
        await inside.publish(balancer, externalOf(vpcOf(cluster), cluster.metadata.name!, balancer.service));
      return done('Published', balancers.map(({ service, address }) => `${service} at ${address}`).join(', '));
    },
  };
}
