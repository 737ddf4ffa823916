import { createHash } from 'node:crypto';
import { isCanonicalIp, parseCidr, parseIp, validateCidr } from '../../../../kube/ip.ts';
import { addressAt, contains, ipv4Range, toNumber } from '../../../../kube/ipv4-range.ts';
import type { Platform, Subnet, Vpc } from './vpc.ts';

/** The ends of the link between the machine and a router. */
export interface Uplink {
  platform: string;
  router: string;
}

/** Tags that a switch can tell apart; 1 is what untagged frames belong to on most of them. */
const VLANS = { first: 2, last: 4094 } as const;

/** The first addresses of a subnet stay free for what is not a worker: gateway, load balancers' own, names. */
const FIRST_WORKER = 10;

/** Links between routers: addresses that are never routed. */
const PEER_LINKS = ipv4Range('169.254.0.0/16');

export function uplinkOf({ transit }: Platform, index: number): Uplink {
  const range = ipv4Range(transit);
  return { platform: addressAt(range, 2 * index), router: addressAt(range, 2 * index + 1) };
}

/** The address of a VPC's router on all its links to others. */
export function peerAddressOf(index: number): string {
  return addressAt(PEER_LINKS, index);
}

/** How many VPCs there is room for. The first pair is not used: its first address is the range's own name. */
export function lastIndex({ transit }: Platform): number {
  const range = ipv4Range(transit);
  const last = Math.min(range.last - range.first, PEER_LINKS.last - PEER_LINKS.first - 1);
  return Math.floor(last / 2) - 1;
}

export function freeIndex(platform: Platform, taken: Iterable<number>): number {
  const used = new Set(taken);
  const last = lastIndex(platform);
  for (let index = 1; index <= last; index++) if (!used.has(index)) return index;
  throw new Error(`Cannot make another VPC: all ${last} pairs of addresses in "${platform.transit}" are in use; name a larger range`);
}

export function freeVlan(taken: Iterable<number>): number {
  const used = new Set(taken);
  for (let vlan = VLANS.first; vlan <= VLANS.last; vlan++) if (!used.has(vlan)) return vlan;
  throw new Error('Cannot make another VLAN: all ids are in use; use the mode Overlay');
}

export function isVlan(id: number): boolean {
  return Number.isInteger(id) && id >= VLANS.first && id <= VLANS.last;
}

/** The gateway that a subnet has when it names none. */
export function firstAddress(cidr: string): string {
  return addressAt(ipv4Range(cidr), 1);
}

/** An address for a worker that nobody has. Small subnets give what they have. */
export function freeAddress({ name, cidr, gateway }: Subnet, taken: Iterable<string>): string {
  const range = ipv4Range(cidr);
  const used = new Set([gateway, ...taken]);
  const size = range.last - range.first + 1;
  const reserved = size > 4 * FIRST_WORKER ? FIRST_WORKER : 1;
  for (let offset = reserved; offset < size - 1; offset++) {
    const address = addressAt(range, offset);
    if (!used.has(address)) return address;
  }
  throw new Error(`Cannot give another worker an address of subnet "${name}": all of ${cidr} are in use; add a subnet`);
}

/** Locally administered, the same whenever the same address is asked for, and different within a VPC. */
export function macOf(vpc: string, address: string): string {
  const tenant = createHash('sha256').update(vpc).digest().subarray(0, 1);
  const bytes = [0x02, ...tenant, ...address.split('.').map(Number)];
  return bytes.map((byte) => byte.toString(16).padStart(2, '0')).join(':');
}

/** Everything that may come out of a worker's port. */
export function sourcesOf(vpc: Pick<Vpc, 'routes'>, address: string): string[] {
  return [address, ...vpc.routes.filter(({ via }) => via === address).map(({ cidr }) => cidr)];
}

/** An IPv4 address that everybody reads alike: to the tools of the kernel 010 is 8, so that what was judged would not be what is made. */
export function isPlainAddress(text: string): boolean {
  return parseIp(text)?.version === 4 && isCanonicalIp(text).length === 0;
}

/** The same of a range. */
export function isPlainRange(text: string): boolean {
  return parseCidr(text)?.address.version === 4 && validateCidr('', text).length === 0;
}

/** An address that a machine in the subnet can have. */
export function isHostAddress(cidr: string, address: string): boolean {
  const range = ipv4Range(cidr);
  const value = toNumber(address);
  return contains(range, address) && value !== range.first && value !== range.last;
}
