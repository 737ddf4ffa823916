import { createHash } from 'node:crypto';
import type { TenantCluster } from '../../../../api/tenantry.dev/v1alpha1/tenant-cluster.ts';
import type { Vpc as VpcObject } from '../../../../api/tenantry.dev/v1alpha1/vpc.ts';
import { parseCidr } from '../../../../kube/ip.ts';
import { ipv4Range, overlap } from '../../../../kube/ipv4-range.ts';
import { firstAddress, freeAddress, isPlainRange, macOf } from '../../network/model/address-plan.ts';

export type ClusterNetwork = NonNullable<NonNullable<TenantCluster['status']>['network']>;

/** On a VPC that was made because a cluster needed one: it goes with the last cluster, unless somebody has changed it. */
export const MADE_FOR_CLUSTERS = 'tenantry.dev/made-for-clusters';

const DEFAULT_SUBNET = 'default';
/** Between the ranges of Services: /22s, each with room for a thousand workers. */
const DEFAULT_RANGES = { first: 1, seconds: 95, thirds: 64 } as const;
/** Pods of the clusters in a VPC have different addresses, because they are routed there. */
const POD_RANGES = { first: 128, last: 255 } as const;
const NODE_PREFIX = 24;

/** Whether it lives in the VPC of its tenant. One that was made without a network has its endpoint elsewhere, and stays so. */
export function wantsNetwork({ metadata, spec, status }: TenantCluster): boolean {
  if (status?.network !== undefined) return true;
  if (metadata.deletionTimestamp !== undefined) return false;
  return status?.endpoint === undefined && (spec.network !== undefined || (spec.nodePools ?? []).length > 0);
}

/** The VPC of a tenant that has none and needs one. Tenants get different ranges, as far as there are enough, so that they could be peered. */
export function defaultVpc(tenant: string, subnet: string = DEFAULT_SUBNET): VpcObject {
  const digest = createHash('sha256').update(tenant).digest();
  const cidr = `10.${DEFAULT_RANGES.first + (digest[0] % DEFAULT_RANGES.seconds)}.${4 * (digest[1] % DEFAULT_RANGES.thirds)}.0/22`;
  return {
    apiVersion: 'tenantry.dev/v1alpha1',
    kind: 'Vpc',
    metadata: { name: tenant, namespace: tenant, labels: { [MADE_FOR_CLUSTERS]: 'true' } },
    spec: { subnets: [{ name: subnet, cidr }] },
  };
}

/** A VPC that was made for clusters, that nobody has changed, and that none of these wants any more. */
export function isLeftOver({ metadata }: VpcObject, clusters: readonly TenantCluster[]): boolean {
  if (metadata.deletionTimestamp !== undefined || metadata.labels?.[MADE_FOR_CLUSTERS] === undefined || metadata.generation !== 1)
    return false;
  return !clusters.some((cluster) => cluster.metadata.namespace === metadata.namespace && wantsNetwork(cluster));
}

export type Place = { network: ClusterNetwork } | { problem: string };

/** Where a cluster lives; one that has a place keeps it. `others` are the tenant's further clusters. */
export function placeOf(cluster: TenantCluster, vpc: VpcObject, others: readonly TenantCluster[]): Place {
  const held = cluster.status?.network;
  const wanted = held?.subnet ?? cluster.spec.network?.subnet ?? vpc.spec.subnets[0].name;
  const subnet = vpc.spec.subnets.find(({ name }) => name === wanted);
  if (subnet === undefined) {
    const names = vpc.spec.subnets.map(({ name }) => name).join(', ');
    return { problem: `VPC "${vpc.metadata.name}" has no subnet "${wanted}"; add it there, or name one of ${names}` };
  }
  const taken = [
    ...vpc.spec.subnets.map(({ cidr }) => cidr),
    ...(vpc.spec.routes ?? []).map(({ cidr }) => cidr),
    ...(vpc.spec.vpn?.peers ?? []).flatMap(({ addresses }) => addresses),
    ...others.flatMap(({ status }) => status?.network?.podCidr ?? []),
  ];
  const pods = held?.podCidr ?? podRange(cluster.spec.network?.podCidr, taken);
  if (pods === undefined) {
    const asked = cluster.spec.network?.podCidr;
    const why =
      asked === undefined
        ? 'there is no range left for its Pods'
        : `its podCidr ${asked} is no /${NODE_PREFIX} or larger, or overlaps ${taken.join(', ')}`;
    return { problem: `${why}; make it with another spec.network.podCidr` };
  }
  return {
    network: {
      ...held,
      vpc: vpc.metadata.name!,
      subnet: subnet.name,
      cidr: subnet.cidr,
      gateway: subnet.gateway ?? firstAddress(subnet.cidr),
      address: held?.address ?? vpc.status!.transit!.machine,
      podCidr: pods,
      ...(cluster.spec.network?.serviceCidr === undefined ? {} : { serviceCidr: cluster.spec.network.serviceCidr }),
    },
  };
}

function podRange(asked: string | undefined, taken: readonly string[]): string | undefined {
  const isFree = (cidr: string) => !taken.some((other) => overlap(ipv4Range(other), ipv4Range(cidr)));
  if (asked !== undefined) {
    const parsed = parseCidr(asked);
    return parsed !== undefined && isPlainRange(asked) && parsed.prefix <= NODE_PREFIX && isFree(asked) ? asked : undefined;
  }
  for (let second: number = POD_RANGES.first; second <= POD_RANGES.last; second++) {
    const cidr = `10.${second}.0.0/16`;
    if (isFree(cidr)) return cidr;
  }
  return undefined;
}

export type NetworkListener = NonNullable<ClusterNetwork['listeners']>[number];

/** The network of a cluster whose workers reach one more place of the platform, or the same one elsewhere. */
export function withListener(network: ClusterNetwork, listener: NetworkListener): ClusterNetwork {
  const others = (network.listeners ?? []).filter(({ name }) => name !== listener.name);
  return { ...network, listeners: [...others, listener].sort((a, b) => (a.name < b.name ? -1 : 1)) };
}

/** An address for another worker of a cluster, and its hardware address: neither anybody's in its subnet. `clusters` are all of its tenant, with what was given just now. */
export function freeWorkerAddress({ status }: TenantCluster, clusters: readonly TenantCluster[]): { address: string; mac: string } {
  const { vpc, subnet: name, cidr, gateway } = status!.network!;
  const taken = clusters
    .filter((each) => each.status?.network?.vpc === vpc && each.status.network.subnet === name)
    .flatMap(({ status: its }) => [...(its?.workers ?? []), ...(its?.loadBalancers ?? [])].map(({ address }) => address));
  const address = freeAddress({ name, cidr, gateway }, taken);
  return { address, mac: macOf(vpc, address) };
}
