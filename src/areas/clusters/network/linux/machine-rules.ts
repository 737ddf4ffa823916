import type { NetworkPlan } from '../model/vpc.ts';
import type { LinuxNames } from './names.ts';

/**
 * The only rules in the machine's own network: a second wall. A router lets little through to the machine; of that, only the endpoints of its
 * own tenant get in, and nobody but the machine itself opens connections into a VPC.
 */
export function machineRules({ vpcs }: NetworkPlan, names: LinuxNames): string {
  const table = `ip ${names.machineTable}`;
  const removal = `add table ${table}\ndelete table ${table}\n`;
  if (vpcs.length === 0) return removal;
  const uplinks = `"${names.uplinkPrefix}*"`;
  const endpoints = vpcs.flatMap(({ name, endpoints: all }) =>
    all.map(({ address, protocol, port }) => `"${names.uplink(name)}" . ${address} . ${protocol} . ${port}`),
  );
  const elements = endpoints.length === 0 ? '' : ` elements = { ${endpoints.join(', ')} }`;
  return `${removal}table ${table} {
  set endpoints { type ifname . ipv4_addr . inet_proto . inet_service;${elements}
  }
  chain input {
    type filter hook input priority filter; policy accept;
    iifname ${uplinks} iifname . ip daddr . meta l4proto . th dport @endpoints accept
    iifname ${uplinks} ct direction reply ct state { established, related } accept
    iifname ${uplinks} drop
  }
  chain forward {
    type filter hook forward priority filter; policy accept;
    iifname ${uplinks} iifname . ip daddr . meta l4proto . th dport @endpoints accept
    iifname ${uplinks} oifname ${uplinks} drop
    oifname ${uplinks} ct direction original drop
  }
  chain postrouting {
    type nat hook postrouting priority srcnat; policy accept;
    iifname ${uplinks} oifname != ${uplinks} masquerade
  }
}
`;
}
