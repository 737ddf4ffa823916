import { CelList, Fault, NO_SUCH_OVERLOAD, shown, stringSize } from '../values.ts';
import { formatText } from './format-text.ts';
import type { CelFunction, FunctionTable } from './function-table.ts';

/** cel-go's strings library (version 2) and Kubernetes' regular expressions. Positions count code points. */
const outOfRange = (position: bigint | number): Fault => new Fault(`index out of range: ${position}`);

/** True when a text has no code point beyond 16 bits, so that its indexes are those of its code units. */
function isFlat(text: string): boolean {
  return stringSize(text) === text.length;
}

function slice(text: string, from: number, to?: number): string {
  return text.slice(unitOf(text, from), to === undefined ? undefined : unitOf(text, to));
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

/** Where in code units the code point at a position begins. */
function unitOf(text: string, at: number): number {
  let unit = 0;
  for (let point = 0; point < at && unit < text.length; point++) unit += text.codePointAt(unit)! > 0xffff ? 2 : 1;
  return unit;
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

const join: CelFunction = ([list, separator = ''], context) => {
  if (!(list instanceof CelList) || typeof separator !== 'string') return NO_SUCH_OVERLOAD;
  context.spend(list.size);
  const texts: string[] = [];
  let length = list.size * separator.length;
  for (let at = 0; at < list.size; at++) {
    const item = list.get(at);
    if (typeof item !== 'string') return item instanceof Fault ? item : new Fault(`join: invalid input: ${shown(item)}`);
    length += item.length;
    texts.push(item);
  }
  context.announceText(length);
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

export const TEXT: FunctionTable = {
  charAt,
  join,
  substring,
  format: ([text, args], context) =>
    typeof text === 'string' && args instanceof CelList ? formatText(text, args, context) : NO_SUCH_OVERLOAD,
};
