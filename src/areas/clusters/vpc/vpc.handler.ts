import { TenantClusterKind } from '../../../api/tenantry.dev/v1alpha1/tenant-cluster.ts';
import { TenantKind } from '../../../api/tenantry.dev/v1alpha1/tenant.ts';
import { VpcKind, type Vpc } from '../../../api/tenantry.dev/v1alpha1/vpc.ts';
import { deepEqual } from '../../../kube/json-value.ts';
import type { Clock } from '../../../lib/clock.ts';
import type { AdmissionHandler, AdmissionVerdict } from '../../../runtime/admission/review.ts';
import type { SharedInformers } from '../../../runtime/informer/shared-informers.ts';
import { JustAdmitted } from '../admission/just-admitted.ts';
import { residentsOf } from './model/network-plan.ts';
import { vpcRefusal } from './model/vpc-refusal.ts';
import { wantedVpc } from './model/wanted-vpc.ts';
import type { TenantNetworks } from './tenant-networks.ts';

/** Nothing is let in that could not be made beside what there is. */
export async function vpcHandler(informers: SharedInformers, networks: TenantNetworks, clock: Clock): Promise<AdmissionHandler> {
  const vpcs = informers.get(VpcKind);
  const clusters = informers.get(TenantClusterKind);
  const tenants = informers.get(TenantKind);
  await informers.whenSynced();
  const admitted = new JustAdmitted(vpcs, clock);

  const refusalOf = async (vpc: Vpc, before: Vpc | undefined, dryRun: boolean | undefined): Promise<string | undefined> => {
    const cannot = `Cannot have VPC "${vpc.metadata.name}"`;
    if (tenants.get(vpc.metadata.namespace!) === undefined) {
      return `${cannot}: namespace "${vpc.metadata.namespace}" is not the root namespace of a tenant; make it in one that is`;
    }
    const unable = await networks.ask();
    if (unable !== undefined) return `${cannot}: this installation has no networks for tenants: ${unable}`;
    const platform = await networks.platform();
    const cannotHere = await networks.refusal(wantedVpc(vpc, 1, []));
    if (cannotHere !== undefined) return cannotHere;
    if (vpc.spec.vpn && (await networks.routerOf(vpc.metadata.name!)) === undefined) {
      return `${cannot} with a VPN gateway: the routers of this provider run no programs; it takes the provider linux`;
    }
    // From here on nothing waits: what others were let in with is seen.
    const others = admitted.all().filter(({ metadata }) => metadata.namespace !== vpc.metadata.namespace);
    const takenVlans = new Set(others.flatMap(({ spec }) => spec.subnets.flatMap(({ vlan }) => vlan ?? [])));
    const residents = residentsOf(vpc, [...clusters.list()]);
    const message = vpcRefusal({ vpc, before, residents, takenVlans, platform });
    if (message === undefined && dryRun !== true) admitted.add(vpc);
    return message;
  };

  return async ({ operation, object, oldObject, namespace = '', dryRun }): Promise<AdmissionVerdict> => {
    const vpc = { ...object, metadata: { ...object!.metadata, namespace } } as Vpc;
    const before = operation === 'UPDATE' ? (oldObject as Vpc) : undefined;
    // Also of one that is deleted: it is there until its clusters are gone.
    if (before && deepEqual(before.spec, vpc.spec)) return { allowed: true };
    const message = await refusalOf(vpc, before, dryRun);
    return message === undefined ? { allowed: true } : { allowed: false, message };
  };
}
