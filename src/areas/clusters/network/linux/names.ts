import { createHash } from 'node:crypto';
import type { Wall } from '../kernel/machine-rules.ts';
import type { Port, Subnet, Vpc } from '../model/vpc.ts';

/** The router's end of the link to the machine. */
export const UPLINK = 'up0';

/** The links that clients of VPNs come through, as rules match them: a router has one at most. */
export const VPN_LINKS = 'wg*';

/**
 * The names of what an instance makes in the kernel. A link's name stands for all that cannot be changed of it, so that a link of that name
 * is the right one; names of links have at most 15 characters.
 */
export class LinuxNames {
  readonly #instance: string;

  /** Tells the instances on one machine apart: six letters and digits. */
  constructor(instance: string) {
    if (!/^[0-9a-z]{6}$/.test(instance)) {
      throw new Error(`Cannot use "${instance}" as the name of an instance: it is not six letters and digits; name it by them`);
    }
    this.#instance = instance;
  }

  get namespacePrefix(): string {
    return `tenantry-vpc-${this.#instance}-`;
  }

  get uplinkPrefix(): string {
    return `v${this.#instance}`;
  }

  get machineTable(): string {
    return `tenantry-vpc-${this.#instance}`;
  }

  get wall(): Wall {
    return {
      table: this.machineTable,
      links: `"${this.uplinkPrefix}*"`,
      from: { expression: 'iifname', type: 'ifname', of: (vpc) => this.uplink(vpc) },
      transparent: true,
    };
  }

  namespace(vpc: string): string {
    return `${this.namespacePrefix}${hash(vpc)}`;
  }

  /** The link that clients of the VPN come through. Its program has a socket of this name beside those of all others on the machine. */
  vpnLink(vpc: string): string {
    return `${VPN_LINKS.slice(0, -1)}${this.#instance}${hash(vpc).slice(0, 7)}`;
  }

  /** The machine's end of a VPC's uplink. */
  uplink(vpc: string): string {
    return `${this.uplinkPrefix}${hash(vpc)}`;
  }
}

export function bridgeOf({ name, cidr, gateway }: Subnet): string {
  return `s${hash(name, cidr, gateway)}`;
}

export function portLinkOf({ name, mac, address, attachment }: Port): string {
  return `p${hash(name, mac, address, JSON.stringify(attachment))}`;
}

/** The end of a peering's link in the router of `vpc`. */
export function peerLinkOf(vpc: Pick<Vpc, 'name'>, peer: Pick<Vpc, 'name'>): string {
  return `x${hash(vpc.name, peer.name)}`;
}

/** Links in a router that are ours to take away. */
export function isOwnLink(name: string): boolean {
  return /^[spx][0-9a-f]{8}$/.test(name);
}

export function isPortLink(name: string): boolean {
  return name.startsWith('p') && isOwnLink(name);
}

function hash(...parts: string[]): string {
  return createHash('sha256').update(parts.join('\0')).digest('hex').slice(0, 8);
}
