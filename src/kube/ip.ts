import { invalid, type FieldError } from './field-error.ts';

/**
 * IP addresses and CIDRs as Kubernetes reads them: leniently in old fields (leading zeros, IPv4 inside IPv6), strictly in new ones.
 */
export interface IpAddress {
  /** 4 or 16 bytes. */
  bytes: Uint8Array;
  version: 4 | 6;
  /** Written in a form that strict parsers refuse: an IPv4 octet with leading zeros. */
  leadingZeros: boolean;
  /** `::ffff:1.2.3.4`; `bytes` holds the four of the IPv4 address. */
  mapped: boolean;
}

export interface Cidr {
  address: IpAddress;
  /** Prefix length in the address's own version. */
  prefix: number;
  /** The prefix length was written with leading zeros. */
  leadingZeros: boolean;
  /** The first address of the range. */
  network: Uint8Array;
}

const MAPPED_PREFIX = [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff];

function parseOctets(text: string): { bytes: number[]; leadingZeros: boolean } | undefined {
  if (text.length > 64) return undefined;
  const bytes: number[] = [];
  let leadingZeros = false;
  // By hand: this runs for every address of every Endpoints and policy, several times.
  for (let i = 0; i <= text.length; i++) {
    const start = i;
    let value = 0;
    for (; i < text.length; i++) {
      const digit = text.charCodeAt(i) - 48;
      if (digit === -2) break;
      if (digit < 0 || digit > 9) return undefined;
      value = value * 10 + digit;
    }
    if (i === start || value > 255) return undefined;
    if (i - start > 1 && text.charCodeAt(start) === 48) leadingZeros = true;
    bytes.push(value);
  }
  return bytes.length === 4 ? { bytes, leadingZeros } : undefined;
}

function parseGroups(text: string): number[] | undefined {
  if (text === '') return [];
  const bytes: number[] = [];
  for (const group of text.split(':')) {
    if (!/^0*[0-9a-fA-F]{1,4}$/.test(group)) return undefined;
    const value = Number.parseInt(group, 16);
    bytes.push(value >> 8, value & 0xff);
  }
  return bytes;
}

function parseV6(text: string): { bytes: number[]; leadingZeros: boolean } | undefined {
  if (text.length > 128) return undefined;
  let head = text;
  let tail: number[] = [];
  let leadingZeros = /(^|:)0*[0-9a-fA-F]{5,}/.test(text);
  const lastColon = text.lastIndexOf(':');
  if (text.indexOf('.', lastColon) >= 0) {
    const v4 = parseOctets(text.slice(lastColon + 1));
    if (!v4) return undefined;
    tail = v4.bytes;
    leadingZeros ||= v4.leadingZeros;
    const before = text.slice(0, lastColon);
    head = before.endsWith(':') ? `${before}:` : before;
  }
  const gap = head.indexOf('::');
  if (gap < 0) {
    const bytes = head === '' ? undefined : parseGroups(head);
    return bytes && bytes.length + tail.length === 16 ? { bytes: [...bytes, ...tail], leadingZeros } : undefined;
  }
  const left = parseGroups(head.slice(0, gap));
  const right = parseGroups(head.slice(gap + 2));
  if (!left || !right) return undefined;
  const missing = 16 - left.length - right.length - tail.length;
  return missing < 2 ? undefined : { bytes: [...left, ...Array<number>(missing).fill(0), ...right, ...tail], leadingZeros };
}

/** Reads an address the lenient way; the flags say what a strict reader would object to. */
export function parseIp(text: string): IpAddress | undefined {
  const [dot, colon] = [text.indexOf('.'), text.indexOf(':')];
  const separator = dot >= 0 && (colon < 0 || dot < colon) ? '.' : colon >= 0 ? ':' : '';
  if (separator === '.') {
    const v4 = parseOctets(text);
    return v4 && { bytes: Uint8Array.from(v4.bytes), version: 4, leadingZeros: v4.leadingZeros, mapped: false };
  }
  const v6 = separator === ':' ? parseV6(text) : undefined;
  if (!v6) return undefined;
  const mapped = MAPPED_PREFIX.every((b, i) => v6.bytes[i] === b);
  const bytes = Uint8Array.from(mapped ? v6.bytes.slice(12) : v6.bytes);
  return { bytes, version: mapped ? 4 : 6, leadingZeros: v6.leadingZeros, mapped };
}

function longestZeroRun(groups: number[]): { start: number; length: number } {
  let best = { start: -1, length: 1 };
  for (let i = 0; i < groups.length; i++) {
    let length = 0;
    while (groups[i + length] === 0) length++;
    if (length > best.length) best = { start: i, length };
    i += length;
  }
  return best;
}

/** Canonical text (RFC 5952). */
export function formatIp(bytes: Uint8Array): string {
  if (bytes.length === 4) return bytes.join('.');
  const groups = Array.from({ length: 8 }, (_, i) => (bytes[2 * i] << 8) | bytes[2 * i + 1]);
  const hex = (part: number[]): string => part.map((g) => g.toString(16)).join(':');
  const run = longestZeroRun(groups);
  if (run.start < 0) return hex(groups);
  return `${hex(groups.slice(0, run.start))}::${hex(groups.slice(run.start + run.length))}`;
}

function maskBytes(bytes: Uint8Array, prefix: number): Uint8Array {
  return bytes.map((b, i) => b & (0xff00 >> Math.max(0, Math.min(8, prefix - 8 * i))) & 0xff);
}

export function parseCidr(text: string): Cidr | undefined {
  const slash = text.indexOf('/');
  if (slash < 0) return undefined;
  const address = parseIp(text.slice(0, slash));
  const length = text.slice(slash + 1);
  if (!address || !/^\d{1,7}$/.test(length)) return undefined;
  const written = Number(length);
  const bits = address.version === 4 && !address.mapped ? 32 : 128;
  if (written > bits) return undefined;
  const prefix = address.mapped ? Math.max(0, written - 96) : written;
  return { address, prefix, leadingZeros: length.length > 1 && length[0] === '0', network: maskBytes(address.bytes, prefix) };
}

/** Whether an address lies in a range; addresses of the other family never do. */
export function cidrContains(cidr: Cidr, address: IpAddress): boolean {
  if (cidr.network.length !== address.bytes.length) return false;
  return maskBytes(address.bytes, cidr.prefix).every((b, i) => b === cidr.network[i]);
}

export function formatCidr(cidr: Cidr): string {
  return `${formatIp(cidr.network)}/${cidr.prefix}`;
}

function ipProblem(ip: IpAddress | undefined): string | undefined {
  if (!ip) return 'must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)';
  if (ip.leadingZeros) return 'must not have leading 0s';
  return ip.mapped ? 'must not be an IPv4-mapped IPv6 address' : undefined;
}

/** What is wrong with an address as a field of a new kind, or as a name: strict and canonical. */
export function isCanonicalIp(value: string): string[] {
  const ip = parseIp(value);
  const problem = ipProblem(ip);
  if (problem !== undefined || !ip) return [problem!];
  const canonical = formatIp(ip.bytes);
  return value === canonical ? [] : [`must be in canonical form ("${canonical}")`];
}

/** For fields of new kinds. */
export function validateIp(field: string, value: string): FieldError[] {
  return isCanonicalIp(value).map((problem) => invalid(field, value, problem));
}

/** For old fields (Pod and Service IPs, NetworkPolicy ...), which take any form that can be read. */
export function validateLegacyIp(field: string, value: string): FieldError[] {
  return parseIp(value) ? [] : [invalid(field, value, ipProblem(undefined)!)];
}

const CIDR_MESSAGE = 'must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)';

export function validateCidr(field: string, value: string): FieldError[] {
  const cidr = parseCidr(value);
  if (!cidr) return [invalid(field, value, CIDR_MESSAGE)];
  if (cidr.leadingZeros || cidr.address.leadingZeros) return [invalid(field, value, 'must not have leading 0s in IP or prefix length')];
  if (cidr.address.mapped) return [invalid(field, value, 'must not have an IPv4-mapped IPv6 address')];
  if (!cidr.address.bytes.every((b, i) => b === cidr.network[i])) {
    return [invalid(field, value, 'must not have bits set beyond the prefix length')];
  }
  const canonical = formatCidr(cidr);
  return value === canonical ? [] : [invalid(field, value, `must be in canonical form ("${canonical}")`)];
}

export function validateLegacyCidr(field: string, value: string): FieldError[] {
  return parseCidr(value) ? [] : [invalid(field, value, CIDR_MESSAGE)];
}
