import { printNumber } from '../../../kube/go-text.ts';
import { toInt, toTimestamp, toUint } from './arithmetic.ts';
import { durationText, parseGoDuration, parseTimestamp, timestampText } from './time-text.ts';
import { CelDuration, CelTimestamp, CelTypeValue, CelUint, Fault, typeNameOf, type CelValue } from './values.ts';

/** `int(x)`, `string(x)` and the other conversions between types. */
function refuse(value: CelValue, to: string): Fault {
  return new Fault(`type conversion error from '${typeNameOf(value)}' to '${to}'`);
}

const INT_TEXT = /^[+-]?[0-9]+$/;
const UINT_TEXT = /^[0-9]+$/;
const DOUBLE_TEXT = /^[+-]?(?:(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:e[+-]?[0-9]+)?|inf|infinity|nan)$/i;
const INT_OVERFLOW = new Fault('integer overflow');
const UINT_OVERFLOW = new Fault('unsigned integer overflow');

export function convertToInt(value: CelValue): CelValue {
  if (typeof value === 'bigint') return value;
  if (typeof value === 'number') {
    // The bounds themselves are not exact in a double, so they are out.
    return !Number.isFinite(value) || value <= -(2 ** 63) || value >= 2 ** 63 ? INT_OVERFLOW : BigInt(Math.trunc(value));
  }
  if (value instanceof CelUint) return toInt(value.value);
  if (value instanceof CelDuration) return value.nanoseconds;
  if (value instanceof CelTimestamp) return floorDivide(value.nanoseconds, 1_000_000_000n);
  if (typeof value !== 'string' || value.length > 64 || !INT_TEXT.test(value)) return refuse(value, 'int');
  const parsed = toInt(BigInt(value.replace(/^\+/, '')));
  return parsed instanceof Fault ? refuse(value, 'int') : parsed;
}

function floorDivide(value: bigint, divisor: bigint): bigint {
  const quotient = value / divisor;
  return value % divisor < 0n ? quotient - 1n : quotient;
}

export function convertToUint(value: CelValue): CelValue {
  if (value instanceof CelUint) return value;
  if (typeof value === 'bigint') return toUint(value);
  if (typeof value === 'number') {
    return !Number.isFinite(value) || value < 0 || value >= 2 ** 64 ? UINT_OVERFLOW : new CelUint(BigInt(Math.trunc(value)));
  }
  if (typeof value !== 'string' || value.length > 64 || !UINT_TEXT.test(value)) return refuse(value, 'uint');
  const parsed = toUint(BigInt(value));
  return parsed instanceof Fault ? refuse(value, 'uint') : parsed;
}

export function convertToDouble(value: CelValue): CelValue {
  if (typeof value === 'number') return value;
  if (typeof value === 'bigint') return Number(value);
  if (value instanceof CelUint) return Number(value.value);
  if (typeof value !== 'string' || value === '' || value.length > 1024 || !DOUBLE_TEXT.test(value)) return refuse(value, 'double');
  const infinite = /^([+-]?)inf/i.exec(value);
  if (infinite !== null) return infinite[1] === '-' ? -Infinity : Infinity;
  if (/nan$/i.test(value)) return Number.NaN;
  const parsed = Number(value);
  return Number.isFinite(parsed) ? parsed : refuse(value, 'double');
}

export function convertToBool(value: CelValue): CelValue {
  if (typeof value === 'boolean') return value;
  if (typeof value !== 'string') return refuse(value, 'bool');
  if (['1', 't', 'T', 'TRUE', 'true', 'True'].includes(value)) return true;
  return ['0', 'f', 'F', 'FALSE', 'false', 'False'].includes(value) ? false : refuse(value, 'bool');
}

export function convertToBytes(value: CelValue): CelValue {
  if (value instanceof Uint8Array) return value;
  return typeof value === 'string' ? Buffer.from(value, 'utf8') : refuse(value, 'bytes');
}

const UTF8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

export function convertToString(value: CelValue): CelValue {
  if (typeof value === 'object') return objectToString(value);
  return typeof value === 'number' ? printNumber(value) : String(value);
}

function objectToString(value: CelValue): CelValue {
  if (value instanceof CelUint) return String(value.value);
  if (value instanceof CelDuration) return durationText(value.nanoseconds);
  if (value instanceof CelTimestamp) return timestampText(value.nanoseconds);
  if (value instanceof CelTypeValue) return value.name;
  if (!(value instanceof Uint8Array)) return refuse(value, 'string');
  try {
    return UTF8.decode(value);
  } catch {
    return new Fault('invalid UTF-8 in bytes, cannot convert to string');
  }
}

export function convertToDuration(value: CelValue): CelValue {
  if (value instanceof CelDuration) return value;
  const parsed = typeof value === 'string' ? parseGoDuration(value) : undefined;
  return parsed === undefined ? refuse(value, 'google.protobuf.Duration') : new CelDuration(parsed);
}

export function convertToTimestamp(value: CelValue): CelValue {
  if (value instanceof CelTimestamp) return value;
  if (typeof value === 'bigint') return toTimestamp(value * 1_000_000_000n);
  const parsed = typeof value === 'string' ? parseTimestamp(value) : undefined;
  return parsed === undefined ? refuse(value, 'google.protobuf.Timestamp') : toTimestamp(parsed);
}
