import { formatIp, parseCidr, parseIp, type IpAddress } from '../../../../kube/ip.ts';
import { quote } from '../../../../kube/go-text.ts';
import { isRequestUri } from '../../schema/formats.ts';
import { CelOpaque, Fault, NO_SUCH_OVERLOAD, ValueList, ValueMap, type CelValue } from '../values.ts';
import { onString, type CelFunction, type FunctionTable } from './function-table.ts';

/** Kubernetes' ip, cidr and url libraries. */
export class CelIp extends CelOpaque {
  readonly typeName = 'net.IP';
  readonly bytes: Uint8Array;

  constructor(bytes: Uint8Array) {
    super();
    this.bytes = bytes;
  }

  get text(): string {
    return formatIp(this.bytes);
  }

  override get costSize(): number {
    return this.bytes.length;
  }

  equals(other: CelOpaque): boolean {
    return other instanceof CelIp && Buffer.compare(this.bytes, other.bytes) === 0;
  }
}

export class CelCidr extends CelOpaque {
  readonly typeName = 'net.CIDR';
  readonly bytes: Uint8Array;
  readonly prefix: number;

  constructor(bytes: Uint8Array, prefix: number) {
    super();
    this.bytes = bytes;
    this.prefix = prefix;
  }

  get text(): string {
    return `${formatIp(this.bytes)}/${this.prefix}`;
  }

  override get costSize(): number {
    return Math.ceil(this.prefix / 8);
  }

  equals(other: CelOpaque): boolean {
    return other instanceof CelCidr && this.prefix === other.prefix && Buffer.compare(this.bytes, other.bytes) === 0;
  }

  /** The first bytes of an address, as far as the prefix goes. */
  masked(bytes: Uint8Array): Uint8Array {
    return bytes.map((byte, at) => byte & (0xff00 >> Math.max(0, Math.min(8, this.prefix - 8 * at))) & 0xff);
  }
}

function ipComplaint(text: string, address: IpAddress | undefined): string | undefined {
  if (text.includes('%') && parseIp(text.split('%')[0]) !== undefined) return `IP address ${quote(text)} with zone value is not allowed`;
  if (address === undefined || address.leadingZeros) {
    const reason = address === undefined ? addressComplaint(text) : 'IPv4 field has octet with leading zero';
    return `IP Address ${quote(text)} parse error during conversion from string: ParseAddr(${quote(text)}): ${reason}`;
  }
  return address.mapped ? `IPv4-mapped IPv6 address ${quote(text)} is not allowed` : undefined;
}

function addressComplaint(text: string): string {
  return /[.:%]/.test(text) ? 'unexpected character' : 'unable to parse IP';
}

function toIp(text: string): CelIp | Fault {
  const address = parseIp(text);
  const complaint = ipComplaint(text, address);
  return complaint === undefined && address !== undefined ? new CelIp(address.bytes) : new Fault(complaint ?? '');
}

const CIDR_CONTEXT = 'network address parse error during conversion from string: ';

function toCidr(text: string): CelCidr | Fault {
  const cidr = parseCidr(text);
  if (cidr !== undefined && cidr.address.mapped) return new Fault(`${CIDR_CONTEXT}IPv4-mapped IPv6 address ${quote(text)} is not allowed`);
  if (cidr === undefined || cidr.leadingZeros || cidr.address.leadingZeros) {
    const reason = text.includes('/') ? `bad bits after slash: ${quote(text.slice(text.lastIndexOf('/') + 1))}` : "no '/'";
    return new Fault(`${CIDR_CONTEXT}${CIDR_CONTEXT}netip.ParsePrefix(${quote(text)}): ${reason}`);
  }
  return new CelCidr(cidr.address.bytes, cidr.prefix);
}

function onIp(apply: (bytes: Uint8Array) => CelValue): CelFunction {
  return ([value]) => (value instanceof CelIp ? apply(value.bytes) : NO_SUCH_OVERLOAD);
}

function isPrivateLinkLocal(bytes: Uint8Array): boolean {
  return bytes.length === 4 ? bytes[0] === 169 && bytes[1] === 254 : bytes[0] === 0xfe && (bytes[1] & 0xc0) === 0x80;
}

const isUnspecified = (bytes: Uint8Array): boolean => bytes.every((byte) => byte === 0);
const isLoopback = (bytes: Uint8Array): boolean =>
  bytes.length === 4 ? bytes[0] === 127 : bytes.every((byte, at) => byte === (at === 15 ? 1 : 0));
const isMulticast = (bytes: Uint8Array): boolean => (bytes.length === 4 ? (bytes[0] & 0xf0) === 0xe0 : bytes[0] === 0xff);
const isLinkLocalMulticast = (bytes: Uint8Array): boolean =>
  bytes.length === 4 ? bytes[0] === 224 && bytes[1] === 0 && bytes[2] === 0 : bytes[0] === 0xff && (bytes[1] & 0x0f) === 0x02;
const isGlobalUnicast = (bytes: Uint8Array): boolean =>
  !isUnspecified(bytes) && !isLoopback(bytes) && !isMulticast(bytes) && !isPrivateLinkLocal(bytes) && !bytes.every((byte) => byte === 255);

const containsIp: CelFunction = ([cidr, other]) => {
  const ip = typeof other === 'string' ? toIp(other) : other;
  if (ip instanceof Fault) return NO_SUCH_OVERLOAD;
  if (!(cidr instanceof CelCidr) || !(ip instanceof CelIp)) return NO_SUCH_OVERLOAD;
  return cidr.bytes.length === ip.bytes.length && Buffer.compare(cidr.masked(cidr.bytes), cidr.masked(ip.bytes)) === 0;
};

const containsCidr: CelFunction = ([cidr, other]) => {
  const inner = typeof other === 'string' ? toCidr(other) : other;
  if (inner instanceof Fault) return inner;
  if (!(cidr instanceof CelCidr) || !(inner instanceof CelCidr)) return NO_SUCH_OVERLOAD;
  if (cidr.bytes.length !== inner.bytes.length || cidr.prefix > inner.prefix) return false;
  return Buffer.compare(cidr.masked(cidr.bytes), cidr.masked(inner.bytes)) === 0;
};

const ip: CelFunction = ([value]) => {
  if (typeof value === 'string') return toIp(value);
  return value instanceof CelCidr ? new CelIp(value.bytes) : NO_SUCH_OVERLOAD;
};

/** net/url.URL, as far as the library shows it. */
export class CelUrl extends CelOpaque {
  readonly typeName = 'kubernetes.URL';
  readonly text: string;
  readonly scheme: string;
  readonly host: string;
  readonly path: string;
  readonly query: string;

  constructor(text: string) {
    super();
    this.text = text;
    const match = /^(?:([a-zA-Z][a-zA-Z0-9+.-]*):)?(?:\/\/([^/?#]*))?([^?#]*)(?:\?([^#]*))?/s.exec(text)!;
    this.scheme = (match[1] ?? '').toLowerCase();
    this.host = (match[2] ?? '').slice((match[2] ?? '').lastIndexOf('@') + 1);
    this.path = match[3];
    this.query = match[4] ?? '';
  }

  equals(other: CelOpaque): boolean {
    return other instanceof CelUrl && other.text === this.text;
  }

  get hostname(): string {
    const bare = this.host.replace(/:\d*$/, '');
    return bare.startsWith('[') && bare.endsWith(']') ? bare.slice(1, -1) : bare;
  }

  get port(): string {
    return /:(\d*)$/.exec(this.host)?.[1] ?? '';
  }
}

function uriComplaint(text: string): string {
  const reason = text === '' ? 'empty url' : 'invalid URI for request';
  return `URL parse error during conversion from string: parse ${quote(text)}: ${reason}`;
}

function onUrl(apply: (url: CelUrl) => CelValue): CelFunction {
  return ([value]) => (value instanceof CelUrl ? apply(value) : NO_SUCH_OVERLOAD);
}

function decodeQuery(text: string): string | undefined {
  try {
    return decodeURIComponent(text.replaceAll('+', ' '));
  } catch {
    return undefined;
  }
}

function queryMap({ query }: CelUrl): CelValue {
  const values = new Map<string, CelValue[]>();
  for (const pair of query.split('&')) {
    if (pair === '' || pair.includes(';')) continue;
    const equals = pair.indexOf('=');
    const name = decodeQuery(equals < 0 ? pair : pair.slice(0, equals));
    const value = decodeQuery(equals < 0 ? '' : pair.slice(equals + 1));
    if (name === undefined || value === undefined) continue;
    values.set(name, [...(values.get(name) ?? []), value]);
  }
  const map = new ValueMap();
  for (const [name, list] of values) map.set(name, new ValueList(list));
  return map;
}

export const NETWORK: FunctionTable = {
  ip,
  isIP: onString((text) => toIp(text) instanceof CelIp),
  'ip.isCanonical': onString((text) => {
    const parsed = toIp(text);
    return parsed instanceof CelIp ? parsed.text === text : parsed;
  }),
  family: onIp((bytes) => (bytes.length === 4 ? 4n : 6n)),
  isUnspecified: onIp(isUnspecified),
  isLoopback: onIp(isLoopback),
  isLinkLocalMulticast: onIp(isLinkLocalMulticast),
  isLinkLocalUnicast: onIp(isPrivateLinkLocal),
  isGlobalUnicast: onIp(isGlobalUnicast),
  cidr: onString(toCidr),
  isCIDR: onString((text) => toCidr(text) instanceof CelCidr),
  containsIP: containsIp,
  containsCIDR: containsCidr,
  prefixLength: ([value]) => (value instanceof CelCidr ? BigInt(value.prefix) : NO_SUCH_OVERLOAD),
  masked: ([value]) => (value instanceof CelCidr ? new CelCidr(value.masked(value.bytes), value.prefix) : NO_SUCH_OVERLOAD),
  url: onString((text) => (isRequestUri(text) ? new CelUrl(text) : new Fault(uriComplaint(text)))),
  isURL: onString(isRequestUri),
  getScheme: onUrl((url) => url.scheme),
  getHost: onUrl((url) => url.host),
  getHostname: onUrl((url) => url.hostname),
  getPort: onUrl((url) => url.port),
  getEscapedPath: onUrl((url) => url.path),
  getQuery: onUrl(queryMap),
};
