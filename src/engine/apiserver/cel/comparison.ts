import { isJsonObject } from '../../../kube/json-value.ts';
import type { Json } from '../../../kube/object.ts';
import {
  CelDuration,
  CelList,
  CelMap,
  CelOpaque,
  CelOptional,
  CelTimestamp,
  CelTypeValue,
  CelUint,
  Fault,
  NO_SUCH_OVERLOAD,
  Preserved,
  type CelValue,
} from './values.ts';

/**
 * Counts work that costs do not count, so that doing it again and again has an end: elements that comparisons look at, characters
 * that are read. A step is some hundred nanoseconds.
 */
export interface WorkMeter {
  spend(steps: number): void;
}

/** Characters that are read or compared in one step. */
const TEXT_PER_STEP = 64;

export function spendText(length: number, meter: WorkMeter): void {
  if (length >= TEXT_PER_STEP) meter.spend(Math.floor(length / TEXT_PER_STEP));
}

/** `left == right`. Values of different types are unequal, numbers are compared across types. */
export function equal(left: CelValue, right: CelValue, meter: WorkMeter): boolean | Fault {
  meter.spend(1);
  if (left instanceof Fault) return left;
  if (right instanceof Fault) return right;
  if (typeof left === 'string') spendText(left.length, meter);
  if (left === right) return true;
  if (left === null || right === null) return false;
  if (isNumber(left) && isNumber(right)) return compareNumbers(left, right) === 0;
  if (typeof left !== 'object' || typeof right !== 'object') return false;
  if (left instanceof CelList) return right instanceof CelList ? listsEqual(left, right, meter) : false;
  if (left instanceof CelMap) return right instanceof CelMap ? mapsEqual(left, right, meter) : false;
  if (left instanceof Uint8Array) return right instanceof Uint8Array && Buffer.compare(left, right) === 0;
  if (left instanceof CelOptional) return optionalsEqual(left, right, meter);
  if (left instanceof Preserved) return right instanceof Preserved && dataEqual(left.data, right.data, meter);
  return scalarsEqual(left, right);
}

/** Equality of plain JSON. */
export function dataEqual(left: Json, right: Json, meter: WorkMeter): boolean {
  meter.spend(1);
  if (left === right) return true;
  if (Array.isArray(left)) {
    return Array.isArray(right) && left.length === right.length && left.every((item, at) => dataEqual(item, right[at], meter));
  }
  if (!isJsonObject(left) || !isJsonObject(right)) return false;
  const names = Object.keys(left);
  if (names.length !== Object.keys(right).length) return false;
  return names.every((name) => Object.hasOwn(right, name) && dataEqual(left[name], right[name], meter));
}

function scalarsEqual(left: object, right: object): boolean | Fault {
  if (left instanceof CelDuration) return right instanceof CelDuration && left.nanoseconds === right.nanoseconds;
  if (left instanceof CelTimestamp) return right instanceof CelTimestamp && left.nanoseconds === right.nanoseconds;
  if (left instanceof CelTypeValue) return right instanceof CelTypeValue && left.name === right.name;
  if (left instanceof CelOpaque) {
    return right instanceof CelOpaque && left.typeName === right.typeName ? left.equals(right) : NO_SUCH_OVERLOAD;
  }
  return false;
}

function optionalsEqual(left: CelOptional, right: object, meter: WorkMeter): boolean | Fault {
  if (!(right instanceof CelOptional)) return false;
  if (left.value === undefined || right.value === undefined) return left.value === right.value;
  return equal(left.value, right.value, meter);
}

/** Lists of sorts that know better (sets and maps by key) say how they compare. */
export interface SelfComparingList {
  equalsList(other: CelList, meter: WorkMeter): boolean | Fault;
}

function listsEqual(left: CelList, right: CelList, meter: WorkMeter): boolean | Fault {
  if (left.size !== right.size) return false;
  if ('equalsList' in left) return (left as CelList & SelfComparingList).equalsList(right, meter);
  for (let at = 0; at < left.size; at++) {
    const same = equal(left.get(at), right.get(at), meter);
    if (same !== true) return same;
  }
  return true;
}

function mapsEqual(left: CelMap, right: CelMap, meter: WorkMeter): boolean | Fault {
  meter.spend(left.size + right.size);
  if (left.size !== right.size) return false;
  if ('equalsMap' in left)
    return (left as CelMap & { equalsMap(other: CelMap, meter: WorkMeter): boolean | Fault }).equalsMap(right, meter);
  for (const key of left.keys()) {
    const other = right.find(key);
    if (other === undefined) return false;
    const same = equal(left.find(key)!, other, meter);
    if (same !== true) return same;
  }
  return true;
}

export function isNumber(value: CelValue): value is bigint | number | CelUint {
  return typeof value === 'bigint' || typeof value === 'number' || value instanceof CelUint;
}

/** NaN when one of them is: it has no order and equals nothing. */
export function compareNumbers(left: bigint | number | CelUint, right: bigint | number | CelUint): number {
  const a = left instanceof CelUint ? left.value : left;
  const b = right instanceof CelUint ? right.value : right;
  if (Number.isNaN(a) || Number.isNaN(b)) return Number.NaN;
  return a < b ? -1 : a > b ? 1 : 0;
}

/** -1, 0 or 1 where the two can be ordered. */
export function compare(left: CelValue, right: CelValue): number | Fault {
  if (left instanceof Fault) return left;
  if (right instanceof Fault) return right;
  if (isNumber(left) && isNumber(right)) {
    const order = compareNumbers(left, right);
    return Number.isNaN(order) ? new Fault('NaN values cannot be ordered') : order;
  }
  if (typeof left === 'string' && typeof right === 'string') return compareText(left, right);
  if (typeof left === 'boolean' && typeof right === 'boolean') return Number(left) - Number(right);
  if (left instanceof CelDuration && right instanceof CelDuration) return compareNumbers(left.nanoseconds, right.nanoseconds);
  if (left instanceof CelTimestamp && right instanceof CelTimestamp) return compareNumbers(left.nanoseconds, right.nanoseconds);
  if (left instanceof Uint8Array && right instanceof Uint8Array) return Buffer.compare(left, right);
  return NO_SUCH_OVERLOAD;
}

/** By bytes of UTF-8, which differs from the order of code units only for surrogates. */
function compareText(left: string, right: string): number {
  if (left === right) return 0;
  const length = Math.min(left.length, right.length);
  for (let at = 0; at < length; at++) {
    const a = left.charCodeAt(at);
    const b = right.charCodeAt(at);
    if (a === b) continue;
    // Surrogates stand for code points beyond all others.
    if (isSurrogate(a) !== isSurrogate(b) && a >= 0xd800 && b >= 0xd800) return isSurrogate(a) ? 1 : -1;
    return a < b ? -1 : 1;
  }
  return left.length < right.length ? -1 : 1;
}

export function contains(list: CelList, value: CelValue, meter: WorkMeter): boolean | Fault {
  let fault: Fault | undefined;
  for (let at = 0; at < list.size; at++) {
    const same = equal(list.get(at), value, meter);
    if (same === true) return true;
    if (same instanceof Fault) fault ??= same;
  }
  return fault ?? false;
}

function isSurrogate(unit: number): boolean {
  return unit >= 0xd800 && unit <= 0xdfff;
}
