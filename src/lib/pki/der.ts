/**
 * The part of ASN.1 DER that X.509 needs, both ways. The signatures themselves are made and checked by node:crypto; this
 * only lays out and reads the bytes around them. Measured reason for not loading an ASN.1 package: docs/decisions/0003.
 */
export const TAG = {
  boolean: 0x01,
  integer: 0x02,
  bitString: 0x03,
  octetString: 0x04,
  null: 0x05,
  objectIdentifier: 0x06,
  utf8String: 0x0c,
  printableString: 0x13,
  teletexString: 0x14,
  ia5String: 0x16,
  utcTime: 0x17,
  generalizedTime: 0x18,
  universalString: 0x1c,
  bmpString: 0x1e,
  sequence: 0x30,
  set: 0x31,
} as const;

/** `[n]` with other values inside. */
export const contextConstructed = (n: number): number => 0xa0 | n;
/** `[n]` that replaces the tag of a primitive value. */
export const contextPrimitive = (n: number): number => 0x80 | n;

export function encode(tag: number, ...contents: Uint8Array[]): Buffer {
  const content = contents.length === 1 ? contents[0] : Buffer.concat(contents);
  const { length } = content;
  if (length < 0x80) return Buffer.concat([Buffer.from([tag, length]), content]);
  const lengthBytes: number[] = [];
  for (let rest = length; rest > 0; rest = Math.floor(rest / 256)) lengthBytes.unshift(rest % 256);
  return Buffer.concat([Buffer.from([tag, 0x80 | lengthBytes.length, ...lengthBytes]), content]);
}

export const sequence = (...members: Uint8Array[]): Buffer => encode(TAG.sequence, ...members);
export const octetString = (bytes: Uint8Array): Buffer => encode(TAG.octetString, bytes);
export const bitString = (bytes: Uint8Array, unusedBits = 0): Buffer => encode(TAG.bitString, Buffer.from([unusedBits]), bytes);
export const boolean = (value: boolean): Buffer => encode(TAG.boolean, Buffer.from([value ? 0xff : 0]));
export const utf8String = (text: string): Buffer => encode(TAG.utf8String, Buffer.from(text, 'utf8'));

/** A non-negative integer from its big-endian bytes. */
export function integer(bytes: Uint8Array): Buffer {
  let start = 0;
  while (start < bytes.length - 1 && bytes[start] === 0) start++;
  const digits = bytes.subarray(start);
  return digits[0] >= 0x80 ? encode(TAG.integer, Buffer.from([0]), digits) : encode(TAG.integer, digits);
}

export function objectIdentifier(dotted: string): Buffer {
  const [first, second, ...rest] = dotted.split('.').map(Number);
  const bytes: number[] = [];
  for (const arc of [first * 40 + second, ...rest]) {
    const group = [arc % 128];
    for (let high = Math.floor(arc / 128); high > 0; high = Math.floor(high / 128)) group.unshift(0x80 | (high % 128));
    bytes.push(...group);
  }
  return encode(TAG.objectIdentifier, Buffer.from(bytes));
}

/** UTCTime until 2049 and GeneralizedTime after, as RFC 5280 asks. */
export function time(date: Date): Buffer {
  const digits = date
    .toISOString()
    .replace(/\.\d+Z$/, 'Z')
    .replace(/[-:T]/g, '');
  return date.getUTCFullYear() < 2050
    ? encode(TAG.utcTime, Buffer.from(digits.slice(2), 'ascii'))
    : encode(TAG.generalizedTime, Buffer.from(digits, 'ascii'));
}

/** One value read from DER; `raw` is the value with its tag and length. */
export interface Node {
  tag: number;
  content: Buffer;
  raw: Buffer;
}

export class DerError extends Error {
  constructor(what: string) {
    super(`Cannot read DER: ${what}`);
    this.name = 'DerError';
  }
}

/** Reads the value that starts at `offset`; what follows it is left alone. */
export function decodeAt(bytes: Uint8Array, offset: number): Node {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  if (offset + 2 > buffer.length) throw new DerError('data ends inside a value');
  const tag = buffer[offset];
  if ((tag & 0x1f) === 0x1f) throw new DerError('tags above 30 are not used in certificates');
  let start = offset + 2;
  let length = buffer[offset + 1];
  if (length >= 0x80) {
    const count = length & 0x7f;
    if (count === 0 || count > 4 || start + count > buffer.length) throw new DerError('a length is malformed');
    length = buffer.readUIntBE(start, count);
    start += count;
  }
  if (start + length > buffer.length) throw new DerError('data ends inside a value');
  return { tag, content: buffer.subarray(start, start + length), raw: buffer.subarray(offset, start + length) };
}

/** Reads bytes that are exactly one value. */
export function decode(bytes: Uint8Array): Node {
  const node = decodeAt(bytes, 0);
  if (node.raw.length !== bytes.length) throw new DerError('there is data after the value');
  return node;
}

export function children(node: Node): Node[] {
  const found: Node[] = [];
  for (let offset = 0; offset < node.content.length;) {
    const child = decodeAt(node.content, offset);
    found.push(child);
    offset += child.raw.length;
  }
  return found;
}

export function expectTag(node: Node | undefined, tag: number): Node {
  if (node === undefined) throw new DerError('a value is missing');
  if (node.tag !== tag) throw new DerError(`tag 0x${node.tag.toString(16)} stands where 0x${tag.toString(16)} belongs`);
  return node;
}

export function readObjectIdentifier(node: Node): string {
  const { content } = expectTag(node, TAG.objectIdentifier);
  if (content.length === 0) throw new DerError('an object identifier is empty');
  const arcs: number[] = [];
  let arc = 0;
  for (const byte of content) {
    arc = arc * 128 + (byte & 0x7f);
    if (byte >= 0x80) continue;
    arcs.push(arc);
    arc = 0;
  }
  const first = Math.min(2, Math.floor(arcs[0] / 40));
  return [first, arcs[0] - first * 40, ...arcs.slice(1)].join('.');
}

const TEXT_TAGS: ReadonlySet<number> = new Set([TAG.utf8String, TAG.printableString, TAG.ia5String, TAG.teletexString]);

/** The text of any of the ASN.1 string types; undefined when the node is none of them. */
export function readText(node: Node): string | undefined {
  if (TEXT_TAGS.has(node.tag)) return node.content.toString(node.tag === TAG.teletexString ? 'latin1' : 'utf8');
  if (node.tag === TAG.bmpString) return Buffer.from(node.content).swap16().toString('utf16le');
  return undefined;
}

/** The bytes of a bit string; keys and signatures fill their last byte, flags need not. */
export function readBitString(node: Node, allowUnusedBits = false): Buffer {
  const { content } = expectTag(node, TAG.bitString);
  if (content.length === 0 || (content[0] !== 0 && !allowUnusedBits)) throw new DerError('a bit string is malformed');
  return content.subarray(1);
}

export function readTime(node: Node): Date {
  const text = node.content.toString('ascii');
  const full = node.tag === TAG.utcTime ? `${Number(text.slice(0, 2)) < 50 ? '20' : '19'}${text}` : text;
  const match = /^(\d{4})(\d\d)(\d\d)(\d\d)(\d\d)(\d\d)Z$/.exec(full);
  if (!match) throw new DerError('a time is malformed');
  const [year, month, day, hour, minute, second] = match.slice(1).map(Number);
  return new Date(Date.UTC(year, month - 1, day, hour, minute, second));
}
