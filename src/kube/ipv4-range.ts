import { parseCidr } from './ip.ts';

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
