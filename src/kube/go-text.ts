/** How Go prints things, because Kubernetes' messages are made of Go's verbs and people (and programs) compare them. */

const PRINTABLE = /^[\p{L}\p{M}\p{N}\p{P}\p{S} ]$/u;
const PLAIN = /^[\x20\x21\x23-\x5b\x5d-\x7e]*$/;
const SHORT_ESCAPES: Record<string, string> = {
  '\x07': '\\a',
  '\b': '\\b',
  '\f': '\\f',
  '\n': '\\n',
  '\r': '\\r',
  '\t': '\\t',
  '\v': '\\v',
  '\\': '\\\\',
  '"': '\\"',
};

export function isPrintable(character: string): boolean {
  return PRINTABLE.test(character);
}

function escapeCharacter(character: string): string {
  const short = SHORT_ESCAPES[character];
  if (short !== undefined) return short;
  if (PRINTABLE.test(character)) return character;
  const code = character.codePointAt(0)!;
  if (code < 0x20 || code === 0x7f) return `\\x${code.toString(16).padStart(2, '0')}`;
  if (code >= 0xd800 && code <= 0xdfff) return '\\ufffd';
  return code < 0x10000 ? `\\u${code.toString(16).padStart(4, '0')}` : `\\U${code.toString(16).padStart(8, '0')}`;
}

/** `%q` of a string. */
export function quote(text: string): string {
  if (PLAIN.test(text)) return `"${text}"`;
  let quoted = '"';
  for (const character of text) quoted += escapeCharacter(character);
  return `${quoted}"`;
}

/** `%q` of a rune: `'a'`. */
export function quoteRune(character: string): string {
  if (character === "'") return "'\\''";
  return character === '"' ? `'"'` : `'${escapeCharacter(character)}'`;
}

/** `%#U` of a rune: `U+0007`, `U+0041 'A'`. */
export function unicodeNotation(character: string): string {
  const hex = character.codePointAt(0)!.toString(16).toUpperCase().padStart(4, '0');
  return isPrintable(character) ? `U+${hex} '${character}'` : `U+${hex}`;
}

/** `%v` of a number: the shortest form, with an exponent of at least two digits below 1e-4 and from 1e21 on. */
export function printNumber(value: number): string {
  if (Object.is(value, -0)) return '-0';
  if (!Number.isFinite(value)) return Number.isNaN(value) ? 'NaN' : value > 0 ? '+Inf' : '-Inf';
  const size = Math.abs(value);
  if (size === 0 || (size >= 1e-4 && size < 1e21)) return String(value);
  const [mantissa, exponent] = value.toExponential().split('e');
  return `${mantissa}e${exponent[0]}${exponent.slice(1).padStart(2, '0')}`;
}

const HTML_SENSITIVE = /[<>&\u2028\u2029]/g;

/** encoding/json's Marshal: as JSON.stringify, with the characters that matter in HTML escaped. */
export function marshal(value: unknown): string {
  const text = JSON.stringify(value) ?? 'null';
  return text.replace(HTML_SENSITIVE, (c) => `\\u${c.charCodeAt(0).toString(16).padStart(4, '0')}`);
}

/** `%#v` of a []string. */
export function printStrings(values: readonly string[]): string {
  return `[]string{${values.map(quote).join(', ')}}`;
}

/** `len(text)`: the length in UTF-8. */
export function byteLength(text: string): number {
  let bytes = text.length;
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i);
    if (code < 0x80) continue;
    if (code < 0x800) bytes += 1;
    else if (code < 0xd800 || code > 0xdbff) bytes += 2;
    else {
      const next = text.charCodeAt(i + 1);
      bytes += 2;
      if (next >= 0xdc00 && next <= 0xdfff) i++;
    }
  }
  return bytes;
}

/** Go's order of strings, by bytes; the same as by code units for everything below the surrogates. */
export function compareText(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

/** `%v` of a decoded JSON value: `map[a:1 b:[x y]]`. */
export function printAny(value: unknown): string {
  if (value === null || value === undefined) return '<nil>';
  if (Array.isArray(value)) return `[${value.map(printAny).join(' ')}]`;
  if (typeof value === 'number') return printNumber(value);
  if (typeof value === 'string' || typeof value === 'boolean') return String(value);
  const fields = Object.entries(value).sort(([a], [b]) => compareText(a, b));
  return `map[${fields.map(([key, field]) => `${key}:${printAny(field)}`).join(' ')}]`;
}
