import { quoteRune } from '../../../../kube/go-text.ts';

/**
 * What Go's encoding/json says about a text that should be a JSON object; undefined if it is one. Written by hand because
 * the words are part of the answer to the client and V8's differ.
 */
export function jsonObjectError(text: string): string | undefined {
  const scanner = new Scanner(text);
  const error = scanner.document();
  if (error !== undefined) return error;
  const first = text.trimStart()[0];
  if (first === '{' || text.trim() === 'null') return undefined;
  const kind = first === '[' ? 'array' : first === '"' ? 'string' : first === 't' || first === 'f' ? 'bool' : 'number';
  return `json: cannot unmarshal ${kind} into Go value of type map[string]interface {}`;
}

const END = 'unexpected end of JSON input';
const SPACE = /[ \t\r\n]/;

class Scanner {
  private readonly text: string;
  private at = 0;

  constructor(text: string) {
    this.text = text;
  }

  document(): string | undefined {
    this.space();
    const error = this.value();
    if (error !== undefined) return error;
    this.space();
    return this.at < this.text.length ? this.unexpected('after top-level value') : undefined;
  }

  private unexpected(context: string): string {
    if (this.at >= this.text.length) return END;
    return `invalid character ${quoteRune(String.fromCodePoint(this.text.codePointAt(this.at)!))} ${context}`;
  }

  private space(): void {
    while (this.at < this.text.length && SPACE.test(this.text[this.at])) this.at++;
  }

  private value(): string | undefined {
    const c = this.text[this.at];
    if (c === '{') return this.members('}', true);
    if (c === '[') return this.members(']', false);
    if (c === '"') return this.string();
    if (c === '-' || (c >= '0' && c <= '9')) return this.number();
    for (const word of ['true', 'false', 'null']) if (c === word[0]) return this.word(word);
    return this.unexpected('looking for beginning of value');
  }

  private members(close: string, keyed: boolean): string | undefined {
    this.at++;
    this.space();
    if (this.text[this.at] === close) {
      this.at++;
      return undefined;
    }
    for (;;) {
      this.space();
      const error = keyed ? this.pair() : this.value();
      if (error !== undefined) return error;
      this.space();
      const next = this.text[this.at];
      if (next !== ',' && next !== close) return this.unexpected(keyed ? 'after object key:value pair' : 'after array element');
      this.at++;
      if (next === close) return undefined;
    }
  }

  private pair(): string | undefined {
    if (this.text[this.at] !== '"') return this.unexpected('looking for beginning of object key string');
    const error = this.string();
    if (error !== undefined) return error;
    this.space();
    if (this.text[this.at] !== ':') return this.unexpected('after object key');
    this.at++;
    this.space();
    return this.value();
  }

  private string(): string | undefined {
    this.at++;
    for (; this.at < this.text.length; this.at++) {
      const c = this.text[this.at];
      if (c === '"') {
        this.at++;
        return undefined;
      }
      if (c < ' ') return this.unexpected('in string literal');
      if (c !== '\\') continue;
      this.at++;
      if (this.text[this.at] === 'u') {
        for (let i = 0; i < 4; i++) {
          this.at++;
          if (!/[0-9a-fA-F]/.test(this.text[this.at] ?? ' ')) return this.unexpected('in \\u hexadecimal character escape');
        }
      } else if (!'"\\/bfnrt'.includes(this.text[this.at] ?? ' ')) return this.unexpected('in string escape code');
    }
    return END;
  }

  private number(): string | undefined {
    if (this.text[this.at] === '-') this.at++;
    if (this.text[this.at] === '0') this.at++;
    else if (!this.digits()) return this.unexpected('in numeric literal');
    if (this.text[this.at] === '.') {
      this.at++;
      if (!this.digits()) return this.unexpected('after decimal point in numeric literal');
    }
    if (/[eE]/.test(this.text[this.at] ?? '')) {
      this.at++;
      if (/[+-]/.test(this.text[this.at] ?? '')) this.at++;
      if (!this.digits()) return this.unexpected('in exponent of numeric literal');
    }
    return undefined;
  }

  private digits(): boolean {
    const start = this.at;
    while (/[0-9]/.test(this.text[this.at] ?? '')) this.at++;
    return this.at > start;
  }

  private word(word: string): string | undefined {
    for (let i = 1; i < word.length; i++) {
      this.at++;
      if (this.text[this.at] !== word[i]) return this.unexpected(`in literal ${word} (expecting ${quoteRune(word[i])})`);
    }
    this.at++;
    return undefined;
  }
}
