import { ipv4Range } from '../../../../kube/ipv4-range.ts';
import { macOf, peerAddressOf, uplinkOf } from '../model/address-plan.ts';
import { externalAddresses } from '../model/balanced.ts';
import type { Platform, Vpc } from '../model/vpc.ts';
import { bridgeOf, isOwnLink, peerLinkOf, portLinkOf, UPLINK } from './names.ts';
import { routerRules } from './router-rules.ts';
import type { NamespaceState } from '../kernel/namespace-state.ts';

/** Everything that makes a namespace the router of a VPC, apart from what is there already. */
export interface RouterProgram {
  rules: string;
  /** Input of `ip -force -batch` inside the router: what is gone already, with the other end of a link for instance, is no failure. */
  removals: string[];
  /** Input of `ip -batch` inside the router. */
  commands: string[];
  /** Paths of the namespaces of workers that get a link. */
  linked: string[];
  /** Input of `ip -batch` inside the namespaces of workers, by path. */
  inside: Map<string, string[]>;
}

/** Settings of a router's namespace that hold before anything passes through it. */
export const ROUTER_SETTINGS: readonly (readonly [string, string])[] = [
  // Frames between workers of one segment are the bridge's matter; the rules for what is routed would drop them.
  ['net/bridge/bridge-nf-call-iptables', '0'],
  ['net/ipv6/conf/all/disable_ipv6', '1'],
  ['net/ipv6/conf/default/disable_ipv6', '1'],
  ['net/ipv4/conf/all/rp_filter', '1'],
  ['net/ipv4/conf/default/rp_filter', '1'],
  ['net/ipv4/conf/all/send_redirects', '0'],
  ['net/ipv4/conf/default/send_redirects', '0'],
  ['net/ipv4/conf/all/accept_redirects', '0'],
  // Packets from the middle of a connection that is not known must not make it known again: it may have been cut.
  ['net/netfilter/nf_conntrack_tcp_loose', '0'],
];

export function routerProgram(vpc: Vpc, peers: readonly Vpc[], platform: Platform, present: NamespaceState): RouterProgram {
  const routes = routeCommands(vpc, peers, platform);
  const wanted = routerLinks(vpc, peers);
  const uplink = uplinkOf(platform, vpc.index);
  return {
    rules: routerRules(vpc, peers, platform),
    removals: [
      ...[...present.routes.keys()].filter((cidr) => !routes.has(cidr)).map((cidr) => `route delete ${cidr}`),
      ...addressRemovals(vpc, present, uplink.router),
      ...linkRemovals(present, wanted),
    ],
    commands: [
      'link set lo up',
      `address replace ${uplink.router}/32 dev ${UPLINK}`,
      `link set ${UPLINK} up`,
      `route replace ${uplink.platform}/32 dev ${UPLINK} src ${uplink.router}`,
      ...vpc.subnets.flatMap((subnet) => bridgeCommands(vpc, subnet, present)),
      ...[...answeredAddresses(vpc)].map(([address, link]) => `address replace ${address} dev ${link}`),
      ...vpc.ports.flatMap((port) => portCommands(vpc, port, present)),
      ...peers.flatMap((peer) => peerCommands(vpc, peer)),
      ...routes.values(),
    ],
    linked: vpc.ports.flatMap((port) =>
      port.attachment.kind === 'Namespace' && !present.links.has(portLinkOf(port)) ? [port.attachment.path] : [],
    ),
    inside: new Map(
      vpc.ports.flatMap((port) => {
        const { attachment } = port;
        return attachment.kind === 'Namespace' ? [[attachment.path, workerCommands(vpc, port)] as const] : [];
      }),
    ),
  };
}

/** The links of a router that are not its uplink. */
export function routerLinks(vpc: Vpc, peers: readonly Vpc[]): Set<string> {
  return new Set([...vpc.subnets.map(bridgeOf), ...vpc.ports.map(portLinkOf), ...peers.map((peer) => peerLinkOf(vpc, peer))]);
}

/** Takes away the links of a router that are not among these. */
function linkRemovals(present: NamespaceState, wanted: ReadonlySet<string>): string[] {
  return [...present.links].filter((link) => isOwnLink(link) && !wanted.has(link)).map((link) => `link delete ${link}`);
}

/** What the router answers for besides its own: load balancers, and what is reached from outside, each with its link. */
function answeredAddresses(vpc: Vpc): Map<string, string> {
  const balanced = (vpc.loadBalancers ?? []).map(({ address, subnet }) => {
    const segment = vpc.subnets.find(({ name }) => name === subnet)!;
    return [`${address}/32`, bridgeOf(segment)] as const;
  });
  return new Map([...balanced, ...externalAddresses(vpc).map((address) => [`${address}/32`, UPLINK] as const)]);
}

/** Of links that stay: an address that somebody else may have next is not answered for any longer. */
function addressRemovals(vpc: Vpc, present: NamespaceState, router: string): string[] {
  const wanted = answeredAddresses(vpc);
  const links = new Set([UPLINK, ...vpc.subnets.map(bridgeOf)]);
  return [...present.addresses]
    .filter(([address, link]) => address.endsWith('/32') && links.has(link) && address !== `${router}/32` && wanted.get(address) !== link)
    .map(([address, link]) => `address delete ${address} dev ${link}`);
}

function bridgeCommands(vpc: Vpc, subnet: Vpc['subnets'][number], present: NamespaceState): string[] {
  const bridge = bridgeOf(subnet);
  // The same hardware address whenever the router is made again, so that workers need not learn another.
  const mac = macOf(vpc.name, subnet.gateway);
  return [
    ...(present.links.has(bridge) ? [] : [`link add ${bridge} address ${mac} type bridge forward_delay 0 mcast_snooping 0`]),
    `address replace ${subnet.gateway}/${prefixOf(subnet.cidr)} dev ${bridge}`,
    `link set ${bridge} up`,
  ];
}

function portCommands(vpc: Vpc, port: Vpc['ports'][number], present: NamespaceState): string[] {
  const link = portLinkOf(port);
  const bridge = bridgeOf(vpc.subnets.find(({ name }) => name === port.subnet)!);
  const { attachment } = port;
  const create =
    attachment.kind === 'Tap'
      ? `tuntap add dev ${link} mode tap${attachment.owner === undefined ? '' : ` user ${attachment.owner}`}`
      : `link add ${link} type veth peer name eth0 address ${port.mac} netns ${attachment.path}`;
  return [...(present.links.has(link) ? [] : [create]), `link set ${link} master ${bridge} up`];
}

function workerCommands(vpc: Vpc, port: Vpc['ports'][number]): string[] {
  const { cidr, gateway } = vpc.subnets.find(({ name }) => name === port.subnet)!;
  return [
    'link set lo up',
    `address replace ${port.address}/${prefixOf(cidr)} dev eth0`,
    'link set eth0 up',
    `route replace default via ${gateway} dev eth0`,
  ];
}

function peerCommands(vpc: Vpc, peer: Vpc): string[] {
  const link = peerLinkOf(vpc, peer);
  return [
    `address replace ${peerAddressOf(vpc.index)}/32 dev ${link}`,
    `link set ${link} up`,
    `route replace ${peerAddressOf(peer.index)}/32 dev ${link} src ${peerAddressOf(vpc.index)}`,
  ];
}

/** Routes through a gateway, by destination. */
function routeCommands(vpc: Vpc, peers: readonly Vpc[], platform: Platform): Map<string, string> {
  const { platform: machine } = uplinkOf(platform, vpc.index);
  // What a gateway answers comes from where it was asked.
  const source = vpc.vpn === undefined ? '' : ` src ${vpc.vpn.external}`;
  const routes = new Map([['default', `route replace default via ${machine} dev ${UPLINK}${source}`]]);
  for (const { cidr, via } of vpc.routes) routes.set(routeName(cidr), `route replace ${cidr} via ${via}`);
  for (const peer of peers) {
    const through = `via ${peerAddressOf(peer.index)} dev ${peerLinkOf(vpc, peer)}`;
    for (const { cidr } of peer.subnets) routes.set(routeName(cidr), `route replace ${cidr} ${through}`);
  }
  return routes;
}

/** As `ip route show` writes a destination. */
function routeName(cidr: string): string {
  if (cidr === '0.0.0.0/0') return 'default';
  return cidr.endsWith('/32') ? cidr.slice(0, -3) : cidr;
}

function prefixOf(cidr: string): number {
  const { first, last } = ipv4Range(cidr);
  return 32 - Math.log2(last - first + 1);
}

/** Whether everything that a router needs is there. */
export function isComplete(state: NamespaceState, links: ReadonlySet<string>): boolean {
  const tables = state.tables.has('inet tenantry') && state.tables.has('bridge tenantry');
  return (
    tables &&
    state.links.has(UPLINK) &&
    [...links].every((link) => state.links.has(link)) &&
    ![...state.links].some((link) => isOwnLink(link) && !links.has(link))
  );
}
