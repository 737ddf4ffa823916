import type { TenantCluster } from '../../../../api/tenantry.dev/v1alpha1/tenant-cluster.ts';
import type { Vpc as VpcObject } from '../../../../api/tenantry.dev/v1alpha1/vpc.ts';
import { parseCidr } from '../../../../kube/ip.ts';
import { peeringStates } from '../../network/model/peering.ts';
import type { Vpc } from '../../network/model/vpc.ts';

type Status = NonNullable<VpcObject['status']>;

/** What there is to tell of a VPC's parts. `byName` are the VPCs of all tenants. */
export function vpcParts(
  vpc: Vpc,
  byName: ReadonlyMap<string, Vpc>,
  residents: readonly TenantCluster[],
): Pick<Status, 'subnets' | 'workers' | 'peers' | 'routes'> {
  return {
    workers: vpc.ports.length,
    subnets: vpc.subnets.map((subnet) => {
      const clusters = residents.filter(({ status }) => status?.network?.subnet === subnet.name).map(({ metadata }) => metadata.name!);
      return {
        ...subnet,
        used: vpc.ports.filter((port) => port.subnet === subnet.name).length,
        size: roomIn(subnet.cidr),
        ...(clusters.length > 0 ? { clusters: clusters.sort() } : {}),
      };
    }),
    peers: peeringStates(vpc, byName).map(({ peer, ...rest }) => ({ name: peer, ...rest })),
    routes: vpc.routes.map(({ cidr, via }) =>
      vpc.mode === 'VLAN' || vpc.ports.some(({ address }) => address === via)
        ? { cidr, via, state: 'Active' }
        : { cidr, via, state: 'Waiting', message: `no worker has the address ${via} yet` },
    ),
  };
}

/** Addresses for workers: all but the range's own, the gateway's and the one for all. */
function roomIn(cidr: string): number {
  const prefix = parseCidr(cidr)?.prefix;
  return prefix === undefined ? 0 : 2 ** (32 - prefix) - 3;
}
