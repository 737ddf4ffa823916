/**
 * Reads tar as it comes. Written here because layers are hostile input and their names are bytes: what is not understood is refused
 * instead of being taken for a file. Names are byte strings (one character per byte), so that no name is changed by decoding.
 */
export interface TarEntry {
  type: TarEntryType;
  name: string;
  linkName: string;
  /** Of the content; 0 for everything but files. */
  size: number;
  mode: number;
  uid: number;
  gid: number;
  /** Seconds since the epoch. */
  mtime: number;
  deviceMajor: number;
  deviceMinor: number;
  /** Extended attributes by name, as byte strings. */
  attributes: Map<string, string>;
}

export type TarEntryType = 'file' | 'hardlink' | 'symlink' | 'character' | 'block' | 'directory' | 'fifo';

/** Called in the order of the archive; everything between two `entry` calls is the first one's content. */
export interface TarSink {
  entry(entry: TarEntry): void;
  content(chunk: Buffer): void;
  /** After the last byte of a file's content, or at once when there is none. */
  endOfEntry(): void;
}

/** An archive that is damaged, or of a kind that is not supported. */
export class TarError extends Error {}

const BLOCK = 512;
/** Names, link names and attributes of one entry together. */
const MAX_EXTENSION_BYTES = 1024 * 1024;
const TYPES: Record<string, TarEntryType | 'pax' | 'global' | 'longName' | 'longLink'> = {
  '0': 'file',
  '\0': 'file',
  '7': 'file',
  '1': 'hardlink',
  '2': 'symlink',
  '3': 'character',
  '4': 'block',
  '5': 'directory',
  '6': 'fifo',
  x: 'pax',
  g: 'global',
  L: 'longName',
  K: 'longLink',
};
const ATTRIBUTE_PREFIX = 'SCHILY.xattr.';
const SPARSE_PREFIX = 'GNU.sparse.';

interface Extension {
  kind: 'pax' | 'global' | 'longName' | 'longLink';
  parts: Buffer[];
}

export class TarReader {
  readonly #sink: TarSink;
  /** The start of a header whose rest has not come yet. */
  #pending = Buffer.alloc(0);
  #remaining = 0;
  #padding = 0;
  #extension: Extension | undefined;
  #inFile = false;
  #records = new Map<string, string>();
  #ended = false;

  constructor(sink: TarSink) {
    this.#sink = sink;
  }

  write(chunk: Buffer): void {
    let at = 0;
    while (at < chunk.length) {
      // What follows the end of the archive is padding; it counts for the digest only.
      if (this.#ended) return;
      if (this.#remaining > 0) {
        const part = chunk.subarray(at, at + this.#remaining);
        at += part.length;
        this.#remaining -= part.length;
        if (this.#extension === undefined) this.#sink.content(part);
        else this.#extension.parts.push(part);
        if (this.#remaining === 0) this.#contentDone();
      } else if (this.#padding > 0) {
        const skipped = Math.min(this.#padding, chunk.length - at);
        at += skipped;
        this.#padding -= skipped;
      } else {
        at = this.#collectHeader(chunk, at);
      }
    }
  }

  /** @throws TarError when the archive stops in the middle of something */
  end(): void {
    if (this.#ended) return;
    // Some writers leave out the two blocks of zeros at the end, so their absence is no damage.
    if (this.#remaining > 0 || this.#pending.length > 0 || this.#extension !== undefined || this.#records.size > 0) {
      throw new TarError('the archive ends in the middle of an entry');
    }
  }

  #collectHeader(chunk: Buffer, at: number): number {
    const missing = BLOCK - this.#pending.length;
    const part = chunk.subarray(at, at + missing);
    const block = this.#pending.length === 0 ? part : Buffer.concat([this.#pending, part]);
    if (block.length < BLOCK) {
      this.#pending = Buffer.from(block);
    } else {
      this.#pending = Buffer.alloc(0);
      this.#header(block);
    }
    return at + part.length;
  }

  #header(block: Buffer): void {
    if (block.every((byte) => byte === 0)) {
      this.#ended = true;
      return;
    }
    checkSum(block);
    const flag = block.toString('latin1', 156, 157);
    const kind = TYPES[flag];
    if (kind === undefined)
      throw new TarError(flag === 'S' ? 'it has a sparse file, which is not supported' : `it has an entry of the unknown type "${flag}"`);
    const size = readNumber(block, 124, 12, 'size');
    if (kind === 'pax' || kind === 'global' || kind === 'longName' || kind === 'longLink') {
      if (size > MAX_EXTENSION_BYTES) throw new TarError(`it has an entry with over ${MAX_EXTENSION_BYTES} bytes of names and attributes`);
      this.#extension = { kind, parts: [] };
      this.#expect(size);
    } else {
      this.#entry(block, kind, size);
    }
  }

  #entry(block: Buffer, type: TarEntryType, headerSize: number): void {
    const entry = readEntry(block, type, headerSize, this.#records);
    this.#records = new Map();
    // Old writers mark folders by the slash alone.
    if (entry.type === 'file' && entry.name.endsWith('/')) entry.type = 'directory';
    const stored = type === 'file' ? entry.size : 0;
    if (entry.type !== 'file') entry.size = 0;
    this.#sink.entry(entry);
    this.#inFile = true;
    this.#expect(stored);
  }

  #expect(size: number): void {
    this.#remaining = size;
    this.#padding = (BLOCK - (size % BLOCK)) % BLOCK;
    if (size === 0) this.#contentDone();
  }

  #contentDone(): void {
    if (this.#extension !== undefined) {
      const { kind, parts } = this.#extension;
      this.#extension = undefined;
      this.#keep(kind, Buffer.concat(parts).toString('latin1'));
    } else if (this.#inFile) {
      this.#inFile = false;
      this.#sink.endOfEntry();
    }
  }

  #keep(kind: Extension['kind'], text: string): void {
    if (kind === 'longName') this.#records.set('path', untilNul(text));
    if (kind === 'longLink') this.#records.set('linkpath', untilNul(text));
    // Global records are notes of the writer (a commit, a comment); none of those that describe an entry make sense for all.
    if (kind === 'pax') for (const [name, value] of readRecords(text)) this.#records.set(name, value);
  }
}

function readEntry(block: Buffer, type: TarEntryType, headerSize: number, records: Map<string, string>): TarEntry {
  if ([...records.keys()].some((name) => name.startsWith(SPARSE_PREFIX)))
    throw new TarError('it has a sparse file, which is not supported');
  // Only POSIX headers have a prefix there; GNU's magic ends in spaces and keeps times in its place.
  const prefix = block.toString('latin1', 257, 263) === 'ustar\0' ? untilNul(block.toString('latin1', 345, 500)) : '';
  const name = untilNul(block.toString('latin1', 0, 100));
  const attributes = new Map<string, string>();
  for (const [key, value] of records) if (key.startsWith(ATTRIBUTE_PREFIX)) attributes.set(key.slice(ATTRIBUTE_PREFIX.length), value);
  const number = (key: string, fallback: () => number) => (records.has(key) ? recordNumber(key, records.get(key)!) : fallback());
  const isDevice = type === 'character' || type === 'block';
  return {
    type,
    name: records.get('path') ?? (prefix === '' ? name : `${prefix}/${name}`),
    linkName: records.get('linkpath') ?? untilNul(block.toString('latin1', 157, 257)),
    size: Math.trunc(number('size', () => headerSize)),
    mode: readNumber(block, 100, 8, 'mode') & 0o7777,
    uid: Math.trunc(number('uid', () => readNumber(block, 108, 8, 'uid'))),
    gid: Math.trunc(number('gid', () => readNumber(block, 116, 8, 'gid'))),
    mtime: number('mtime', () => readNumber(block, 136, 12, 'mtime')),
    deviceMajor: isDevice ? readNumber(block, 329, 8, 'device') : 0,
    deviceMinor: isDevice ? readNumber(block, 337, 8, 'device') : 0,
    attributes,
  };
}

/** `<length> <name>=<value>\n`, one after the other; the length counts itself. */
function* readRecords(text: string): Generator<[name: string, value: string]> {
  let at = 0;
  while (at < text.length) {
    const space = text.indexOf(' ', at);
    const digits = space === -1 ? '' : text.slice(at, space);
    const end = /^\d{1,10}$/.test(digits) ? at + Number(digits) : 0;
    const equals = text.indexOf('=', space);
    if (end > text.length || equals === -1 || equals >= end || text[end - 1] !== '\n') {
      throw new TarError('it has an extended header that is damaged');
    }
    yield [text.slice(space + 1, equals), text.slice(equals + 1, end - 1)];
    at = end;
  }
}

function recordNumber(name: string, value: string): number {
  const number = /^-?\d{1,20}(?:\.\d*)?$/.test(value) ? Number(value) : Number.NaN;
  if (Math.abs(number) <= Number.MAX_SAFE_INTEGER && (number >= 0 || name === 'mtime')) return number;
  throw new TarError(`it has an entry with the ${name} "${value.slice(0, 40)}"`);
}

/** Octal digits, or the number in binary when the first bit is set. */
function readNumber(block: Buffer, at: number, length: number, what: string): number {
  if (block[at] & 0x80) {
    // Dates before 1970 are negative; all else that is so large is nonsense.
    if (block[at] === 0xff && what === 'mtime') return 0;
    let value = block[at] & 0x7f;
    for (let index = at + 1; index < at + length; index++) value = value * 256 + block[index];
    if (!Number.isSafeInteger(value)) throw new TarError(`it has an entry whose ${what} is too large`);
    return value;
  }
  const text = untilNul(block.toString('latin1', at, at + length)).trim();
  if (text === '') return 0;
  if (!/^[0-7]+$/.test(text)) throw new TarError(`it has an entry whose ${what} is no number`);
  return Number.parseInt(text, 8);
}

/** The sum of the header's bytes, its own field counted as spaces; some old writers took bytes as signed. */
function checkSum(block: Buffer): void {
  let unsigned = 0;
  let signed = 0;
  for (let at = 0; at < BLOCK; at++) {
    const byte = at >= 148 && at < 156 ? 32 : block[at];
    unsigned += byte;
    signed += byte > 127 ? byte - 256 : byte;
  }
  const stored = readNumber(block, 148, 8, 'checksum');
  if (stored !== unsigned && stored !== signed) throw new TarError('it is no tar archive, or a header is damaged');
}

function untilNul(text: string): string {
  const end = text.indexOf('\0');
  return end === -1 ? text : text.slice(0, end);
}
