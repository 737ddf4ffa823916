import type { TenantCluster } from '../../../../api/tenantry.dev/v1alpha1/tenant-cluster.ts';
import type { Vpc as VpcObject } from '../../../../api/tenantry.dev/v1alpha1/vpc.ts';
import { parseIp } from '../../../../kube/ip.ts';
import { firstAddress } from '../../network/model/address-plan.ts';
import { balancersOf } from '../../access/external/model/external-services.ts';
import { gatewayOf } from '../../access/vpn/model/gateway.ts';
import type { Attachment, Endpoint, Port, StaticRoute, Subnet, Vpc } from '../../network/model/vpc.ts';

export type Worker = NonNullable<NonNullable<TenantCluster['status']>['workers']>[number];

const HTTPS = 443;

/** Everything that the VPC of a tenant should be, from its object and those of the clusters that live in it. */
export function wantedVpc(vpc: VpcObject, index: number, residents: readonly TenantCluster[]): Vpc {
  const { metadata, spec } = vpc;
  const vpn = gatewayOf(vpc);
  return {
    name: metadata.name!,
    index,
    mode: spec.mode ?? 'Overlay',
    subnets: spec.subnets.map(wantedSubnet),
    ports: residents.flatMap((cluster) => (cluster.status?.workers ?? []).flatMap((worker) => portOf(cluster, worker) ?? [])),
    endpoints: uniqueEndpoints(residents.flatMap(endpointsOf)),
    services: [],
    routes: [...(spec.routes ?? []), ...residents.flatMap(podRoutesOf)],
    peers: spec.peers ?? [],
    egress: spec.egress ?? true,
    loadBalancers: balancersOf(vpc, residents),
    ...(vpn === undefined ? {} : { vpn }),
  };
}

function wantedSubnet({ name, cidr, gateway, vlan }: VpcObject['spec']['subnets'][number]): Subnet {
  return { name, cidr, gateway: gateway ?? firstOf(cidr), ...(vlan === undefined ? {} : { vlan }) };
}

/** Of what is no range there is no first address; what judges the subnet says so. */
function firstOf(cidr: string): string {
  try {
    return firstAddress(cidr);
  } catch {
    return '';
  }
}

/** A worker's place in the subnet of its cluster; undefined until it is known where its link ends. */
export function portOf({ status }: TenantCluster, { name, address, mac, attachment }: Worker): Port | undefined {
  return attachment && { name, subnet: status!.network!.subnet, address, mac, attachment: attachment as Attachment };
}

/** Its API server, and what else of the platform is there for its workers. */
function endpointsOf({ status }: TenantCluster): Endpoint[] {
  const network = status!.network!;
  const listeners = (network.listeners ?? []).map(({ protocol, port, address = network.address }): Endpoint => ({
    protocol,
    port,
    address,
  }));
  const server = status!.endpoint === undefined ? undefined : URL.parse(status!.endpoint);
  // One that is known by its name has no address that could be let through.
  if (!server || parseIp(server.hostname)?.version !== 4) return listeners;
  return [{ protocol: 'tcp', address: server.hostname, port: Number(server.port) || HTTPS }, ...listeners];
}

function uniqueEndpoints(endpoints: readonly Endpoint[]): Endpoint[] {
  return [...new Map(endpoints.map((each) => [`${each.address} ${each.protocol} ${each.port}`, each])).values()];
}

function podRoutesOf({ status }: TenantCluster): StaticRoute[] {
  return (status?.workers ?? []).flatMap(({ address, podCidrs = [] }) => podCidrs.map((cidr) => ({ cidr, via: address })));
}
