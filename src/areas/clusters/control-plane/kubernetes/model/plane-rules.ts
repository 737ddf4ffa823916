import { createHash } from 'node:crypto';
import type { ClusterRecord } from '../../process/cluster-folder.ts';

/** The names and addresses of the networks that control planes of one folder have. */
export class PlaneNames {
  readonly #instance: string;

  constructor(root: string) {
    this.#instance = createHash('sha256').update(root).digest('hex').slice(0, 6);
  }

  get table(): string {
    return `tenantry-plane-${this.#instance}`;
  }

  get linkPrefix(): string {
    return `k${this.#instance}`;
  }

  namespace(link: number): string {
    return `${this.table}-${link.toString(16)}`;
  }

  /** The machine's end; names of links have at most 15 characters. */
  link(link: number): string {
    return `${this.linkPrefix}${link.toString(16)}`;
  }
}

/** Of a range that tenants' subnets cannot be in: the machine's end and the control plane's. */
export function addressesOf(link: number): { machine: string; plane: string } {
  const [third, fourth] = [link >> 7, (link & 127) * 2];
  return { machine: `100.66.${third}.${fourth}`, plane: `100.66.${third}.${fourth + 1}` };
}

/**
 * What of the machine's traffic concerns control planes: an address of the machine that is a tenant's is forwarded to that tenant's control
 * plane, for who comes over the link that has the address. Nothing else from outside gets to one, and none opens connections to anybody.
 */
export function planeRules(records: readonly ClusterRecord[], names: PlaneNames): string {
  const table = `ip ${names.table}`;
  const removal = `add table ${table}\ndelete table ${table}\n`;
  const linked = records.filter(({ link }) => link !== undefined);
  if (linked.length === 0) return removal;
  const forwards = linked.flatMap(({ link, port, tunnelPort, forwarded }) => {
    if (forwarded === undefined) return [];
    const { plane } = addressesOf(link!);
    return [port, tunnelPort!].map((own) => `${forwarded} . ${own} : ${plane} . ${own}`);
  });
  const elements = forwards.length === 0 ? '' : ` elements = { ${forwards.join(', ')} }`;
  const links = `"${names.linkPrefix}*"`;
  return `${removal}table ${table} {
  map endpoints { type ipv4_addr . inet_service : ipv4_addr . inet_service;${elements}
  }
  chain prerouting {
    type nat hook prerouting priority dstnat; policy accept;
    fib daddr . iif type local dnat ip to ip daddr . tcp dport map @endpoints
  }
  chain output {
    type nat hook output priority -100; policy accept;
    dnat ip to ip daddr . tcp dport map @endpoints
  }
  chain input {
    type filter hook input priority filter; policy accept;
    iifname ${links} ct direction reply ct state { established, related } accept
    iifname ${links} drop
  }
  chain forward {
    type filter hook forward priority filter; policy accept;
    iifname ${links} ct direction original drop
    oifname ${links} ct status dnat accept
    oifname ${links} drop
  }
}
`;
}

/** Input of `ip -batch` on the machine, and in the namespace once it is there. */
export function linkCommands(link: number, names: PlaneNames): { machine: string[]; inside: string[] } {
  const { machine, plane } = addressesOf(link);
  const [namespace, name] = [names.namespace(link), names.link(link)];
  return {
    machine: [
      `netns add ${namespace}`,
      `link add ${name} type veth peer name api0 netns ${namespace}`,
      `address add ${machine}/32 dev ${name}`,
      `link set ${name} up`,
      // Not `replace`: the address may be another instance's.
      `route add ${plane}/32 dev ${name} src ${machine}`,
    ],
    inside: [
      'link set lo up',
      `address add ${plane}/32 dev api0`,
      'link set api0 up',
      `route add ${machine}/32 dev api0`,
      // Answers to tenants go back through the machine.
      `route add default via ${machine} dev api0 onlink`,
    ],
  };
}
