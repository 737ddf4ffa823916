/** The value of a quoted literal, quotes and `r` prefix included in the text. @throws Error in the words of cel-go */
export function unescapeString(literal: string): string {
  const { text, raw } = unquote(literal);
  if (raw || !text.includes('\\')) return text;
  let out = '';
  for (const part of parts(text)) {
    if ('plain' in part) out += part.plain;
    else if (part.code > 0x10ffff || (part.code >= 0xd800 && part.code <= 0xdfff)) throw new Error('invalid unicode code point');
    else out += String.fromCodePoint(part.code);
  }
  return out;
}

/** As above for `b'...'` without the `b`: `\x` and octal escapes are bytes, not code points. */
export function unescapeBytes(literal: string): Uint8Array {
  const { text, raw } = unquote(literal);
  if (raw || !text.includes('\\')) return Buffer.from(text, 'utf8');
  const chunks: Buffer[] = [];
  for (const part of parts(text)) {
    if ('plain' in part) chunks.push(Buffer.from(part.plain, 'utf8'));
    else if (part.unicode) throw new Error('unable to unescape string');
    else chunks.push(Buffer.from([part.code & 255]));
  }
  return Buffer.concat(chunks);
}

function unquote(literal: string): { text: string; raw: boolean } {
  let text = literal.replaceAll('\r\n', '\n').replaceAll('\r', '\n');
  const raw = text.startsWith('r') || text.startsWith('R');
  if (raw) text = text.slice(1);
  const triple = text.length >= 6 && (text.startsWith("'''") || text.startsWith('"""'));
  return { text: triple ? text.slice(3, -3) : text.slice(1, -1), raw };
}

const SIMPLE: Record<string, string> = {
  a: '\u0007',
  b: '\b',
  f: '\f',
  n: '\n',
  r: '\r',
  t: '\t',
  v: '\v',
  '\\': '\\',
  "'": "'",
  '"': '"',
  '`': '`',
  '?': '?',
};
const HEX_DIGITS: Record<string, number> = { x: 2, X: 2, u: 4, U: 8 };

type Part = { plain: string } | { code: number; unicode: boolean };

function* parts(text: string): Generator<Part> {
  let at = 0;
  while (at < text.length) {
    const backslash = text.indexOf('\\', at);
    if (backslash < 0) {
      yield { plain: text.slice(at) };
      return;
    }
    if (backslash > at) yield { plain: text.slice(at, backslash) };
    const mark = text[backslash + 1];
    if (SIMPLE[mark] !== undefined) {
      yield { plain: SIMPLE[mark] };
      at = backslash + 2;
    } else if (HEX_DIGITS[mark] !== undefined) {
      const digits = text.slice(backslash + 2, backslash + 2 + HEX_DIGITS[mark]);
      yield { code: Number.parseInt(digits, 16), unicode: mark === 'u' || mark === 'U' };
      at = backslash + 2 + HEX_DIGITS[mark];
    } else {
      yield { code: Number.parseInt(text.slice(backslash + 1, backslash + 4), 8), unicode: false };
      at = backslash + 4;
    }
  }
}
