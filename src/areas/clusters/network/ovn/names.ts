import { createHash } from 'node:crypto';
import type { Port, Subnet } from '../model/vpc.ts';

/**
 * The names of rows and links. As everywhere here, a name stands for all that cannot be changed of what it names, so that what has the name
 * is the right one. Databases and links are an instance's own, and hold all its VPCs.
 */
export const EXTERNAL = { switch: 'external', wire: 'external.wire', here: 'external.here', network: 'platform' } as const;

/** A link that nobody uses, of the port `external.here`. */
export const PRESENCE = 'here0';

/** The bridges inside the instance's switch, and its end of the link to the machine. */
export const BRIDGES = { workers: 'br-int', platform: 'br-ex', tunnels: 'br-tun', wire: 'br-wire' } as const;
export const UPLINK = 'up0';

/** The network name of the wire that tagged segments are on. */
export const WIRE = 'wire';

export const CHASSIS = 'here';

export function routerOf(vpc: string): string {
  return `r.${vpc}`;
}

/** The router's port to the machine, and the port of the external switch that it ends in. */
export function uplinkPorts(vpc: string): { router: string; external: string } {
  return { router: `u.${vpc}`, external: `e.${vpc}` };
}

/** A subnet's switch, the router's port in it, the switch's port to the router, and the one to the wire. */
export function subnetNames(
  vpc: string,
  { name, cidr, gateway }: Subnet,
): { switch: string; gateway: string; toRouter: string; toWire: string } {
  const id = `${vpc}.${name}.${hash(cidr, gateway)}`;
  return { switch: `s.${id}`, gateway: `g.${id}`, toRouter: `t.${id}`, toWire: `w.${id}` };
}

export function peerPort(vpc: string, peer: string): string {
  return `x.${vpc}.${peer}`;
}

/** A worker's port. The link has the same name, which is short and unique over all VPCs. */
export function portOf(vpc: string, { name, mac, address, subnet, attachment }: Port): string {
  return `p${hash(vpc, name, mac, address, subnet, JSON.stringify(attachment))}`;
}

/** Expressions take no dashes in the name of a group. */
export function groupOf(vpc: string): string {
  return `vpc_${hash(vpc)}`;
}

export function isPortLink(name: string): boolean {
  return /^p[0-9a-f]{10}$/.test(name);
}

function hash(...parts: string[]): string {
  return createHash('sha256').update(parts.join('\0')).digest('hex').slice(0, 10);
}
