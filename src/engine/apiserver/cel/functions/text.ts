import { compileRegExp } from '../../schema/regular-expression.ts';
import { CelList, Fault, NO_SUCH_OVERLOAD, shown, stringSize, ValueList, type CelValue } from '../values.ts';
import { formatText } from './format-text.ts';
import { onString, type CelFunction, type FunctionTable } from './function-table.ts';

/** cel-go's strings library (version 2) and Kubernetes' regular expressions. Positions count code points. */
const outOfRange = (position: bigint | number): Fault => new Fault(`index out of range: ${position}`);

/** True when a text has no code point beyond 16 bits, so that its indexes are those of its code units. */
function isFlat(text: string): boolean {
  return stringSize(text) === text.length;
}

function slice(text: string, from: number, to?: number): string {
  return isFlat(text) ? text.slice(from, to) : Array.from(text).slice(from, to).join('');
}

const charAt: CelFunction = ([text, at]) => {
  if (typeof text !== 'string' || typeof at !== 'bigint') return NO_SUCH_OVERLOAD;
  const length = BigInt(stringSize(text));
  if (at < 0n || at > length) return outOfRange(at);
  return slice(text, Number(at), Number(at) + 1);
};

/** The position in code points of a match that was found in code units. */
function position(text: string, unit: number): bigint {
  return BigInt(unit < 0 ? -1 : isFlat(text) ? unit : stringSize(text.slice(0, unit)));
}

function unitOf(text: string, at: number): number {
  return isFlat(text) ? at : Array.from(text).slice(0, at).join('').length;
}

export const indexOfText: CelFunction = ([text, part, from]) => {
  if (typeof text !== 'string' || typeof part !== 'string') return NO_SUCH_OVERLOAD;
  if (from !== undefined && typeof from !== 'bigint') return NO_SUCH_OVERLOAD;
  const start = from ?? 0n;
  if (part === '') return start;
  if (start < 0n) return outOfRange(start);
  if (start >= BigInt(stringSize(text))) return -1n;
  return position(text, text.indexOf(part, unitOf(text, Number(start))));
};

export const lastIndexOfText: CelFunction = ([text, part, from]) => {
  if (typeof text !== 'string' || typeof part !== 'string') return NO_SUCH_OVERLOAD;
  if (from !== undefined && typeof from !== 'bigint') return NO_SUCH_OVERLOAD;
  const length = BigInt(stringSize(text));
  if (part === '') return from ?? length;
  if (from === undefined && text.length < part.length) return -1n;
  const start = from ?? length - 1n;
  if (start < 0n) return outOfRange(start);
  if (start >= length) return -1n;
  return position(text, text.lastIndexOf(part, unitOf(text, Number(start))));
};

/** strings.Replace: an empty `old` matches before every code point and at the end. */
const replace: CelFunction = ([text, old, replacement, limit]) => {
  if (typeof text !== 'string' || typeof old !== 'string' || typeof replacement !== 'string') return NO_SUCH_OVERLOAD;
  if (limit !== undefined && typeof limit !== 'bigint') return NO_SUCH_OVERLOAD;
  let left = limit === undefined || limit < 0n ? Infinity : Number(limit);
  if (left === Infinity && old !== '') return text.replaceAll(old, () => replacement);
  const pieces = old === '' ? ['', ...Array.from(text), ''] : text.split(old);
  let out = pieces[0];
  for (const [at, piece] of pieces.slice(1).entries()) {
    const replaces = left > 0 && !(old === '' && at === 0 && text === '' && left < 1);
    out += (replaces ? replacement : old) + piece;
    if (replaces) left--;
  }
  return out;
};

const split: CelFunction = ([text, separator, limit]) => {
  if (typeof text !== 'string' || typeof separator !== 'string') return NO_SUCH_OVERLOAD;
  if (limit !== undefined && typeof limit !== 'bigint') return NO_SUCH_OVERLOAD;
  const most = limit === undefined || limit < 0n ? Infinity : Number(limit);
  if (most === 0) return new ValueList([]);
  const all = separator === '' ? Array.from(text) : text.split(separator);
  if (all.length <= most) return new ValueList(all);
  return new ValueList([...all.slice(0, most - 1), all.slice(most - 1).join(separator)]);
};

const join: CelFunction = ([list, separator = '']) => {
  if (!(list instanceof CelList) || typeof separator !== 'string') return NO_SUCH_OVERLOAD;
  const texts: string[] = [];
  for (let at = 0; at < list.size; at++) {
    const item = list.get(at);
    if (typeof item !== 'string') return item instanceof Fault ? item : new Fault(`join: invalid input: ${shown(item)}`);
    texts.push(item);
  }
  return texts.join(separator);
};

const substring: CelFunction = ([text, from, to]) => {
  if (typeof text !== 'string' || typeof from !== 'bigint') return NO_SUCH_OVERLOAD;
  if (to !== undefined && typeof to !== 'bigint') return NO_SUCH_OVERLOAD;
  const length = BigInt(stringSize(text));
  if (to !== undefined && from > to) return new Fault(`invalid substring range. start: ${from}, end: ${to}`);
  if (from < 0n || from > length) return outOfRange(from);
  if (to !== undefined && (to < 0n || to > length)) return outOfRange(to);
  return slice(text, Number(from), to === undefined ? undefined : Number(to));
};

const QUOTED: Record<string, string> = {
  '\u0007': '\\a',
  '\b': '\\b',
  '\f': '\\f',
  '\n': '\\n',
  '\r': '\\r',
  '\t': '\\t',
  '\v': '\\v',
  '\\': '\\\\',
  '"': '\\"',
};

/** strings.TrimSpace trims what Unicode calls white space, which is not quite what JavaScript trims. */
const SPACE_START = /^[\t\n\v\f\r \u0085\u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]+/;
const SPACE_END = /[\t\n\v\f\r \u0085\u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]+$/;

function withPattern(pattern: CelValue, apply: (regExp: ReturnType<typeof compileRegExp>) => CelValue): CelValue {
  if (typeof pattern !== 'string') return NO_SUCH_OVERLOAD;
  try {
    return apply(compileRegExp(pattern));
  } catch (error) {
    return new Fault(`Illegal regex: ${(error as Error).message}`);
  }
}

const find: CelFunction = ([text, pattern]) =>
  typeof text === 'string' ? withPattern(pattern, (regExp) => regExp.find(text) ?? '') : NO_SUCH_OVERLOAD;

const findAll: CelFunction = ([text, pattern, limit]) => {
  if (typeof text !== 'string' || (limit !== undefined && typeof limit !== 'bigint')) return NO_SUCH_OVERLOAD;
  return withPattern(pattern, (regExp) => new ValueList(regExp.findAll(text, limit === undefined ? -1 : Number(limit))));
};

export const TEXT: FunctionTable = {
  charAt,
  replace,
  split,
  join,
  substring,
  find,
  findAll,
  lowerAscii: onString((text) => text.replaceAll(/[A-Z]+/g, (part) => part.toLowerCase())),
  upperAscii: onString((text) => text.replaceAll(/[a-z]+/g, (part) => part.toUpperCase())),
  trim: onString((text) => text.replace(SPACE_START, '').replace(SPACE_END, '')),
  'strings.quote': onString((text) => `"${Array.from(text, (mark) => QUOTED[mark] ?? mark).join('')}"`),
  format: ([text, args]) => (typeof text === 'string' && args instanceof CelList ? formatText(text, args) : NO_SUCH_OVERLOAD),
};
