import { parseCidr } from '../../../../kube/ip.ts';

/** A range of IPv4 addresses as numbers. */
export interface Ipv4Range {
  first: number;
  last: number;
}

export function ipv4Range(text: string): Ipv4Range {
  const cidr = parseCidr(text);
  if (cidr?.address.version !== 4) {
    throw new Error(`Cannot use "${text}" as a range of addresses: it is not an IPv4 CIDR; write one such as 10.244.0.0/16`);
  }
  const first = toNumber(cidr.network.join('.'));
  return { first, last: first + 2 ** (32 - cidr.prefix) - 1 };
}

export function overlap(a: Ipv4Range, b: Ipv4Range): boolean {
  return a.first <= b.last && b.first <= a.last;
}

export function contains(range: Ipv4Range, address: string): boolean {
  const value = toNumber(address);
  return range.first <= value && value <= range.last;
}

/** The address at a distance from the first one of the range. */
export function addressAt(range: Ipv4Range, offset: number): string {
  return toText(range.first + offset);
}

export function toNumber(address: string): number {
  return address.split('.').reduce((value, octet) => value * 256 + Number(octet), 0);
}

export function toText(value: number): string {
  return [24, 16, 8, 0].map((shift) => Math.floor(value / 2 ** shift) % 256).join('.');
}

/** Ranges for Pods, in the order of preference. */
export const POD_RANGES: readonly string[] = [
  ...Array.from({ length: 11 }, (_, i) => `10.${244 + i}.0.0/16`),
  ...Array.from({ length: 8 }, (_, i) => `172.${24 + i}.0.0/16`),
];

/** The first range that nothing on the machine uses. */
export function chooseRange(candidates: readonly string[], taken: readonly string[]): string {
  const used = taken.map(ipv4Range);
  const free = candidates.find((candidate) => !used.some((range) => overlap(range, ipv4Range(candidate))));
  if (free === undefined) {
    throw new Error(`Cannot choose addresses for Pods: all of ${candidates.join(', ')} are in use; name a free range with podCidr`);
  }
  return free;
}
