import { isIPv4, isIPv6 } from 'node:net';
import { children, contextPrimitive, encode, sequence, type Node } from './der.ts';

export interface AlternativeNames {
  dnsNames: string[];
  addresses: string[];
  emails: string[];
  uris: string[];
}

const EMAIL = 1;
const DNS = 2;
const URI = 6;
const ADDRESS = 7;

export function encodeAlternativeNames(names: Partial<AlternativeNames>): Buffer {
  const text = (tag: number, values: string[] = []): Buffer[] =>
    values.map((value) => encode(contextPrimitive(tag), Buffer.from(value, 'latin1')));
  const addresses = (names.addresses ?? []).map((address) => encode(contextPrimitive(ADDRESS), addressBytes(address)));
  return sequence(...text(DNS, names.dnsNames), ...addresses, ...text(EMAIL, names.emails), ...text(URI, names.uris));
}

export function decodeAlternativeNames(node: Node): AlternativeNames {
  const names: AlternativeNames = { dnsNames: [], addresses: [], emails: [], uris: [] };
  for (const { tag, content } of children(node)) {
    if (tag === contextPrimitive(DNS)) names.dnsNames.push(content.toString('latin1'));
    else if (tag === contextPrimitive(ADDRESS)) names.addresses.push(addressText(content));
    else if (tag === contextPrimitive(EMAIL)) names.emails.push(content.toString('latin1'));
    else if (tag === contextPrimitive(URI)) names.uris.push(content.toString('latin1'));
  }
  return names;
}

export function hasAlternativeNames(names: Partial<AlternativeNames>): boolean {
  return [names.dnsNames, names.addresses, names.emails, names.uris].some((values) => (values?.length ?? 0) > 0);
}

export function addressBytes(address: string): Buffer {
  if (isIPv4(address)) return Buffer.from(address.split('.').map(Number));
  if (!isIPv6(address)) throw new Error(`Cannot put "${address}" in a certificate: it is not an IP address; give it as a name`);
  return ipv6Bytes(address);
}

function ipv6Bytes(address: string): Buffer {
  const plain = address.replace(/%.*$/, '').replace(/(\d+)\.(\d+)\.(\d+)\.(\d+)$/, (_, a, b, c, d) => {
    const word = (high: string, low: string): string => (Number(high) * 256 + Number(low)).toString(16);
    return `${word(a, b)}:${word(c, d)}`;
  });
  const [head, tail] = plain.split('::');
  const words = (part: string | undefined): string[] => (part === undefined || part === '' ? [] : part.split(':'));
  const start = words(head);
  const end = words(tail);
  const zeros = tail === undefined ? [] : Array<string>(8 - start.length - end.length).fill('0');
  const bytes = Buffer.alloc(16);
  [...start, ...zeros, ...end].forEach((word, i) => bytes.writeUInt16BE(parseInt(word, 16), i * 2));
  return bytes;
}

function addressText(bytes: Buffer): string {
  if (bytes.length === 4) return bytes.join('.');
  if (bytes.length !== 16) throw new Error(`Cannot read an IP address of ${bytes.length} bytes in a certificate`);
  const words = Array.from({ length: 8 }, (_, i) => bytes.readUInt16BE(i * 2));
  const { start, length } = longestZeroRun(words);
  const hex = words.map((word) => word.toString(16));
  if (length < 2) return hex.join(':');
  return `${hex.slice(0, start).join(':')}::${hex.slice(start + length).join(':')}`;
}

function longestZeroRun(words: number[]): { start: number; length: number } {
  let best = { start: 0, length: 0 };
  for (let start = 0; start < words.length; start++) {
    let length = 0;
    while (words[start + length] === 0) length++;
    if (length > best.length) best = { start, length };
  }
  return best;
}
