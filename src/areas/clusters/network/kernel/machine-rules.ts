import { uplinkOf } from '../model/address-plan.ts';
import { externalAddresses, externalListeners } from '../model/balanced.ts';
import type { NetworkPlan, Vpc } from '../model/vpc.ts';

/** How a provider's uplinks are seen from the machine. */
export interface Wall {
  /** The name of the table. */
  table: string;
  /** Matches the links that tenants' packets come from. */
  links: string;
  /** What tells one VPC's packets from another's: the link, when each has one of its own; else the address that only its router can have. */
  from: { expression: 'iifname'; type: 'ifname'; of: (vpc: string) => string } | { expression: 'ip saddr'; type: 'ipv4_addr' };
  /** Whether routers see who speaks to them from outside; if not, it is always the machine. */
  transparent: boolean;
}

/**
 * The only rules in the machine's own network: a second wall. A router lets little through to the machine; of that, only the endpoints of its
 * own tenant get in or through, and nobody but the machine itself opens connections into a VPC. Endpoints are reached by tenants and by this
 * machine, whatever is routed to it from elsewhere.
 */
export function machineRules(plan: NetworkPlan, wall: Wall): string {
  const { platform, vpcs } = plan;
  const { table: name, links, from } = wall;
  const table = `ip ${name}`;
  const removal = `add table ${table}\ndelete table ${table}\n`;
  if (vpcs.length === 0) return removal;
  const sourceOf = (vpc: Vpc) => (from.expression === 'iifname' ? `"${from.of(vpc.name)}"` : uplinkOf(platform, vpc.index).router);
  const endpoints = vpcs.flatMap((vpc) =>
    vpc.endpoints.map(({ address, protocol, port }) => `${sourceOf(vpc)} . ${address} . ${protocol} . ${port}`),
  );
  const own = vpcs.map((vpc) => `${sourceOf(vpc)} . ${uplinkOf(platform, vpc.index).platform}`);
  const elements = endpoints.length === 0 ? '' : ` elements = { ${endpoints.join(', ')} }`;
  const outsiders = vpcs.flatMap(externalListeners);
  const external = outsiders.flatMap(({ sources, address, protocol, port }) =>
    sources.map((source) => `${source} . ${address} . ${protocol} . ${port}`),
  );
  // The address that the tenant asked for: what answers may be in a namespace of its own, with another address and the same port.
  const toEndpoint = `ct direction original ${from.expression} . ct original ip daddr . meta l4proto . th dport @endpoints accept`;
  return `${removal}table ${table} {
  set endpoints { type ${from.type} . ipv4_addr . inet_proto . inet_service;${elements}
  }
  set own { type ${from.type} . ipv4_addr; elements = { ${own.join(', ')} }
  }
  set blocked { type ipv4_addr; flags interval; auto-merge; elements = { ${platform.blocked.join(', ')} }
  }
  set external { type ipv4_addr . ipv4_addr . inet_proto . inet_service; flags interval;${external.length === 0 ? '' : ` elements = { ${external.join(', ')} }`}
  }
  chain input {
    type filter hook input priority filter; policy accept;
    iifname ${links} ${toEndpoint}
    iifname ${links} ct direction reply ct state { established, related } accept
    iifname ${links} drop
    iifname != "lo" ct direction original ip daddr ${platform.transit} drop
  }
  chain forward {
    type filter hook forward priority filter; policy accept;
    iifname ${links} ${toEndpoint}
    # A control plane with a network of its own has its endpoint forwarded to it.
    iifname ${links} ct status dnat ${from.expression} . ct original ip daddr @own accept
    iifname ${links} ct direction original ip daddr @blocked drop
    iifname ${links} oifname ${links} drop
    oifname ${links} ct direction original ip saddr . ip daddr . meta l4proto . th dport @external accept
    oifname ${links} ct direction original drop
  }
  chain postrouting {
    type nat hook postrouting priority srcnat; policy accept;
    iifname ${links} oifname != ${links} masquerade
${vpcs.map((vpc) => sourceRule(vpc, plan, wall)).join('')}  }
}
`;
}

/** Who has the same address as somebody in the VPC gets another one on the way, or the answer would never find him. */
function sourceRule(vpc: Vpc, { platform }: NetworkPlan, { links, transparent }: Wall): string {
  const addresses = externalAddresses(vpc);
  if (addresses.length === 0) return '';
  const own = [...vpc.subnets, ...vpc.routes].map(({ cidr }) => cidr);
  const who = transparent ? `ip saddr { ${[...own, ...(vpc.vpn?.clients ?? [])].join(', ')} } ` : '';
  return `    oifname ${links} ip daddr { ${addresses.join(', ')} } ${who}snat ip to ${uplinkOf(platform, vpc.index).platform}\n`;
}
