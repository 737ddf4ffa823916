import { ClusterPolicyKind } from '../../../api/tenantry.dev/v1alpha1/cluster-policy.ts';
import { TenantClusterKind, type TenantCluster } from '../../../api/tenantry.dev/v1alpha1/tenant-cluster.ts';
import { TenantKind } from '../../../api/tenantry.dev/v1alpha1/tenant.ts';
import type { Clock } from '../../../lib/clock.ts';
import type { AdmissionHandler, AdmissionVerdict } from '../../../runtime/admission/review.ts';
import type { SharedInformers } from '../../../runtime/informer/shared-informers.ts';
import { boundsOf } from '../policy/model/bounds.ts';
import type { Offers } from '../policy/model/offers.ts';
import { newViolations, violationsOf, type Violation } from '../policy/model/violations.ts';
import type { TenantNetworks } from '../vpc/tenant-networks.ts';
import { wantsNetwork } from '../vpc/model/cluster-place.ts';
import { JustAdmitted } from './just-admitted.ts';

/** Nothing beyond the bounds is let in; nothing that is inside already is kept from being changed. */
export async function tenantClusterHandler(
  informers: SharedInformers,
  offers: Offers,
  networks: Pick<TenantNetworks, 'ask'>,
  clock: Clock,
): Promise<AdmissionHandler> {
  const clusters = informers.get(TenantClusterKind);
  const policies = informers.get(ClusterPolicyKind);
  const tenants = informers.get(TenantKind);
  await informers.whenSynced();
  const admitted = new JustAdmitted(clusters, clock);

  return async ({ operation, object, oldObject, namespace = '', dryRun }) => {
    const cluster = object as TenantCluster;
    const before = operation === 'UPDATE' ? (oldObject as TenantCluster) : undefined;
    // What is on its way out, or changed by its controller alone, is not judged.
    if (cluster.metadata.deletionTimestamp !== undefined) return { allowed: true };
    // Clusters without a network do not wait for what finds out whether there are any.
    if (wantsNetwork(cluster)) await networks.ask();
    const tenant = tenants.get(namespace);
    const others = admitted.of(namespace).filter(({ metadata }) => metadata.name !== cluster.metadata.name);
    const verdict = ((): AdmissionVerdict => {
      if (tenant === undefined) {
        if (before !== undefined) return { allowed: true };
        return refused(cluster, `namespace "${namespace}" is not the root namespace of a tenant; make it in one that is`);
      }
      const bounds = boundsOf(tenant, [...policies.list()]);
      if (bounds === undefined) {
        if (before !== undefined) return { allowed: true };
        return refused(cluster, `no ClusterPolicy allows tenant "${namespace}" to have clusters; ask the operator for one`);
      }
      const judge = (each: TenantCluster): Violation[] => violationsOf(each, others, bounds, offers, clock.now());
      const [violation] = before === undefined ? judge(cluster) : newViolations(judge(before), judge(cluster));
      return violation === undefined ? { allowed: true } : refused(cluster, violation.message);
    })();
    if (verdict.allowed && dryRun !== true) admitted.add(cluster);
    return verdict;
  };
}

function refused({ metadata }: TenantCluster, why: string): AdmissionVerdict {
  return { allowed: false, message: `Cannot have cluster "${metadata.name ?? metadata.generateName}": ${why}` };
}
