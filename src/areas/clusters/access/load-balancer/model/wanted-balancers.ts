import type { TenantCluster } from '../../../../../api/tenantry.dev/v1alpha1/tenant-cluster.ts';
import type { EndpointSlice, Service } from '../../../../../client/kinds.ts';
import type { ServicePort } from '../../../../../kube/generated/core-v1.ts';
import { formatCidr, parseCidr } from '../../../../../kube/ip.ts';
import { contains, ipv4Range } from '../../../../../kube/ipv4-range.ts';
import { isHostAddress, isPlainAddress } from '../../../network/model/address-plan.ts';
import type { Backend } from '../../../network/model/vpc.ts';
import { EXCLUDED, type NodeObject } from '../../../workers/model/kept-objects.ts';
import { freeBalancerAddress } from './balancer-address.ts';

/** The class of load balancers that this is; Services that name none are its too. */
export const LOAD_BALANCER_CLASS = 'tenantry.dev/vpc';

/** No range that anybody has: of sources that cannot be told here nobody is let in. */
const NOBODY = '255.255.255.255/32';

/** What rules are made of is bounded: those of one tenant are read and written together with those of all. */
export const MAX = { ports: 256, sources: 64, backends: 128 } as const;

export type ServiceObject = NonNullable<(typeof Service)['objectType']>;
export type SliceObject = NonNullable<(typeof EndpointSlice)['objectType']>;
export type RecordedBalancer = NonNullable<NonNullable<TenantCluster['status']>['loadBalancers']>[number];

/** What there is of Services inside a tenant's cluster. */
export interface BalancedInside {
  services: readonly ServiceObject[];
  nodes: readonly NodeObject[];
  slicesOf(namespace: string, service: string): readonly SliceObject[];
  /** What there is too much of to see all of it. */
  surplus?: string;
}

export interface WantedBalancers {
  balancers: RecordedBalancer[];
  /** Why a Service has no address, or not all that it asked for, by its namespace and name. */
  problems: ReadonlyMap<string, string>;
}

/**
 * The load balancers of a cluster, from its Services. Who has an address keeps it, so that only what changes changes. `taken` are the addresses in
 * its subnet that somebody else has.
 */
export function wantedBalancers(cluster: TenantCluster, inside: BalancedInside, taken: Iterable<string>): WantedBalancers {
  const network = cluster.status!.network!;
  const held = new Map((cluster.status?.loadBalancers ?? []).map((one) => [one.service, one.address]));
  const services = inside.services.filter(isOurs).toSorted(byAge);
  const used = new Set([...taken, network.gateway]);
  const problems = new Map<string, string>();
  const balancers: RecordedBalancer[] = [];
  let left: number = MAX.ports;
  // Those who have an address are before those who want one.
  for (const service of [...services.filter((one) => held.has(idOf(one))), ...services.filter((one) => !held.has(idOf(one)))]) {
    const id = idOf(service);
    const size = service.spec?.ports?.length ?? 0;
    if (size > left) {
      problems.set(id, `Cannot give it an address: the load balancers of a cluster have ${MAX.ports} ports together; delete another`);
      continue;
    }
    left -= size;
    const { address, problem } = addressFor(service, held.get(id), network, used);
    if (problem !== undefined) problems.set(id, problem);
    if (address === undefined) continue;
    used.add(address);
    const { ports, problem: unserved } = portsOf(service, inside, cluster);
    if (unserved !== undefined) problems.set(id, unserved);
    const sources = sourcesOf(service);
    if (service.spec?.loadBalancerSourceRanges && service.spec.loadBalancerSourceRanges.length > MAX.sources)
      problems.set(id, `Cannot let anybody in: it names more than ${MAX.sources} ranges in loadBalancerSourceRanges; name fewer`);
    balancers.push({
      service: id,
      address,
      ports,
      ...(sources.length === 0 ? {} : { sources }),
      ...(service.spec?.sessionAffinity === 'ClientIP' ? { sticky: true } : {}),
    });
  }
  return { balancers: balancers.toSorted((a, b) => (a.service < b.service ? -1 : 1)), problems };
}

export function idOf({ metadata }: Pick<ServiceObject, 'metadata'>): string {
  return `${metadata.namespace}/${metadata.name}`;
}

function isOurs({ metadata, spec }: ServiceObject): boolean {
  const { type, loadBalancerClass } = spec ?? {};
  if (metadata.deletionTimestamp !== undefined || type !== 'LoadBalancer') return false;
  return loadBalancerClass === undefined || loadBalancerClass === LOAD_BALANCER_CLASS;
}

function addressFor(
  { spec }: ServiceObject,
  held: string | undefined,
  { subnet, cidr }: { subnet: string; cidr: string },
  used: ReadonlySet<string>,
): { address?: string; problem?: string } {
  const asked = spec?.loadBalancerIP;
  if (asked !== undefined && asked !== '' && asked !== held) {
    const cannot = `Cannot give it the address "${asked}"`;
    if (!isPlainAddress(asked) || !isHostAddress(cidr, asked)) {
      return { problem: `${cannot}: it is not in ${cidr} of subnet ${subnet}; ask for one that is, or for none` };
    }
    return used.has(asked) ? { problem: `${cannot}: it is in use; ask for another, or for none` } : { address: asked };
  }
  if (held !== undefined && !used.has(held)) return { address: held };
  const address = freeBalancerAddress(cidr, used);
  return address === undefined
    ? { problem: `Cannot give it an address of subnet "${subnet}": all of ${cidr} are in use; delete another` }
    : { address };
}

function portsOf(
  service: ServiceObject,
  inside: BalancedInside,
  cluster: TenantCluster,
): { ports: RecordedBalancer['ports']; problem?: string } {
  const all = service.spec?.ports ?? [];
  const served = all.filter(({ protocol = 'TCP' }) => protocol !== 'SCTP');
  const ports = served.map((port) => {
    const backends = backendsOf(service, port, inside, cluster);
    const protocol = port.protocol === 'UDP' ? ('udp' as const) : ('tcp' as const);
    return { protocol, port: port.port, ...(backends.length === 0 ? {} : { backends }) };
  });
  if (served.length === all.length) return { ports };
  return { ports, problem: 'Cannot balance ports of the protocol SCTP: only TCP and UDP are; the others are served' };
}

/** Node ports, as everywhere; Pods themselves where a Service has none. Where workers are is what the platform gave them, not what their Nodes say. */
function backendsOf(service: ServiceObject, port: ServicePort, inside: BalancedInside, cluster: TenantCluster): Backend[] {
  const slices = inside.slicesOf(service.metadata.namespace!, service.metadata.name!);
  const ready = slices
    .filter(({ addressType }) => addressType === 'IPv4')
    .flatMap(({ endpoints, ports = [] }) =>
      (endpoints ?? []).filter(({ conditions }) => conditions?.ready !== false).map((one) => ({ ...one, ports: ports ?? [] })),
    );
  if (ready.length === 0) return [];
  const workers = cluster.status?.workers ?? [];
  if (port.nodePort) {
    const local = service.spec?.externalTrafficPolicy === 'Local' ? new Set(ready.map(({ nodeName }) => nodeName)) : undefined;
    const nodes = new Set(inside.nodes.filter(isReady).map(({ metadata }) => metadata.name!));
    return workers
      .filter(({ name }) => nodes.has(name) && (local === undefined || local.has(name)))
      .map(({ address }) => ({ address, port: port.nodePort! }))
      .toSorted(byAddress);
  }
  const routed = workers.flatMap(({ podCidrs = [] }) => podCidrs.map(ipv4Range));
  const pods = ready.flatMap(({ addresses, ports }) => {
    const target = ports.find(({ name = '' }) => name === (port.name ?? ''))?.port;
    return target === undefined ? [] : addresses.map((address) => ({ address, port: target }));
  });
  return pods
    .filter(({ address }) => isPlainAddress(address) && routed.some((range) => contains(range, address)))
    .toSorted(byAddress)
    .slice(0, MAX.backends);
}

/** Whether Services may be served by it. */
export function isReady({ metadata, status }: NodeObject): boolean {
  if (metadata.deletionTimestamp !== undefined || metadata.labels?.[EXCLUDED] !== undefined) return false;
  return status?.conditions?.some(({ type, status: value }) => type === 'Ready' && value === 'True') === true;
}

function sourcesOf({ spec }: ServiceObject): string[] {
  const asked = spec?.loadBalancerSourceRanges ?? [];
  if (asked.length === 0) return [];
  if (asked.length > MAX.sources) return [NOBODY];
  // Written by one hand: what a Service may say can be read in more than one way.
  const known = asked.map((range) => parseCidr(range.trim())).flatMap((range) => (range?.address.version === 4 ? [formatCidr(range)] : []));
  return known.length === 0 ? [NOBODY] : known;
}

function byAge(a: ServiceObject, b: ServiceObject): number {
  const [first, second] = [a, b].map(({ metadata }) => `${metadata.creationTimestamp ?? ''} ${metadata.uid ?? ''}`);
  return first < second ? -1 : Number(first > second);
}

function byAddress(a: Backend, b: Backend): number {
  return a.address < b.address ? -1 : Number(a.address > b.address);
}

/** The addresses in a cluster's subnet that its load balancers cannot have. `others` are the tenant's further clusters. */
export function takenAddresses({ status }: TenantCluster, others: readonly TenantCluster[]): string[] {
  const neighbours = others.filter((other) => other.status?.network?.subnet === status?.network?.subnet);
  return [
    ...(status?.workers ?? []).map(({ address }) => address),
    ...neighbours.flatMap((other) =>
      [...(other.status?.workers ?? []), ...(other.status?.loadBalancers ?? [])].map(({ address }) => address),
    ),
  ];
}
