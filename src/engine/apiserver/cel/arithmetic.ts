import type { WorkMeter } from './comparison.ts';
import { CelDuration, CelList, CelTimestamp, CelUint, Fault, NO_SUCH_OVERLOAD, type CelValue } from './values.ts';

const MIN_INT = -(2n ** 63n);
const MAX_INT = 2n ** 63n - 1n;
const MAX_UINT = 2n ** 64n - 1n;
/** Year 1 to year 9999, as protobuf allows. */
const MIN_TIME = -62135596800n * 1_000_000_000n;
const MAX_TIME = 253402300799n * 1_000_000_000n + 999_999_999n;

const INT_OVERFLOW = new Fault('integer overflow');
const UINT_OVERFLOW = new Fault('unsigned integer overflow');
const DURATION_OVERFLOW = new Fault('duration overflow');
const TIMESTAMP_OVERFLOW = new Fault('timestamp overflow');
const DIVISION_BY_ZERO = new Fault('division by zero');
const MODULUS_BY_ZERO = new Fault('modulus by zero');

export function toInt(value: bigint): bigint | Fault {
  return value < MIN_INT || value > MAX_INT ? INT_OVERFLOW : value;
}

export function toUint(value: bigint): CelUint | Fault {
  return value < 0n || value > MAX_UINT ? UINT_OVERFLOW : new CelUint(value);
}

function toDuration(nanoseconds: bigint): CelDuration | Fault {
  return nanoseconds < MIN_INT || nanoseconds > MAX_INT ? DURATION_OVERFLOW : new CelDuration(nanoseconds);
}

export function toTimestamp(nanoseconds: bigint): CelTimestamp | Fault {
  return nanoseconds < MIN_TIME || nanoseconds > MAX_TIME ? TIMESTAMP_OVERFLOW : new CelTimestamp(nanoseconds);
}

export function add(left: CelValue, right: CelValue, meter: WorkMeter): CelValue {
  if (typeof left === 'bigint') return typeof right === 'bigint' ? toInt(left + right) : NO_SUCH_OVERLOAD;
  if (typeof left === 'string') return typeof right === 'string' ? left + right : NO_SUCH_OVERLOAD;
  if (typeof left === 'number') return typeof right === 'number' ? left + right : NO_SUCH_OVERLOAD;
  if (left instanceof CelList) return right instanceof CelList ? left.concat(right, meter) : NO_SUCH_OVERLOAD;
  if (left instanceof CelUint) return right instanceof CelUint ? toUint(left.value + right.value) : NO_SUCH_OVERLOAD;
  if (left instanceof Uint8Array) return right instanceof Uint8Array ? Buffer.concat([left, right]) : NO_SUCH_OVERLOAD;
  if (left instanceof CelDuration) {
    if (right instanceof CelDuration) return toDuration(left.nanoseconds + right.nanoseconds);
    return right instanceof CelTimestamp ? toTimestamp(left.nanoseconds + right.nanoseconds) : NO_SUCH_OVERLOAD;
  }
  if (left instanceof CelTimestamp && right instanceof CelDuration) return toTimestamp(left.nanoseconds + right.nanoseconds);
  return NO_SUCH_OVERLOAD;
}

export function subtract(left: CelValue, right: CelValue): CelValue {
  if (typeof left === 'bigint') return typeof right === 'bigint' ? toInt(left - right) : NO_SUCH_OVERLOAD;
  if (typeof left === 'number') return typeof right === 'number' ? left - right : NO_SUCH_OVERLOAD;
  if (left instanceof CelUint) return right instanceof CelUint ? toUint(left.value - right.value) : NO_SUCH_OVERLOAD;
  if (left instanceof CelDuration) {
    return right instanceof CelDuration ? toDuration(left.nanoseconds - right.nanoseconds) : NO_SUCH_OVERLOAD;
  }
  if (!(left instanceof CelTimestamp)) return NO_SUCH_OVERLOAD;
  if (right instanceof CelDuration) return toTimestamp(left.nanoseconds - right.nanoseconds);
  return right instanceof CelTimestamp ? toDuration(left.nanoseconds - right.nanoseconds) : NO_SUCH_OVERLOAD;
}

export function multiply(left: CelValue, right: CelValue): CelValue {
  if (typeof left === 'bigint' && typeof right === 'bigint') return toInt(left * right);
  if (typeof left === 'number' && typeof right === 'number') return left * right;
  if (left instanceof CelUint && right instanceof CelUint) return toUint(left.value * right.value);
  return NO_SUCH_OVERLOAD;
}

export function divide(left: CelValue, right: CelValue): CelValue {
  if (typeof left === 'number' && typeof right === 'number') return left / right;
  if (typeof left === 'bigint' && typeof right === 'bigint') return right === 0n ? DIVISION_BY_ZERO : toInt(left / right);
  if (left instanceof CelUint && right instanceof CelUint) {
    return right.value === 0n ? DIVISION_BY_ZERO : toUint(left.value / right.value);
  }
  return NO_SUCH_OVERLOAD;
}

export function modulo(left: CelValue, right: CelValue): CelValue {
  if (typeof left === 'bigint' && typeof right === 'bigint') {
    if (right === 0n) return MODULUS_BY_ZERO;
    return left === MIN_INT && right === -1n ? INT_OVERFLOW : left % right;
  }
  if (left instanceof CelUint && right instanceof CelUint) {
    return right.value === 0n ? MODULUS_BY_ZERO : toUint(left.value % right.value);
  }
  return NO_SUCH_OVERLOAD;
}

export function negate(value: CelValue): CelValue {
  if (typeof value === 'bigint') return toInt(-value);
  if (typeof value === 'number') return -value;
  return value instanceof CelDuration ? toDuration(-value.nanoseconds) : NO_SUCH_OVERLOAD;
}
