import { sourcesOf, uplinkOf } from '../model/address-plan.ts';
import type { Endpoint, Listener, Platform, Vpc, VpnGateway } from '../model/vpc.ts';
import { balancedElements, destinationRules, forwardRules, refusedElements, sourceRules } from './load-balancer-rules.ts';
import { bridgeOf, peerLinkOf, portLinkOf, UPLINK, VPN_LINKS } from './names.ts';

const TABLE = 'tenantry';

/**
 * All rules of a VPC's router, which replace those that are there in one step. No rule lets a connection through because it was let through
 * before: what is no longer allowed is cut. Only what comes back from the world is known by its connection.
 */
export function routerRules(vpc: Vpc, peers: readonly Vpc[], platform: Platform): string {
  return [replaced('inet', inetTable(vpc, peers, platform)), replaced('bridge', bridgeTable(vpc))].join('');
}

function replaced(family: string, body: string): string {
  return `add table ${family} ${TABLE}\ndelete table ${family} ${TABLE}\ntable ${family} ${TABLE} {\n${body}}\n`;
}

function inetTable(vpc: Vpc, peers: readonly Vpc[], platform: Platform): string {
  const uplink = uplinkOf(platform, vpc.index);
  const own = vpc.subnets.map(({ cidr }) => cidr);
  return [
    set('blocked', 'type ipv4_addr; flags interval; auto-merge;', platform.blocked),
    set('own', 'type ipv4_addr; flags interval; auto-merge;', [...own, ...vpc.routes.map(({ cidr }) => cidr)]),
    set(
      'gateways',
      'type ipv4_addr;',
      vpc.subnets.map(({ gateway }) => gateway),
    ),
    set(
      'segments',
      'type ifname;',
      vpc.subnets.map((subnet) => quoted(bridgeOf(subnet))),
    ),
    set('endpoints', 'type ipv4_addr . inet_proto . inet_service;', vpc.endpoints.map(endpointText)),
    set('services', 'type inet_proto . inet_service;', vpc.services.map(listenerText)),
    set('clients', 'type ipv4_addr; flags interval; auto-merge;', vpc.vpn?.clients ?? []),
    set('balanced', 'type ipv4_addr . mark; flags interval;', balancedElements(vpc)),
    set('refused', 'type ipv4_addr . inet_proto . inet_service;', refusedElements(vpc)),
    chain('forward', 'type filter hook forward priority filter; policy drop;', [
      ...forwardRules(),
      // Before anything about connections: a worker answers its neighbours without the router, which then sees one half of what they say.
      'iifname @segments oifname @segments ip saddr @own ip daddr @own accept',
      'ct state invalid drop',
      ...(vpc.vpn ? vpnForwardRules() : []),
      ...peers.flatMap((peer) => peerRules(vpc, peer)),
      `iifname @segments oifname "${UPLINK}" ip saddr @own ip daddr . meta l4proto . th dport @endpoints accept`,
      `iifname @segments oifname "${UPLINK}" ip daddr @blocked drop`,
      ...(vpc.egress ? [`iifname @segments oifname "${UPLINK}" ip saddr @own accept`] : []),
      `iifname "${UPLINK}" oifname @segments ct direction reply ip saddr . meta l4proto . th sport @endpoints accept`,
      `iifname "${UPLINK}" oifname @segments ct state related accept`,
      `iifname "${UPLINK}" ip saddr @blocked drop`,
      ...(vpc.egress ? [`iifname "${UPLINK}" oifname @segments ct direction reply ct state established accept`] : []),
    ]),
    chain('input', 'type filter hook input priority filter; policy drop;', [
      'iifname "lo" accept',
      'ct direction reply ct state { established, related } accept',
      ...refusalRules(),
      'iifname @segments ip daddr != @gateways drop',
      ...(vpc.vpn ? vpnInputRules(vpc.vpn) : []),
      'meta l4proto . th dport @services iifname @segments accept',
      `meta l4proto . th dport @services iifname "${UPLINK}" ip saddr ${uplink.platform} accept`,
      'icmp type echo-request iifname @segments accept',
      `icmp type echo-request iifname "${UPLINK}" ip saddr ${uplink.platform} accept`,
    ]),
    // Programs in the router, those of guests among them, reach no more of the platform than the guests do.
    chain('output', 'type filter hook output priority filter; policy accept;', [
      'ct direction reply accept',
      'ip daddr . meta l4proto . th dport @endpoints accept',
      `oifname "${UPLINK}" ip daddr @blocked drop`,
    ]),
    chain('prerouting', 'type nat hook prerouting priority dstnat; policy accept;', destinationRules(vpc)),
    chain('postrouting', 'type nat hook postrouting priority srcnat; policy accept;', [
      `oifname "${UPLINK}" snat ip to ${uplink.router}`,
      ...sourceRules(vpc),
    ]),
  ].join('');
}

function peerRules(vpc: Vpc, peer: Vpc): string[] {
  const link = peerLinkOf(vpc, peer);
  const own = `{ ${vpc.subnets.map(({ cidr }) => cidr).join(', ')} }`;
  const theirs = `{ ${peer.subnets.map(({ cidr }) => cidr).join(', ')} }`;
  return [
    `iifname @segments oifname "${link}" ip saddr ${own} ip daddr ${theirs} accept`,
    `iifname "${link}" oifname @segments ip saddr ${theirs} ip daddr ${own} accept`,
  ];
}

/** Nobody waits for an answer of those who are not there. */
function refusalRules(): string[] {
  const refused = 'ip daddr . meta l4proto . th dport @refused';
  return [`${refused} meta l4proto tcp reject with tcp reset`, `${refused} reject with icmp port-unreachable`];
}

/** Clients are part of the VPC; its peers and the world are not theirs. */
function vpnForwardRules(): string[] {
  return [
    `iifname "${VPN_LINKS}" oifname @segments ip saddr @clients ip daddr @own accept`,
    `iifname @segments oifname "${VPN_LINKS}" ip saddr @own ip daddr @clients accept`,
  ];
}

function vpnInputRules({ external, port }: VpnGateway): string[] {
  return [
    `iifname "${UPLINK}" ip daddr ${external} udp dport ${port} accept`,
    `iifname "${VPN_LINKS}" ip saddr @clients ip daddr @gateways icmp type echo-request accept`,
  ];
}

/** Frames enter a segment only through a worker's port, with the worker's own addresses; nothing but IPv4 and ARP does. */
function bridgeTable(vpc: Vpc): string {
  const sources = vpc.ports.flatMap(({ mac, address }) => sourcesOf(vpc, address).map((source) => `${mac} . ${source}`));
  return [
    set(
      'ports',
      'type ifname . ether_addr;',
      vpc.ports.map((port) => `${quoted(portLinkOf(port))} . ${port.mac}`),
    ),
    set('sources', 'type ether_addr . ipv4_addr; flags interval;', sources),
    chain('prerouting', 'type filter hook prerouting priority -300; policy drop;', [
      'iifname . ether saddr != @ports drop',
      'ether type ip ether saddr . ip saddr @sources accept',
      'ether type arp iifname . arp saddr ether @ports arp saddr ether . arp saddr ip @sources accept',
    ]),
  ].join('');
}

function set(name: string, definition: string, elements: readonly string[]): string {
  const content = elements.length === 0 ? '' : ` elements = { ${[...new Set(elements)].join(', ')} }`;
  return `  set ${name} { ${definition}${content}\n  }\n`;
}

function chain(name: string, hook: string, rules: readonly string[]): string {
  return `  chain ${name} {\n    ${hook}\n${rules.map((rule) => `    ${rule}\n`).join('')}  }\n`;
}

function endpointText({ address, ...listener }: Endpoint): string {
  return `${address} . ${listenerText(listener)}`;
}

function listenerText({ protocol, port }: Listener): string {
  return `${protocol} . ${port}`;
}

function quoted(text: string): string {
  return `"${text}"`;
}
