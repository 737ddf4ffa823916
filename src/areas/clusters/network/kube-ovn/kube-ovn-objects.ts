import { createHash } from 'node:crypto';
import { addressAt, ipv4Range, toNumber } from '../../../../kube/ipv4-range.ts';
import type { Json, KubeObject } from '../../../../kube/object.ts';
import { peersOf } from '../model/peering.ts';
import type { LoadBalancer, NetworkPlan, Port, Subnet, Vpc } from '../model/vpc.ts';

const GROUP = 'kubeovn.io/v1';
const LABELS = { 'app.kubernetes.io/managed-by': 'tenantry' };

/** Of each subnet, so many first addresses are not for workers. */
const RESERVED = 10;

/** Links between VPCs: what Kube-OVN wants is a range of four addresses for each pair. */
const PEER_LINKS = { first: toNumber('100.65.0.0'), last: ipv4Range('100.64.0.0/10').last };

/** Priorities of a router's policies, as in our own OVN. */
const POLICY = { endpoint: 31_000, own: 30_500, peer: 30_400, blocked: 30_000, world: 29_000 } as const;

export interface KubeOvnOptions {
  /** The namespace of a VPC's workers. */
  namespaceOf: (vpc: string) => string;
  /** Kube-OVN's Subnet that leads to the world. */
  externalSubnet: string;
  /** Kube-OVN's ProviderNetwork that tagged segments are on; absent: there are none. */
  providerNetwork?: string;
}

/** The objects of Kube-OVN, for an under-cluster where it is the second network of Pods, that make these VPCs. */
export function kubeOvnObjects(plan: NetworkPlan, options: KubeOvnOptions): KubeObject[] {
  const byName = new Map(plan.vpcs.map((vpc) => [vpc.name, vpc]));
  return plan.vpcs.flatMap((vpc) => [
    vpcObject(vpc, peersOf(vpc, byName), plan),
    ...vpc.subnets.flatMap((subnet) => [
      ...vlanObjects(vpc, subnet, options),
      subnetObject(vpc, subnet, options),
      attachmentObject(vpc, subnet, options),
    ]),
    ...(vpc.egress ? natObjects(vpc, options) : []),
    ...(vpc.loadBalancers ?? []).flatMap((balancer) => balancerObjects(vpc, balancer, options)),
  ]);
}

/** What makes a virtual machine's Pod have a port: the address and card that were given to it, and no others. */
export function portAnnotations(vpc: Vpc, port: Port, options: KubeOvnOptions): Record<string, string> {
  const subnet = vpc.subnets.find(({ name }) => name === port.subnet)!;
  const provider = providerOf(vpc, subnet, options);
  return {
    [`${provider}.kubernetes.io/logical_switch`]: subnetName(vpc, subnet),
    [`${provider}.kubernetes.io/ip_address`]: port.address,
    [`${provider}.kubernetes.io/mac_address`]: port.mac,
    [`${provider}.kubernetes.io/port_security`]: 'true',
  };
}

function vpcObject(vpc: Vpc, peers: readonly Vpc[], { platform }: NetworkPlan): KubeObject {
  const own = setOf([...vpc.subnets.map(({ cidr }) => cidr), ...vpc.routes.map(({ cidr }) => cidr)]);
  const policyRoutes = [
    ...vpc.endpoints.map(({ address, protocol, port }) =>
      policy(POLICY.endpoint, `ip4.src == ${own} && ip4.dst == ${address} && ${protocol}.dst == ${port}`, 'allow'),
    ),
    policy(POLICY.own, `ip4.src == ${own} && ip4.dst == ${own}`, 'allow'),
    ...peers.flatMap((peer) => {
      const theirs = setOf(peer.subnets.map(({ cidr }) => cidr));
      return [
        policy(POLICY.peer, `ip4.src == ${own} && ip4.dst == ${theirs}`, 'allow'),
        policy(POLICY.peer, `ip4.src == ${theirs} && ip4.dst == ${own}`, 'allow'),
      ];
    }),
    policy(POLICY.blocked, `ip4.src == ${own} && ip4.dst == ${setOf(platform.blocked)}`, 'drop'),
    ...(vpc.egress ? [] : [policy(POLICY.world, `ip4.src == ${own}`, 'drop')]),
  ];
  const staticRoutes = [
    ...vpc.routes.map(({ cidr, via }) => route(cidr, via)),
    ...peers.flatMap((peer) => peer.subnets.map(({ cidr }) => route(cidr, peerLink(peer, vpc)))),
  ];
  const vpcPeerings = peers.map((peer) => ({ remoteVpc: vpcName(peer), localConnectIP: `${peerLink(vpc, peer)}/30` }));
  return object('Vpc', vpcName(vpc), { enableExternal: vpc.egress, staticRoutes, policyRoutes, vpcPeerings });
}

function subnetObject(vpc: Vpc, subnet: Subnet, options: KubeOvnOptions): KubeObject {
  const range = ipv4Range(subnet.cidr);
  const reserved = range.last - range.first > 4 * RESERVED ? [`${addressAt(range, 1)}..${addressAt(range, RESERVED - 1)}`] : [];
  const covered = reserved.length > 0 && toNumber(subnet.gateway) - range.first < RESERVED;
  return object('Subnet', subnetName(vpc, subnet), {
    vpc: vpcName(vpc),
    protocol: 'IPv4',
    cidrBlock: subnet.cidr,
    gateway: subnet.gateway,
    excludeIps: covered ? reserved : [subnet.gateway, ...reserved],
    provider: providerOf(vpc, subnet, options),
    natOutgoing: false,
    private: false,
    ...(subnet.vlan === undefined ? {} : { vlan: subnetName(vpc, subnet), logicalGateway: true }),
  });
}

function vlanObjects(vpc: Vpc, subnet: Subnet, { providerNetwork }: KubeOvnOptions): KubeObject[] {
  if (subnet.vlan === undefined) return [];
  if (providerNetwork === undefined) {
    throw new Error(`Cannot make subnet "${subnet.name}" of VPC ${vpc.name} a VLAN: no ProviderNetwork is named; name one, or use Overlay`);
  }
  return [object('Vlan', subnetName(vpc, subnet), { id: subnet.vlan, provider: providerNetwork })];
}

/** What a virtual machine names as its only network, so that it has no way into that of the under-cluster's Pods. */
function attachmentObject(vpc: Vpc, subnet: Subnet, options: KubeOvnOptions): KubeObject {
  const config = {
    cniVersion: '0.3.1',
    type: 'kube-ovn',
    server_socket: '/run/openvswitch/kube-ovn-daemon.sock',
    provider: providerOf(vpc, subnet, options),
  };
  return {
    apiVersion: 'k8s.cni.cncf.io/v1',
    kind: 'NetworkAttachmentDefinition',
    metadata: { name: subnetName(vpc, subnet), namespace: options.namespaceOf(vpc.name), labels: LABELS },
    spec: { config: JSON.stringify(config) },
  };
}

function natObjects(vpc: Vpc, { externalSubnet }: KubeOvnOptions): KubeObject[] {
  const eip = vpcName(vpc);
  return [
    object('OvnEip', eip, { externalSubnet, type: 'nat' }),
    ...vpc.subnets.map((subnet) => object('OvnSnatRule', subnetName(vpc, subnet), { ovnEip: eip, vpcSubnet: subnetName(vpc, subnet) })),
  ];
}

/** One rule for each port, because all ports of a rule share its workers. Workers that nobody answers from are in none. */
function balancerObjects(vpc: Vpc, { name, address, ports, sticky }: LoadBalancer, { namespaceOf }: KubeOvnOptions): KubeObject[] {
  return ports.flatMap(({ protocol, port, backends }) =>
    backends.length === 0
      ? []
      : [
          object('SwitchLBRule', shortened(`tenantry-${vpc.name}--${name}-${protocol}-${port}`), {
            vip: address,
            namespace: namespaceOf(vpc.name),
            endpoints: backends.map((backend) => backend.address),
            sessionAffinity: sticky ? 'ClientIP' : 'None',
            ports: [{ name: `${protocol}-${port}`, port, targetPort: backends[0].port, protocol: protocol.toUpperCase() }],
          }),
        ],
  );
}

function object(kind: string, name: string, spec: Json): KubeObject {
  return { apiVersion: GROUP, kind, metadata: { name, labels: LABELS }, spec };
}

function policy(priority: number, match: string, action: 'allow' | 'drop'): Json {
  return { priority, match, action };
}

function route(cidr: string, nextHopIP: string): Json {
  return { policy: 'policyDst', cidr, nextHopIP, ecmpMode: '', bfdId: '', routeTable: '' };
}

/** The address of `vpc` on its link to `peer`. Every pair of numbers has a range of its own. */
function peerLink(vpc: Vpc, peer: Vpc): string {
  const [low, high] = [Math.min(vpc.index, peer.index), Math.max(vpc.index, peer.index)];
  const first = PEER_LINKS.first + 4 * ((high * (high - 1)) / 2 + low);
  if (first + 3 > PEER_LINKS.last)
    throw new Error(`Cannot peer VPC "${vpc.name}" with "${peer.name}": there are no addresses left for the link`);
  return addressAt({ first, last: first + 3 }, vpc.index === low ? 1 : 2);
}

function vpcName({ name }: Vpc): string {
  return shortened(`tenantry-${name}`);
}

function subnetName({ name: vpc }: Vpc, { name }: Subnet): string {
  return shortened(`tenantry-${vpc}--${name}`);
}

/** As Kube-OVN tells which network a Pod's link belongs to: the attachment, its namespace, and a fixed word. */
function providerOf(vpc: Vpc, subnet: Subnet, { namespaceOf }: KubeOvnOptions): string {
  return `${subnetName(vpc, subnet)}.${namespaceOf(vpc.name)}.ovn`;
}

function setOf(elements: readonly string[]): string {
  return `{${elements.join(', ')}}`;
}

/** Names of objects have at most 63 characters. */
function shortened(name: string): string {
  return name.length <= 63 ? name : `${name.slice(0, 54)}-${createHash('sha256').update(name).digest('hex').slice(0, 8)}`;
}
