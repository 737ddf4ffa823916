import { ipv4Range } from '../../../../kube/ipv4-range.ts';
import { macOf, peerAddressOf, sourcesOf, uplinkOf } from '../model/address-plan.ts';
import type { Endpoint, Platform, Subnet, Vpc } from '../model/vpc.ts';
import { answerMatches, balancerCommands, balancerNames, questionMatches, refusedMatches } from './load-balancers.ts';
import { CHASSIS, EXTERNAL, groupOf, peerPort, portOf, routerOf, subnetNames, uplinkPorts, WIRE } from './names.ts';

/** One command of `ovn-nbctl`: many of them make one transaction. */
export type Command = readonly string[];

/** Rows by what they are called, as far as removal needs them. */
export interface Rows {
  routers: ReadonlySet<string>;
  switches: ReadonlySet<string>;
  switchPorts: ReadonlySet<string>;
  routerPorts: ReadonlySet<string>;
  groups: ReadonlySet<string>;
  balancers: ReadonlySet<string>;
}

/** Priorities of a router's policies, the first to match decides. */
const POLICY = { endpoint: 31_000, own: 30_500, peer: 30_400, blocked: 30_000, link: 29_500, world: 29_000 } as const;
const ACL_PRIORITY = 1800;

/**
 * The switch that all routers meet the machine in. A port of it is always here, closed: with the first one that comes to be here the controller connects
 * this switch with the machine's link, and then works out everything anew, for as many VPCs as come with it.
 */
export function externalCommands(): Command[] {
  return [
    ['--may-exist', 'ls-add', EXTERNAL.switch],
    ['--may-exist', 'lsp-add', EXTERNAL.switch, EXTERNAL.wire],
    ['lsp-set-type', EXTERNAL.wire, 'localnet'],
    ['lsp-set-addresses', EXTERNAL.wire, 'unknown'],
    ['lsp-set-options', EXTERNAL.wire, `network_name=${EXTERNAL.network}`],
    ['--may-exist', 'lsp-add', EXTERNAL.switch, EXTERNAL.here],
    ['lsp-set-enabled', EXTERNAL.here, 'disabled'],
  ];
}

/** Everything that makes a VPC; what is there already stays as it is. `groups` are those that are there. */
export function vpcCommands(vpc: Vpc, peers: readonly Vpc[], platform: Platform, groups: ReadonlySet<string>): Command[] {
  return [
    ['--may-exist', 'lr-add', routerOf(vpc.name)],
    // Routers meet in the external switch and never speak to each other there: knowing all others would cost their number squared.
    ['set', 'Logical_Router', routerOf(vpc.name), 'options:dynamic_neigh_routers=true', 'options:always_learn_from_arp_request=false'],
    ...uplinkCommands(vpc, platform),
    ...vpc.subnets.flatMap((subnet) => subnetCommands(vpc, subnet)),
    ...vpc.ports.flatMap((port) => portCommands(vpc, port)),
    ...peers.flatMap((peer) => peerCommands(vpc, peer)),
    ...routeCommands(vpc, peers, platform),
    ...policyCommands(vpc, peers, platform),
    ...balancerCommands(vpc, peers),
    ...accessCommands(vpc, peers, groups),
  ];
}

function uplinkCommands(vpc: Vpc, platform: Platform): Command[] {
  const router = routerOf(vpc.name);
  const ports = uplinkPorts(vpc.name);
  const uplink = uplinkOf(platform, vpc.index);
  return [
    ['--may-exist', 'lrp-add', router, ports.router, macOf(vpc.name, uplink.router), `${uplink.router}/31`],
    ['lrp-set-gateway-chassis', ports.router, CHASSIS],
    ...toRouter(EXTERNAL.switch, ports.external, ports.router, macOf(vpc.name, uplink.router)),
    ['lr-nat-del', router],
    ...ownRanges(vpc).map((cidr) => ['lr-nat-add', router, 'snat', uplink.router, cidr]),
  ];
}

function subnetCommands(vpc: Vpc, subnet: Subnet): Command[] {
  const names = subnetNames(vpc.name, subnet);
  const mac = macOf(vpc.name, subnet.gateway);
  const tagged =
    subnet.vlan === undefined
      ? []
      : [
          ['--may-exist', 'lsp-add', names.switch, names.toWire],
          ['set', 'Logical_Switch_Port', names.toWire, `tag_request=${subnet.vlan}`],
          ['lsp-set-type', names.toWire, 'localnet'],
          ['lsp-set-addresses', names.toWire, 'unknown'],
          ['lsp-set-options', names.toWire, `network_name=${WIRE}`],
        ];
  return [
    ['--may-exist', 'ls-add', names.switch],
    ['--may-exist', 'lrp-add', routerOf(vpc.name), names.gateway, mac, `${subnet.gateway}/${prefixOf(subnet.cidr)}`],
    ...toRouter(names.switch, names.toRouter, names.gateway, mac),
    ...tagged,
  ];
}

function portCommands(vpc: Vpc, port: Vpc['ports'][number]): Command[] {
  const name = portOf(vpc.name, port);
  const subnet = vpc.subnets.find((one) => one.name === port.subnet)!;
  return [
    ['--may-exist', 'lsp-add', subnetNames(vpc.name, subnet).switch, name],
    ['lsp-set-addresses', name, `${port.mac} ${port.address}`],
    ['lsp-set-port-security', name, `${port.mac} ${sourcesOf(vpc, port.address).join(' ')}`],
  ];
}

function peerCommands(vpc: Vpc, peer: Vpc): Command[] {
  const port = peerPort(vpc.name, peer.name);
  const address = peerAddressOf(vpc.index);
  return [
    [
      '--may-exist',
      'lrp-add',
      routerOf(vpc.name),
      port,
      macOf(vpc.name, address),
      `${address}/32`,
      `peer=${peerPort(peer.name, vpc.name)}`,
    ],
  ];
}

function routeCommands(vpc: Vpc, peers: readonly Vpc[], platform: Platform): Command[] {
  const router = routerOf(vpc.name);
  const { platform: machine } = uplinkOf(platform, vpc.index);
  return [
    ['--if-exists', 'lr-route-del', router],
    ['lr-route-add', router, '0.0.0.0/0', machine, uplinkPorts(vpc.name).router],
    ...vpc.routes.map(({ cidr, via }) => ['lr-route-add', router, cidr, via]),
    ...peers.flatMap((peer) =>
      peer.subnets.map(({ cidr }) => ['lr-route-add', router, cidr, peerAddressOf(peer.index), peerPort(vpc.name, peer.name)]),
    ),
  ];
}

/** What a router passes on. Without these a default route to a shared switch leads to everything that is on it. */
function policyCommands(vpc: Vpc, peers: readonly Vpc[], platform: Platform): Command[] {
  const router = routerOf(vpc.name);
  const segments = `inport == {${vpc.subnets.map((subnet) => `"${subnetNames(vpc.name, subnet).gateway}"`).join(', ')}}`;
  const own = setOf(ownRanges(vpc));
  const subnets = setOf(vpc.subnets.map(({ cidr }) => cidr));
  const outside = `inport == "${uplinkPorts(vpc.name).router}"`;
  const policies: [priority: number, match: string, action: 'allow' | 'drop'][] = [
    ...vpc.endpoints.map((endpoint): [number, string, 'allow'] => [POLICY.endpoint, `${segments} && ${endpointMatch(endpoint)}`, 'allow']),
    ...answerMatches(vpc, platform).map((match): [number, string, 'allow'] => [POLICY.endpoint, `${segments} && ${match}`, 'allow']),
    // What comes back to a worker was tracked by the router, which gave it the worker's address: nothing else from outside gets in.
    [POLICY.endpoint, `${outside} && ct.trk && ct.rpl && ip4.dst == ${own}`, 'allow'],
    ...questionMatches(vpc, platform).map((match): [number, string, 'allow'] => [POLICY.endpoint, `${outside} && ${match}`, 'allow']),
    [POLICY.link, `${outside} && ip4`, 'drop'],
    [POLICY.own, `${segments} && ip4.src == ${own} && ip4.dst == ${own}`, 'allow'],
    ...peers.flatMap((peer): [number, string, 'allow' | 'drop'][] => {
      const theirs = setOf(peer.subnets.map(({ cidr }) => cidr));
      const link = `inport == "${peerPort(vpc.name, peer.name)}"`;
      return [
        [POLICY.peer, `${segments} && ip4.src == ${subnets} && ip4.dst == ${theirs}`, 'allow'],
        [POLICY.peer, `${link} && ip4.src == ${theirs} && ip4.dst == ${subnets}`, 'allow'],
        [POLICY.link, `${link} && ip4`, 'drop'],
      ];
    }),
    // What a router says itself passes here too: from its address outside it answers no worker.
    [
      POLICY.blocked,
      `${segments} && (ip4.dst == ${setOf(platform.blocked)} || ip4.src == ${uplinkOf(platform, vpc.index).router})`,
      'drop',
    ],
    ...(vpc.egress ? [] : [[POLICY.world, `${segments} && ip4`, 'drop'] satisfies [number, string, 'drop']]),
  ];
  return [
    ['lr-policy-del', router],
    ...policies.map(([priority, match, action]) => ['lr-policy-add', router, String(priority), match, action]),
  ];
}

/** Rules of segments; most have none, and what a switch with rules costs is saved: the addresses of a port keep everything out that is not the worker's, IPv6 too. */
function accessCommands(vpc: Vpc, peers: readonly Vpc[], groups: ReadonlySet<string>): Command[] {
  const group = groupOf(vpc.name);
  const rules = accessRules(vpc, peers);
  if (rules.length === 0) return [];
  return [
    groupCommand(vpc, groups),
    ['acl-del', group],
    ...rules.map((match) => ['acl-add', group, 'from-lport', String(ACL_PRIORITY), match, 'drop']),
  ];
}

/** What does not get into segments. None of it depends on connections, so that segments need not track them. */
function accessRules(vpc: Vpc, peers: readonly Vpc[]): string[] {
  return [
    ...refusedMatches(vpc, peers).map((match) => `inport == @${groupOf(vpc.name)} && ${match}`),
    // On a wire there may be others: only what is of the VPC comes in from there.
    ...vpc.subnets
      .filter(({ vlan }) => vlan !== undefined)
      .map((subnet) => `inport == "${subnetNames(vpc.name, subnet).toWire}" && ip4.src != ${setOf(ownRanges(vpc))}`),
  ];
}

/** The workers of a VPC; `pg-set-ports` does not take none. */
function groupCommand(vpc: Vpc, groups: ReadonlySet<string>): Command {
  const group = groupOf(vpc.name);
  const ports = vpc.ports.map((port) => portOf(vpc.name, port));
  if (!groups.has(group)) return ['pg-add', group, ...ports];
  return ports.length === 0 ? ['clear', 'Port_Group', group, 'ports'] : ['pg-set-ports', group, ...ports];
}

/** Takes away rows that none of these VPCs has. */
export function removalCommands(rows: Rows, wanted: Rows): Command[] {
  const gone = (kind: keyof Rows): string[] => [...rows[kind]].filter((name) => !wanted[kind].has(name));
  return [
    ...gone('groups').map((name) => ['pg-del', name]),
    ...gone('balancers').map((name) => ['--if-exists', 'lb-del', name]),
    ...gone('switchPorts').map((name) => ['--if-exists', 'lsp-del', name]),
    ...gone('routerPorts').map((name) => ['--if-exists', 'lrp-del', name]),
    ...gone('routers').map((name) => ['--if-exists', 'lr-del', name]),
    ...gone('switches').map((name) => ['--if-exists', 'ls-del', name]),
  ];
}

/** The rows that VPCs have. */
export function rowsOf(vpcs: readonly { vpc: Vpc; peers: readonly Vpc[] }[]): Rows {
  const names = vpcs.map(({ vpc, peers }) => ({
    router: routerOf(vpc.name),
    uplink: uplinkPorts(vpc.name),
    subnets: vpc.subnets.map((subnet) => ({ ...subnetNames(vpc.name, subnet), tagged: subnet.vlan !== undefined })),
    ports: vpc.ports.map((port) => portOf(vpc.name, port)),
    peers: peers.map((peer) => peerPort(vpc.name, peer.name)),
    groups: accessRules(vpc, peers).length > 0 ? [groupOf(vpc.name)] : [],
  }));
  return {
    routers: new Set(names.map(({ router }) => router)),
    switches: new Set([EXTERNAL.switch, ...names.flatMap(({ subnets }) => subnets.map((subnet) => subnet.switch))]),
    switchPorts: new Set([
      EXTERNAL.wire,
      EXTERNAL.here,
      ...names.flatMap(({ uplink, subnets, ports }) => [
        uplink.external,
        ...ports,
        ...subnets.flatMap(({ toRouter: port, toWire, tagged }) => (tagged ? [port, toWire] : [port])),
      ]),
    ]),
    routerPorts: new Set(
      names.flatMap(({ uplink, subnets, peers }) => [uplink.router, ...subnets.map(({ gateway }) => gateway), ...peers]),
    ),
    groups: new Set(names.flatMap(({ groups }) => groups)),
    balancers: balancerNames(vpcs.map(({ vpc }) => vpc)),
  };
}

/** With its hardware address alone: who asks for the router's addresses is answered by the router, and the switch needs no rules to do the same. */
function toRouter(switchName: string, port: string, routerPort: string, mac: string): Command[] {
  return [
    ['--may-exist', 'lsp-add', switchName, port],
    ['lsp-set-type', port, 'router'],
    ['lsp-set-addresses', port, mac],
    ['lsp-set-options', port, `router-port=${routerPort}`],
  ];
}

function ownRanges(vpc: Vpc): string[] {
  return [...vpc.subnets.map(({ cidr }) => cidr), ...vpc.routes.map(({ cidr }) => cidr)];
}

function endpointMatch({ address, protocol, port }: Endpoint): string {
  return `ip4.dst == ${address} && ${protocol}.dst == ${port}`;
}

function setOf(elements: readonly string[]): string {
  return `{${elements.join(', ')}}`;
}

function prefixOf(cidr: string): number {
  const { first, last } = ipv4Range(cidr);
  return 32 - Math.log2(last - first + 1);
}
