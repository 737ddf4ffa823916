import { deepEqual } from '../../../../kube/json-value.ts';
import type { TenantCluster } from '../../../../api/tenantry.dev/v1alpha1/tenant-cluster.ts';
import type { Vpc as VpcObject } from '../../../../api/tenantry.dev/v1alpha1/vpc.ts';
import { gatewayRefusal } from '../../access/vpn/model/gateway.ts';
import { ipv4Range, overlap } from '../../../../kube/ipv4-range.ts';
import { vpcProblems } from '../../network/model/vpc-problems.ts';
import type { Platform, Vpc } from '../../network/model/vpc.ts';
import { wantedVpc } from './wanted-vpc.ts';

export interface VpcRequest {
  vpc: VpcObject;
  /** Absent: it is new. */
  before?: VpcObject;
  /** The clusters that live in it. */
  residents: readonly TenantCluster[];
  /** VLAN ids of all other tenants. */
  takenVlans: ReadonlySet<number>;
  platform: Platform;
}

/** Why an owner cannot have the VPC like this, in words for him; undefined when he can. */
export function vpcRefusal({ vpc, before, residents, takenVlans, platform }: VpcRequest): string | undefined {
  const { name, namespace } = vpc.metadata;
  if (name !== namespace) {
    return `Cannot have VPC "${name}": a tenant has one, which is called like it, and subnets in it for its clusters; call it "${namespace}"`;
  }
  const wanted = wantedVpc(vpc, vpc.status?.index ?? 1, []);
  const [problem] = vpcProblems(wanted, platform);
  if (problem !== undefined) return problem;
  return (
    vlanProblem(wanted, takenVlans) ??
    residentProblem(wanted, before && wantedVpc(before, 1, []), residents) ??
    podProblem(wanted, residents) ??
    gatewayRefusal(vpc, wanted, residents, platform)
  );
}

function vlanProblem({ subnets }: Vpc, taken: ReadonlySet<number>): string | undefined {
  const ids = subnets.flatMap(({ name, vlan }) => (vlan === undefined ? [] : [{ name, vlan }]));
  const [clash] = ids.filter(({ vlan }, position) => taken.has(vlan) || ids.findIndex((other) => other.vlan === vlan) < position);
  return clash && `Cannot use VLAN "${clash.vlan}" for subnet "${clash.name}": it is in use; choose another id`;
}

/** What clusters live in stays as it is: their workers have it in their addresses. */
function residentProblem({ name, subnets }: Vpc, before: Vpc | undefined, residents: readonly TenantCluster[]): string | undefined {
  for (const subnet of before?.subnets ?? []) {
    const now = subnets.find((each) => each.name === subnet.name);
    const inside = residents.filter(({ status }) => status?.network?.subnet === subnet.name).map(({ metadata }) => metadata.name!);
    if (inside.length === 0 || deepEqual(now, subnet)) continue;
    const what = now === undefined ? 'take away' : 'change';
    const who = inside.length === 1 ? `cluster ${inside[0]} lives` : `clusters ${inside.sort().join(', ')} live`;
    return `Cannot ${what} subnet "${subnet.name}" of VPC ${name}: ${who} in it; add another subnet, or delete what lives there first`;
  }
  return undefined;
}

/** Pods of the tenant's clusters are routed in its VPC too. */
function podProblem(vpc: Vpc, residents: readonly TenantCluster[]): string | undefined {
  for (const { metadata, status } of residents) {
    const pods = status?.network?.podCidr;
    if (pods === undefined) continue;
    const clash = [...vpc.subnets, ...vpc.routes].find(({ cidr }) => overlap(ipv4Range(cidr), ipv4Range(pods)));
    if (clash) return `Cannot use ${clash.cidr} in VPC "${vpc.name}": Pods of cluster ${metadata.name} have ${pods}; choose another range`;
  }
  return undefined;
}
