import { bitString, children, objectIdentifier, readBitString, readObjectIdentifier, sequence, type Node } from './der.ts';

/** Usages in the words of Kubernetes' certificates API. */
const KEY_USAGE_BITS: Record<string, number> = {
  signing: 0,
  'digital signature': 0,
  'content commitment': 1,
  'key encipherment': 2,
  'data encipherment': 3,
  'key agreement': 4,
  'cert sign': 5,
  'crl sign': 6,
  'encipher only': 7,
  'decipher only': 8,
};

const EXTENDED_USAGES: Record<string, string> = {
  any: '2.5.29.37.0',
  'server auth': '1.3.6.1.5.5.7.3.1',
  'client auth': '1.3.6.1.5.5.7.3.2',
  'code signing': '1.3.6.1.5.5.7.3.3',
  'email protection': '1.3.6.1.5.5.7.3.4',
  's/mime': '1.3.6.1.5.5.7.3.4',
  'ipsec end system': '1.3.6.1.5.5.7.3.5',
  'ipsec tunnel': '1.3.6.1.5.5.7.3.6',
  'ipsec user': '1.3.6.1.5.5.7.3.7',
  timestamping: '1.3.6.1.5.5.7.3.8',
  'ocsp signing': '1.3.6.1.5.5.7.3.9',
  'microsoft sgc': '1.3.6.1.4.1.311.10.3.3',
  'netscape sgc': '2.16.840.1.113730.4.1',
};

/** The usages that name no known purpose. */
export function unknownUsages(usages: readonly string[]): string[] {
  return usages.filter((usage) => !(usage in KEY_USAGE_BITS) && !(usage in EXTENDED_USAGES));
}

/** The content of the keyUsage extension, or undefined when no usage asks for it. */
export function encodeKeyUsage(usages: readonly string[]): Buffer | undefined {
  const bits = [...new Set(usages.filter((usage) => usage in KEY_USAGE_BITS).map((usage) => KEY_USAGE_BITS[usage]))];
  if (bits.length === 0) return undefined;
  const highest = Math.max(...bits);
  const bytes = Buffer.alloc(highest < 8 ? 1 : 2);
  for (const bit of bits) bytes[bit >> 3] |= 0x80 >> (bit & 7);
  return bitString(bytes, 7 - (highest & 7));
}

export function encodeExtendedKeyUsage(usages: readonly string[]): Buffer | undefined {
  const oids = [...new Set(usages.filter((usage) => usage in EXTENDED_USAGES).map((usage) => EXTENDED_USAGES[usage]))];
  return oids.length === 0 ? undefined : sequence(...oids.sort().map(objectIdentifier));
}

export function decodeKeyUsage(node: Node): string[] {
  const bytes = readBitString(node, true);
  const isSet = (bit: number): boolean => ((bytes[bit >> 3] ?? 0) & (0x80 >> (bit & 7))) !== 0;
  return Object.keys(KEY_USAGE_BITS).filter((usage) => usage !== 'signing' && isSet(KEY_USAGE_BITS[usage]));
}

export function decodeExtendedKeyUsage(node: Node): string[] {
  const oids = new Set(children(node).map(readObjectIdentifier));
  return Object.keys(EXTENDED_USAGES).filter((usage) => usage !== 's/mime' && oids.has(EXTENDED_USAGES[usage]));
}
