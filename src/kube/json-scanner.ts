import { quoteRune } from './go-text.ts';

/** JSON that cannot be read, in the words of Go's encoding/json. */
export class JsonSyntaxError extends Error {
  /** How many characters were read. */
  readonly offset: number;

  constructor(message: string, offset: number) {
    super(message);
    this.name = 'JsonSyntaxError';
    this.offset = offset;
  }
}

const MAX_DUPLICATES = 100;
const VALUES_PER_SLICE = 256;
const SPACE = /[ \t\r\n]*/y;
// oxlint-disable-next-line no-control-regex -- JSON forbids exactly these in strings
const STRING_BODY = /[^"\\\x00-\x1f]{0,65536}/y;
const HEX = /^[0-9a-fA-F]$/;

/** Go looks at bytes: of a character outside ASCII it names the first one. */
function firstByte(character: string): string {
  const code = character.codePointAt(0)!;
  if (code < 0x80) return character;
  const byte = code < 0x800 ? 0xc0 | (code >> 6) : code < 0x10000 ? 0xe0 | (code >> 12) : 0xf0 | (code >> 18);
  return String.fromCharCode(byte);
}

/**
 * Reads JSON slowly and says what Go would say: the syntax error, or the paths of duplicate fields. Only for text that the
 * engine's own parser refused, or in which keys are known to repeat.
 */
class Scanner {
  readonly #text: string;
  readonly #maxDepth: number;
  readonly duplicates = new Set<string>();
  #at = 0;
  #values = 0;

  constructor(text: string, maxDepth: number) {
    this.#text = text;
    this.#maxDepth = maxDepth;
  }

  *document(): Generator<void, void, void> {
    yield* this.#value('', 0);
    this.#space();
    if (this.#at < this.#text.length) throw this.#unexpected('after top-level value');
  }

  #unexpected(context: string): JsonSyntaxError {
    if (this.#at >= this.#text.length) return new JsonSyntaxError('unexpected end of JSON input', this.#at);
    const character = String.fromCodePoint(this.#text.codePointAt(this.#at)!);
    return new JsonSyntaxError(`invalid character ${quoteRune(firstByte(character))} ${context}`, this.#at + 1);
  }

  #space(): void {
    SPACE.lastIndex = this.#at;
    SPACE.exec(this.#text);
    this.#at = SPACE.lastIndex;
  }

  *#value(path: string, depth: number): Generator<void, void, void> {
    if (++this.#values % VALUES_PER_SLICE === 0) yield;
    this.#space();
    const c = this.#text[this.#at];
    if (c === '{' || c === '[') {
      if (depth >= this.#maxDepth) throw this.#unexpected('exceeded max depth');
      this.#at++;
      yield* c === '{' ? this.#object(path, depth) : this.#array(path, depth);
    } else if (c === '"') yield* this.#string();
    else if (c === 't' || c === 'f' || c === 'n') this.#literal(c === 't' ? 'true' : c === 'f' ? 'false' : 'null');
    else if (c === '-' || (c >= '0' && c <= '9')) this.#number();
    else throw this.#unexpected('looking for beginning of value');
  }

  *#object(path: string, depth: number): Generator<void, void, void> {
    const seen = new Set<string>();
    this.#space();
    if (this.#text[this.#at] === '}') {
      this.#at++;
      return;
    }
    for (;;) {
      this.#space();
      if (this.#text[this.#at] !== '"') throw this.#unexpected('looking for beginning of object key string');
      const key = yield* this.#string();
      const child = path === '' ? key : `${path}.${key}`;
      if (seen.has(key) && this.duplicates.size < MAX_DUPLICATES) this.duplicates.add(child);
      seen.add(key);
      this.#space();
      if (this.#text[this.#at] !== ':') throw this.#unexpected('after object key');
      this.#at++;
      yield* this.#value(child, depth + 1);
      this.#space();
      const c = this.#text[this.#at];
      if (c !== ',' && c !== '}') throw this.#unexpected('after object key:value pair');
      this.#at++;
      if (c === '}') return;
    }
  }

  *#array(path: string, depth: number): Generator<void, void, void> {
    this.#space();
    if (this.#text[this.#at] === ']') {
      this.#at++;
      return;
    }
    for (let index = 0; ; index++) {
      yield* this.#value(`${path}[${index}]`, depth + 1);
      this.#space();
      const c = this.#text[this.#at];
      if (c !== ',' && c !== ']') throw this.#unexpected('after array element');
      this.#at++;
      if (c === ']') return;
    }
  }

  *#string(): Generator<void, string, void> {
    const start = this.#at++;
    for (;;) {
      STRING_BODY.lastIndex = this.#at;
      STRING_BODY.exec(this.#text);
      this.#at = STRING_BODY.lastIndex;
      const c = this.#text[this.#at];
      if (c === '"') {
        this.#at++;
        return JSON.parse(this.#text.slice(start, this.#at)) as string;
      }
      if (c === '\\') {
        this.#at++;
        this.#escape();
      } else if (c === undefined || c < ' ') throw this.#unexpected('in string literal');
      else yield;
    }
  }

  #escape(): void {
    const c = this.#text[this.#at];
    if (c !== 'u') {
      if (c === undefined || !'bfnrt\\/"'.includes(c)) throw this.#unexpected('in string escape code');
      this.#at++;
      return;
    }
    this.#at++;
    for (let i = 0; i < 4; i++) {
      if (!HEX.test(this.#text[this.#at] ?? '')) throw this.#unexpected('in \\u hexadecimal character escape');
      this.#at++;
    }
  }

  #literal(word: string): void {
    for (const expected of word) {
      if (this.#text[this.#at] !== expected) throw this.#unexpected(`in literal ${word} (expecting '${expected}')`);
      this.#at++;
    }
  }

  #digits(context: string): void {
    const start = this.#at;
    while (this.#text[this.#at] >= '0' && this.#text[this.#at] <= '9') this.#at++;
    if (this.#at === start) throw this.#unexpected(context);
  }

  #number(): void {
    if (this.#text[this.#at] === '-') this.#at++;
    if (this.#text[this.#at] === '0') this.#at++;
    else this.#digits('in numeric literal');
    if (this.#text[this.#at] === '.') {
      this.#at++;
      this.#digits('after decimal point in numeric literal');
    }
    if (this.#text[this.#at] === 'e' || this.#text[this.#at] === 'E') {
      this.#at++;
      if (this.#text[this.#at] === '+' || this.#text[this.#at] === '-') this.#at++;
      this.#digits('in exponent of numeric literal');
    }
  }
}

/** Paths of the fields that are given twice, in order of appearance, at most a hundred; pauses on the way. @throws JsonSyntaxError */
export function* duplicateFields(text: string, maxDepth: number): Generator<void, string[], void> {
  const scanner = new Scanner(text, maxDepth);
  yield* scanner.document();
  return [...scanner.duplicates];
}

/** The same at once. @throws JsonSyntaxError */
export function findDuplicateFields(text: string, maxDepth: number): string[] {
  const scan = duplicateFields(text, maxDepth);
  for (;;) {
    const step = scan.next();
    if (step.done) return step.value;
  }
}
