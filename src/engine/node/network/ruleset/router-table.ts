import { NftTable } from './nft-table.ts';

export interface RouterAddresses {
  /** Where the machine speaks to Pods from: probes, exec, the API server. */
  node: string;
  /** The next hop of every Pod, and the source of connections that a Pod makes to itself through a Service. */
  gateway: string;
  /** The router's end of the link to the machine. */
  uplink: string;
}

export const ROUTER_TABLE = 'tenantry';
export const UPLINK = 'uplink';
export const SELF = 'self';
export const OWN_SERVICES = 'own_services';
export const DENIED = { ingress: 'seen_ingress', egress: 'seen_egress' } as const;
export const DENIED_OTHER = { ingress: 'seen_ingress_other', egress: 'seen_egress_other' } as const;

/** Moves with every packet that is denied: what there is to read shows without reading it. */
export const DENIED_COUNTER = 'denied';

/** How many different denials are remembered at a time, and how long: what a flood of them can cost. */
const DENIED_SIZE = 4096;
const DENIED_SECONDS = 60;

/**
 * The table of the router, through which all traffic of all Pods passes. Egress of who opened the connection and ingress of who answers are
 * judged for every packet of both directions, so there is no rule that lets established connections through. What belongs to no connection
 * cannot be judged and goes nowhere.
 */
export function routerTable(addresses: RouterAddresses): NftTable {
  const table = new NftTable(ROUTER_TABLE, fixedChains(addresses));
  table.declareSet(SELF, { kind: 'set', definition: 'type ipv4_addr . ipv4_addr;' });
  table.declareSet(OWN_SERVICES, { kind: 'set', definition: 'type ipv4_addr . inet_proto . inet_service;' });
  const memory = `size ${DENIED_SIZE}; flags dynamic,timeout; timeout ${DENIED_SECONDS}s;`;
  for (const direction of ['ingress', 'egress'] as const) {
    table.declareSet(DENIED[direction], { kind: 'set', definition: `type ipv4_addr . ipv4_addr . inet_proto . inet_service; ${memory}` });
    table.declareSet(DENIED_OTHER[direction], { kind: 'set', definition: `type ipv4_addr . ipv4_addr . inet_proto; ${memory}` });
    table.setChain(`denied_${direction}`, deniedRules(direction));
  }
  return table;
}

/** New connections vanish, as in every cluster; one that was open is told, so that neither side waits for the other. */
function deniedRules(direction: 'ingress' | 'egress'): string[] {
  const ends = 'ct original ip saddr . ct reply ip saddr . meta l4proto';
  return [
    `ct direction original meta l4proto { tcp, udp, sctp } update @${DENIED[direction]} { ${ends} . th dport counter }`,
    `ct direction original meta l4proto != { tcp, udp, sctp } update @${DENIED_OTHER[direction]} { ${ends} counter }`,
    `counter name ${DENIED_COUNTER}`,
    'meta l4proto tcp ct state established reject with tcp reset',
    'drop',
  ];
}

function fixedChains({ node, gateway, uplink }: RouterAddresses): string {
  return `
  counter ${DENIED_COUNTER} {
  }
  chain prerouting_nat {
    type nat hook prerouting priority dstnat; policy accept;
    ip daddr . meta l4proto . th dport vmap @services
  }
  chain postrouting_nat {
    type nat hook postrouting priority srcnat; policy accept;
    ip saddr . ip daddr @${SELF} snat to ${gateway}
    iifname "${UPLINK}" oifname "${UPLINK}" snat to ${uplink}
  }
  chain forward {
    type filter hook forward priority filter; policy drop;
    ct state invalid drop
    ct original ip saddr ${node} accept
    ct original ip saddr . ct reply ip saddr @${SELF} accept
    ct original ip saddr vmap @egress_of
    ct reply ip saddr vmap @ingress_of
    ct state { new, established, related } accept
  }
  chain input {
    type filter hook input priority filter; policy drop;
    iifname "lo" accept
    ct state invalid drop
    ct original ip saddr vmap @egress_of
    ip daddr . meta l4proto . th dport @${OWN_SERVICES} accept
    ip daddr { ${gateway}, ${uplink} } icmp type echo-request accept
    meta l4proto tcp reject with tcp reset
    reject with icmp port-unreachable
  }`;
}
