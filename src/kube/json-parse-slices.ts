import { duplicateFields, JsonSyntaxError } from './json-scanner.ts';
import { setField } from './json-value.ts';
import type { Json } from './object.ts';
import { countKeptKeys, parseStrict, type ParseOptions } from './strict-json.ts';
import type { Sliced } from './json-slices.ts';

/** Text that JSON.parse reads at once: some hundred microseconds. */
const PIECE_BYTES = 16 * 1024;
const SCAN_BYTES = 64 * 1024;
const MAX_DEPTH = 1000;

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COMMA = 0x2c;
const COLON = 0x3a;

/** Where the objects and lists of a text end, by where they begin, and how many keys it writes. */
interface Outline {
  ends: Map<number, number>;
  keys: number;
}

class Unreadable extends Error {}

/** Looks at the text once without building anything. Finds only what is needed to take it apart: pieces are checked when they are parsed. */
function* outlineOf(bytes: Uint8Array): Sliced<Outline> {
  const ends = new Map<number, number>();
  const open: number[] = [];
  let keys = 0;
  let pause = SCAN_BYTES;
  for (let i = 0; i < bytes.length; i++) {
    if (i >= pause) {
      pause = i + SCAN_BYTES;
      yield;
    }
    const byte = bytes[i];
    if (byte === QUOTE) i = endOfString(bytes, i);
    else if (byte === COLON) keys++;
    else if (byte === 0x7b || byte === 0x5b) {
      if (open.length >= MAX_DEPTH) throw new Unreadable();
      open.push(i);
    } else if (byte === 0x7d || byte === 0x5d) {
      const start = open.pop();
      // `{` and `}`, `[` and `]` are two apart.
      if (start === undefined || bytes[start] + 2 !== byte) throw new Unreadable();
      if (i - start > PIECE_BYTES) ends.set(start, i);
    }
  }
  if (open.length > 0) throw new Unreadable();
  return { ends, keys };
}

function endOfString(bytes: Uint8Array, start: number): number {
  const end = bytes.indexOf(QUOTE, start + 1);
  // Looked for at once where nothing is escaped, which most texts are, long ones above all.
  if (end < 0) throw new Unreadable();
  if (bytes[end - 1] !== BACKSLASH) return end;
  for (let i = start + 1; i < bytes.length; i++) {
    if (bytes[i] === BACKSLASH) i++;
    else if (bytes[i] === QUOTE) return i;
  }
  throw new Unreadable();
}

const utf8 = new TextDecoder('utf-8', { ignoreBOM: true });

class PieceParser {
  /** Keys that are there once they are read; fewer than are written means that some repeat. */
  kept = 0;
  readonly #bytes: Uint8Array;
  readonly #ends: Map<number, number>;

  constructor(bytes: Uint8Array, ends: Map<number, number>) {
    this.#bytes = bytes;
    this.#ends = ends;
  }

  *value(start: number, end: number): Sliced<Json> {
    return this.#bytes[start] === 0x7b ? yield* this.#object(start, end) : yield* this.#list(start, end);
  }

  *#object(start: number, end: number): Sliced<Json> {
    const object: Record<string, Json> = {};
    for (const { from, to, large } of this.#pieces(start, end)) {
      if (large === undefined) {
        const piece: Record<string, Json> = JSON.parse(`{${this.#text(from, to)}}`);
        const count = Object.keys(piece).length;
        if (count === 0) throw new Unreadable();
        this.kept += countKeptKeys(piece, MAX_DEPTH) - count;
        for (const key in piece) setField(object, key, piece[key]);
      } else setField(object, this.#key(from, large), yield* this.value(large, to - 1));
      yield;
    }
    this.kept += Object.keys(object).length;
    return object;
  }

  *#list(start: number, end: number): Sliced<Json> {
    const list: Json[] = [];
    for (const { from, to, large } of this.#pieces(start, end)) {
      if (large === undefined) {
        const piece: Json[] = JSON.parse(`[${this.#text(from, to)}]`);
        if (piece.length === 0) throw new Unreadable();
        this.kept += countKeptKeys(piece, MAX_DEPTH);
        for (const item of piece) list.push(item);
      } else if (this.#text(from, large).trim() === '') list.push(yield* this.value(large, to - 1));
      else throw new Unreadable();
      yield;
    }
    return list;
  }

  /** What stands between an object's or list's brackets: members one by one where they hold something large, the others several at once. */
  *#pieces(start: number, end: number): Generator<{ from: number; to: number; large?: number }> {
    let from = start + 1;
    let comma = -1;
    for (let i = from; i < end; i++) {
      const byte = this.#bytes[i];
      if (byte === QUOTE) i = endOfString(this.#bytes, i);
      else if (byte === COMMA) {
        comma = i;
        if (i - from > PIECE_BYTES) {
          yield { from, to: i };
          from = i + 1;
        }
      } else if (byte === 0x7b || byte === 0x5b) {
        const close = this.#ends.get(i);
        if (close === undefined) {
          i = this.#skipSmall(i);
          continue;
        }
        if (comma >= from) {
          yield { from, to: comma };
          from = comma + 1;
        }
        yield { from, to: close + 1, large: i };
        i = this.#after(close + 1, end);
        from = i + 1;
        if (i === end) return;
      }
    }
    yield { from, to: end };
  }

  /** The comma behind a member, or the end of what it is in. */
  #after(from: number, end: number): number {
    let i = from;
    while (i < end && this.#bytes[i] <= 0x20) i++;
    if (i < end && this.#bytes[i] !== COMMA) throw new Unreadable();
    return i;
  }

  #skipSmall(start: number): number {
    let depth = 0;
    for (let i = start; ; i++) {
      const byte = this.#bytes[i];
      if (byte === QUOTE) i = endOfString(this.#bytes, i);
      else if (byte === 0x7b || byte === 0x5b) depth++;
      else if ((byte === 0x7d || byte === 0x5d) && --depth === 0) return i;
    }
  }

  #key(from: number, value: number): string {
    const piece: Record<string, Json> = JSON.parse(`{${this.#text(from, value)}0}`);
    return Object.keys(piece)[0];
  }

  #text(from: number, to: number): string {
    return utf8.decode(this.#bytes.subarray(from, to));
  }
}

/** `parseStrict` for a text that takes long: the same value, the same messages, with pauses. @throws JsonSyntaxError */
export function* parseStrictInSlices(bytes: Uint8Array, options: ParseOptions = {}): Sliced<Json> {
  let start = 0;
  while (bytes[start] <= 0x20) start++;
  if (bytes[start] !== 0x7b && bytes[start] !== 0x5b) return parseStrict(bytes, options);
  let parser: PieceParser;
  let value: Json;
  let keys: number;
  try {
    const outline = yield* outlineOf(bytes);
    const end = outline.ends.get(start);
    if (end === undefined || bytes.subarray(end + 1).some((byte) => byte > 0x20)) return parseStrict(bytes, options);
    parser = new PieceParser(bytes, outline.ends);
    value = yield* parser.value(start, end);
    keys = outline.keys;
  } catch (error) {
    if (error instanceof JsonSyntaxError) throw error;
    yield;
    // Says what is wrong. What it finds nothing wrong with is of an odd shape only, such as an object of 16 KiB of spaces.
    yield* duplicateFields(utf8.decode(bytes), MAX_DEPTH);
    return parseStrict(bytes, options);
  }
  if (options.onDuplicate && parser.kept !== keys) (yield* duplicateFields(utf8.decode(bytes), MAX_DEPTH)).forEach(options.onDuplicate);
  return value;
}
