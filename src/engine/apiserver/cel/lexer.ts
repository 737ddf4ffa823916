import type { Sliced } from '../schema/slices.ts';
import type { CelIssue, CelSource } from './issues.ts';

export type TokenKind = 'ident' | 'escaped-ident' | 'int' | 'uint' | 'double' | 'string' | 'bytes' | 'operator' | 'end';

export interface Token {
  kind: TokenKind;
  text: string;
  offset: number;
}

const OPERATORS = [
  '==',
  '!=',
  '<=',
  '>=',
  '&&',
  '||',
  '<',
  '>',
  '[',
  ']',
  '{',
  '}',
  '(',
  ')',
  '.',
  ',',
  '-',
  '!',
  '?',
  ':',
  '+',
  '*',
  '/',
  '%',
];
const WHITESPACE = new Set(['\t', ' ', '\r', '\n', '\f']);
const ESCAPE = /^\\(?:[abfnrtv"'\\?`]|[0-3][0-7]{2}|[xX][0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|U[0-9a-fA-F]{8})/;

/** Tokens that are read between two pauses. */
const STEP = 256;

/** Splits an expression into tokens, ending behind `most`. What is no token is reported and skipped, as cel-go does. */
export function* tokenize(source: CelSource, issues: CelIssue[], most = Infinity): Sliced<Token[]> {
  const { points } = source;
  const tokens: Token[] = [];
  let at = 0;
  while (at < points.length && tokens.length <= most && issues.length <= most) {
    if (WHITESPACE.has(points[at])) at++;
    else if (points[at] === '/' && points[at + 1] === '/') {
      while (at < points.length && points[at] !== '\n') at++;
    } else {
      const token = readToken(points, at);
      if (token === undefined) {
        const upTo = badTokenEnd(points, at);
        const text = points.slice(at, upTo).join('');
        issues.push({ offset: at, message: `Syntax error: token recognition error at: '${escapeForMessage(text)}'` });
        at = upTo;
      } else {
        tokens.push({ ...token, offset: at });
        if (tokens.length % STEP === 0) yield;
        at += Array.from(token.text).length;
      }
    }
  }
  tokens.push({ kind: 'end', text: '<EOF>', offset: points.length });
  return tokens;
}

function escapeForMessage(text: string): string {
  return text.replaceAll('\t', '\\t').replaceAll('\n', '\\n').replaceAll('\r', '\\r');
}

/** A string that never ends is reported up to the end of what could have been in it. */
function badTokenEnd(points: string[], at: number): number {
  // A lone `|` or `&` was the start of an operator: what stands in for its other half is part of the error.
  if ((points[at] === '|' || points[at] === '&') && at + 1 < points.length) return at + 2;
  if (points[at] !== '"' && points[at] !== "'") return at + 1;
  let to = at + 1;
  while (to < points.length && points[to] !== '\n' && points[to] !== '\r') {
    if (points[to] === '\\') {
      const escape = ESCAPE.exec(points.slice(to, to + 10).join(''));
      if (escape === null) return Math.min(to + 2, points.length);
      to += escape[0].length;
    } else to++;
  }
  return to < points.length ? to + 1 : to;
}

function readToken(points: string[], at: number): Omit<Token, 'offset'> | undefined {
  const point = points[at];
  const string = readString(points, at);
  if (string !== undefined) return string;
  if (/[A-Za-z_]/.test(point)) {
    let to = at + 1;
    while (to < points.length && /[A-Za-z0-9_]/.test(points[to])) to++;
    return { kind: 'ident', text: points.slice(at, to).join('') };
  }
  if (/[0-9]/.test(point) || (point === '.' && /[0-9]/.test(points[at + 1] ?? ''))) return readNumber(points, at);
  if (point === '`') {
    const match = /^`[A-Za-z0-9_.\-/ ]+`/.exec(points.slice(at, at + 1024).join(''));
    return match === null ? undefined : { kind: 'escaped-ident', text: match[0] };
  }
  const pair = point + (points[at + 1] ?? '');
  const operator = OPERATORS.includes(pair) ? pair : OPERATORS.includes(point) ? point : undefined;
  return operator === undefined ? undefined : { kind: 'operator', text: operator };
}

function readNumber(points: string[], at: number): Omit<Token, 'offset'> {
  let to = at;
  const digits = (): void => {
    while (/[0-9]/.test(points[to] ?? '')) to++;
  };
  const finish = (kind: TokenKind): Omit<Token, 'offset'> => {
    if (kind === 'int' && (points[to] === 'u' || points[to] === 'U')) {
      to++;
      return { kind: 'uint', text: points.slice(at, to).join('') };
    }
    return { kind, text: points.slice(at, to).join('') };
  };
  if (points[at] === '0' && points[at + 1] === 'x' && /[0-9a-fA-F]/.test(points[at + 2] ?? '')) {
    to = at + 2;
    while (/[0-9a-fA-F]/.test(points[to] ?? '')) to++;
    return finish('int');
  }
  digits();
  let kind: TokenKind = 'int';
  if (points[to] === '.' && /[0-9]/.test(points[to + 1] ?? '')) {
    to++;
    digits();
    kind = 'double';
  }
  if (points[to] === 'e' || points[to] === 'E') {
    const sign = points[to + 1] === '+' || points[to + 1] === '-' ? 1 : 0;
    if (/[0-9]/.test(points[to + 1 + sign] ?? '')) {
      to += 1 + sign;
      digits();
      kind = 'double';
    }
  }
  return finish(kind);
}

function readString(points: string[], at: number): Omit<Token, 'offset'> | undefined {
  let from = at;
  const isBytes = points[from] === 'b' || points[from] === 'B';
  if (isBytes) from++;
  const raw = points[from] === 'r' || points[from] === 'R';
  if (raw) from++;
  const mark = points[from];
  if (mark !== '"' && mark !== "'") return undefined;
  const triple = points[from + 1] === mark && points[from + 2] === mark;
  // Three quotes that never close are an empty string and the start of something else.
  const end = (triple ? endOfString(points, from, mark, true, raw) : undefined) ?? endOfString(points, from, mark, false, raw);
  if (end === undefined) return undefined;
  return { kind: isBytes ? 'bytes' : 'string', text: points.slice(at, end).join('') };
}

function endOfString(points: string[], from: number, mark: string, triple: boolean, raw: boolean): number | undefined {
  let to = from + (triple ? 3 : 1);
  while (to < points.length) {
    if (points[to] === mark && (!triple || (points[to + 1] === mark && points[to + 2] === mark))) return to + (triple ? 3 : 1);
    if (!triple && (points[to] === '\n' || points[to] === '\r')) return undefined;
    if (points[to] === '\\' && !raw) {
      const escape = ESCAPE.exec(points.slice(to, to + 10).join(''));
      if (escape === null) return undefined;
      to += escape[0].length;
    } else to++;
  }
  return undefined;
}
