import { printNumber, quote } from '../../../../kube/go-text.ts';
import { convertToDouble, convertToString } from '../conversions.ts';
import { CelDuration, CelList, CelMap, CelTimestamp, CelTypeValue, CelUint, Fault, typeNameOf, type CelValue } from '../values.ts';
import type { CallContext } from './function-table.ts';

/** `'...%s...'.format([...])`, as cel-go writes values: lists and maps as CEL, numbers in the English way. */
export class FormatError extends Error {}

export const FORMAT_COMPLAINTS = {
  s: 'string clause can only be used on strings, bools, bytes, ints, doubles, maps, lists, types, durations, and timestamps, was given',
  d: 'decimal clause can only be used on integers, was given',
  f: 'fixed-point clause can only be used on doubles, was given',
  e: 'scientific clause can only be used on doubles, was given',
  b: 'only integers and bools can be formatted as binary, was given',
  x: 'only integers, byte buffers, and strings can be formatted as hex, was given',
  o: 'octal clause can only be used on integers, was given',
};

export type Clause = keyof typeof FORMAT_COMPLAINTS;

/**
 * Reads a format and calls back for each clause, in order. Shared by the function itself and by the check of literal formats.
 * @throws FormatError
 */
export function readFormat(
  format: string,
  onText: (text: string) => void,
  onClause: (clause: Clause, upper: boolean, precision: number | undefined) => void,
): void {
  let at = 0;
  while (at < format.length) {
    const percent = format.indexOf('%', at);
    if (percent < 0) {
      onText(format.slice(at));
      return;
    }
    onText(format.slice(at, percent));
    at = percent + 1;
    if (format[at] === '%') {
      onText('%');
      at++;
      continue;
    }
    if (at >= format.length) throw new FormatError('unexpected end of string');
    const precision = /^\.(\d*)/.exec(format.slice(at, at + 32));
    if (precision !== null) {
      at += precision[0].length;
      if (at >= format.length) {
        throw new FormatError(
          'could not parse formatting clause: error while parsing precision: could not find end of precision specifier',
        );
      }
      if (precision[1] === '') {
        const detail = 'error while converting precision to integer: strconv.Atoi: parsing "": invalid syntax';
        throw new FormatError(`could not parse formatting clause: error while parsing precision: ${detail}`);
      }
    }
    const mark = format[at];
    const clause = mark === 'X' ? 'x' : mark;
    if (!Object.hasOwn(FORMAT_COMPLAINTS, clause)) {
      throw new FormatError(`could not parse formatting clause: unrecognized formatting clause "${mark}"`);
    }
    at++;
    onClause(clause as Clause, mark === 'X', precision === null ? undefined : Number(precision[1]));
  }
}

/** Nobody asks for more digits than a double has; a hostile format could. */
const MOST_DIGITS = 100;

export function formatText(format: string, args: CelList, context: CallContext): CelValue {
  let out = '';
  let next = 0;
  try {
    readFormat(
      format,
      (text) => (out += text),
      (clause, upper, precision) => {
        if (next >= args.size) throw new FormatError(`index ${next} out of range`);
        const value = args.get(next++);
        if (value instanceof Fault) throw new FormatError(value.message);
        try {
          out += formatClause(clause, upper, Math.min(precision ?? 6, MOST_DIGITS), value, context);
          context.announceText(out.length);
        } catch (error) {
          throw error instanceof FormatError ? new FormatError(`error during formatting: ${error.message}`, { cause: error }) : error;
        }
      },
    );
  } catch (error) {
    if (error instanceof FormatError) return new Fault(error.message);
    throw error;
  }
  return out;
}

function refuse(clause: Clause, value: CelValue): never {
  throw new FormatError(`${FORMAT_COMPLAINTS[clause]} ${typeNameOf(value)}`);
}

function formatClause(clause: Clause, upper: boolean, precision: number, value: CelValue, context: CallContext): string {
  switch (clause) {
    case 's':
      return plainText(value, context);
    case 'd':
      return decimal(value);
    case 'f':
      return grouped(toDouble(clause, value), precision);
    case 'e':
      return scientific(toDouble(clause, value), precision);
    case 'b':
      return typeof value === 'boolean' ? String(Number(value)) : integer(clause, value).toString(2);
    case 'o':
      return integer(clause, value).toString(8);
    case 'x': {
      const hex = hexText(value);
      return upper ? hex.toUpperCase() : hex;
    }
  }
}

function integer(clause: Clause, value: CelValue): bigint {
  if (typeof value === 'bigint') return value;
  return value instanceof CelUint ? value.value : refuse(clause, value);
}

function decimal(value: CelValue): string {
  return String(integer('d', value));
}

function toDouble(clause: Clause, value: CelValue): number {
  if (typeof value === 'number') return value;
  if (typeof value !== 'string') return refuse(clause, value);
  if (!['NaN', 'Infinity', '-Infinity'].includes(value)) return refuse(clause, value);
  const converted = convertToDouble(value);
  return typeof converted === 'number' ? converted : refuse(clause, value);
}

/** English digits in groups of three, as golang.org/x/text prints them. */
function grouped(value: number, precision: number): string {
  if (Number.isNaN(value)) return 'NaN';
  if (!Number.isFinite(value)) return value > 0 ? '∞' : '-∞';
  const [whole, fraction] = value.toFixed(precision).split('.');
  const digits = whole.replace('-', '').replaceAll(/\B(?=(?:\d{3})+$)/g, ',');
  const sign = whole.startsWith('-') ? '-' : '';
  return sign + digits + (fraction === undefined ? '' : `.${fraction}`);
}

const SUPERSCRIPTS = '⁰¹²³⁴⁵⁶⁷⁸⁹';

function scientific(value: number, precision: number): string {
  if (Number.isNaN(value)) return 'NaN';
  if (!Number.isFinite(value)) return value > 0 ? '∞' : '-∞';
  const [mantissa, exponent] = value.toExponential(precision).split('e');
  const digits = exponent.slice(1).padStart(2, '0');
  const raised = Array.from(digits, (digit) => SUPERSCRIPTS[Number(digit)]).join('');
  return `${mantissa}×10${exponent.startsWith('-') ? '⁻' : ''}${raised}`;
}

function hexText(value: CelValue): string {
  if (typeof value === 'string') return Buffer.from(value, 'utf8').toString('hex');
  if (value instanceof Uint8Array) return Buffer.from(value).toString('hex');
  return integer('x', value).toString(16);
}

/** To put one value into words. */
const FORMAT_STEPS = 5;
/** Quoting a character takes as long as reading some. */
const QUOTING = 8;

/** The text of a value on its own. */
function plainText(value: CelValue, context: CallContext): string {
  context.spend(FORMAT_STEPS);
  if (value instanceof CelList) return `[${Array.from(value, (item) => nestedText(item, context)).join(', ')}]`;
  if (value instanceof CelMap) return mapText(value, context);
  if (value === null) return 'null';
  if (value instanceof Uint8Array) return Buffer.from(value).toString('utf8');
  const text = convertToString(value);
  return typeof text === 'string' ? text : refuse('s', value);
}

/** The text of a value inside a list or a map. */
function nestedText(value: CelValue, context: CallContext): string {
  context.spend(FORMAT_STEPS);
  if (typeof value === 'string') {
    context.announceText(value.length * QUOTING);
    return quote(value);
  }
  if (value instanceof Uint8Array) return `b${quote(Buffer.from(value).toString('utf8'))}`;
  if (value instanceof CelTimestamp) return `timestamp(${quote(plainText(value, context))})`;
  if (value instanceof CelDuration) return `duration(${quote(plainText(value, context))})`;
  if (typeof value === 'number') return Number.isFinite(value) ? value.toFixed(6) : quote(printNumber(value));
  if (typeof value === 'bigint' || typeof value === 'boolean' || value === null) return plainText(value, context);
  if (value instanceof CelUint || value instanceof CelList || value instanceof CelMap || value instanceof CelTypeValue)
    return plainText(value, context);
  throw new FormatError(`no formatting function for ${typeNameOf(value)}`);
}

function mapText(map: CelMap, context: CallContext): string {
  const entries = map.keys().map((key) => {
    if (typeof key === 'number') throw new FormatError('no formatting function for map key of type double');
    return [typeof key === 'string' ? quote(key) : plainText(key, context), nestedText(map.find(key)!, context)];
  });
  entries.sort(([left], [right]) => (left < right ? -1 : 1));
  return `{${entries.map(([key, value]) => `${key}:${value}`).join(', ')}}`;
}
