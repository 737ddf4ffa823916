import { NO_SUCH_OVERLOAD, ValueList, type CelValue } from '../values.ts';
import type { Sliced } from '../../schema/slices.ts';
import type { CallContext, SlicedFunction } from './function-table.ts';

/** Functions that look at every character of a text, which may be millions: they pause. Positions count code points. */
const CHUNK = 16 * 1024;
/** Characters that count as one step. */
const PER_STEP = 16;
const PIECES_PER_TICK = 256;

/** A text made of another one, some thousand characters at a time. `change` must not care what stands beside them. */
function* inChunks(text: string, context: CallContext, change: (part: string) => string): Sliced<string> {
  let out = '';
  for (let at = 0; at < text.length; at += CHUNK) {
    out += change(text.slice(at, at + CHUNK));
    if (context.tick(CHUNK / PER_STEP)) yield;
  }
  return out;
}

function changing(change: (part: string) => string): SlicedFunction {
  return function* ([text], context) {
    return typeof text === 'string' ? yield* inChunks(text, context, change) : NO_SUCH_OVERLOAD;
  };
}

/** The parts of a text between separators, at most so many; the last one holds the rest. An empty separator separates code points. */
function* parts(text: string, separator: string, most: number, context: CallContext): Sliced<string[]> {
  const found: string[] = [];
  let from = 0;
  while (found.length < most - 1) {
    if (separator === '' && from >= text.length) break;
    const at = separator === '' ? from + (text.codePointAt(from)! > 0xffff ? 2 : 1) : text.indexOf(separator, from);
    if (at < 0 || (separator === '' && at >= text.length)) break;
    found.push(text.slice(from, at));
    from = at + separator.length;
    if (found.length % PIECES_PER_TICK === 0 && context.tick(PIECES_PER_TICK)) yield;
  }
  if (separator !== '' || text !== '') found.push(text.slice(from));
  return found;
}

/** strings.Replace: an empty `old` matches before every code point and at the end. */
function* replace([text, old, replacement, limit]: CelValue[], context: CallContext): Sliced<CelValue> {
  if (typeof text !== 'string' || typeof old !== 'string' || typeof replacement !== 'string') return NO_SUCH_OVERLOAD;
  if (limit !== undefined && typeof limit !== 'bigint') return NO_SUCH_OVERLOAD;
  const most = limit === undefined || limit < 0n ? Infinity : Number(limit);
  if (most === 0) return text;
  if (old === '') context.announceText(text.length + Math.min(most, text.length + 1) * replacement.length);
  const found = old === '' ? ['', ...(yield* parts(text, old, most, context))] : yield* parts(text, old, most + 1, context);
  if (old === '' && found.length <= most) found.push('');
  context.announceText(text.length + (found.length - 1) * replacement.length);
  yield;
  return found.join(replacement);
}

function* split([text, separator, limit]: CelValue[], context: CallContext): Sliced<CelValue> {
  if (typeof text !== 'string' || typeof separator !== 'string') return NO_SUCH_OVERLOAD;
  if (limit !== undefined && typeof limit !== 'bigint') return NO_SUCH_OVERLOAD;
  const most = limit === undefined || limit < 0n ? Infinity : Number(limit);
  return new ValueList(most === 0 ? [] : yield* parts(text, separator, most, context));
}

/** strings.TrimSpace trims what Unicode calls white space, which is not quite what JavaScript trims. */
const SPACE = /[\t\n\v\f\r \u0085\u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]/;

function* trim([text]: CelValue[], context: CallContext): Sliced<CelValue> {
  if (typeof text !== 'string') return NO_SUCH_OVERLOAD;
  let [from, to] = [0, text.length];
  let looked = 0;
  const isTime = (): boolean => ++looked % PIECES_PER_TICK === 0 && context.tick(PIECES_PER_TICK / 4);
  while (from < to && SPACE.test(text[from])) {
    from++;
    if (isTime()) yield;
  }
  while (to > from && SPACE.test(text[to - 1])) {
    to--;
    if (isTime()) yield;
  }
  return text.slice(from, to);
}

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

function* quote([text]: CelValue[], context: CallContext): Sliced<CelValue> {
  if (typeof text !== 'string') return NO_SUCH_OVERLOAD;
  // oxlint-disable-next-line no-control-regex -- these are what is quoted
  return `"${yield* inChunks(text, context, (part) => part.replaceAll(/[\u0007\b\f\n\r\t\v\\"]/g, (mark) => QUOTED[mark]))}"`;
}

export const LONG_TEXT: Record<string, SlicedFunction> = {
  replace,
  split,
  trim,
  'strings.quote': quote,
  lowerAscii: changing((part) => part.replaceAll(/[A-Z]+/g, (letters) => letters.toLowerCase())),
  upperAscii: changing((part) => part.replaceAll(/[a-z]+/g, (letters) => letters.toUpperCase())),
};
