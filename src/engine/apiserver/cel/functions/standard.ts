import { add, divide, modulo, multiply, negate, subtract } from '../arithmetic.ts';
import { compare, contains, equal } from '../comparison.ts';
import * as convert from '../conversions.ts';
import { inZone } from '../time-text.ts';
import {
  CelDuration,
  CelList,
  CelMap,
  CelOpaque,
  CelTimestamp,
  CelTypeValue,
  Fault,
  NO_SUCH_OVERLOAD,
  stringSize,
  typeNameOf,
  ValueMap,
} from '../values.ts';
import { onStrings, type CelFunction, type FunctionTable } from './function-table.ts';

function ordered(accept: (order: number) => boolean): CelFunction {
  return ([left, right]) => {
    const order = compare(left, right);
    return order instanceof Fault ? order : accept(order);
  };
}

const size: CelFunction = ([value], context) => {
  if (typeof value === 'string') return BigInt(stringSize(value));
  if (value instanceof CelMap) context.spend(value.size);
  if (value instanceof CelList || value instanceof CelMap) return BigInt(value.size);
  return value instanceof Uint8Array ? BigInt(value.length) : new Fault('no such overload: size');
};

const isIn: CelFunction = ([value, container], context) => {
  if (container instanceof CelList) return contains(container, value, context);
  if (!(container instanceof CelMap)) return NO_SUCH_OVERLOAD;
  const found = container.find(value);
  return found instanceof Fault ? found : found !== undefined;
};

const notEqual: CelFunction = ([left, right], context) => {
  const same = equal(left, right, context);
  return same instanceof Fault ? same : !same;
};

/** Texts that both carry a canonical form convert by it; the rest by their type. */
const toText: CelFunction = ([value]) =>
  value instanceof CelOpaque && 'text' in value ? (value as CelOpaque & { text: string }).text : convert.convertToString(value);

const NANOS: Record<string, bigint> = {
  getHours: 3_600_000_000_000n,
  getMinutes: 60_000_000_000n,
  getSeconds: 1_000_000_000n,
  getMilliseconds: 1_000_000n,
};

/** Looking up a time zone. */
const ZONE_STEPS = 50;

/** Parts of a point in time, in UTC or the zone given; whole units for a duration. */
function timePart(name: string, read: (date: Date) => number): CelFunction {
  return ([value, zone], context) => {
    if (zone !== undefined) context.spend(ZONE_STEPS);
    if (value instanceof CelDuration && NANOS[name] !== undefined && zone === undefined) return value.nanoseconds / NANOS[name];
    if (!(value instanceof CelTimestamp) || (zone !== undefined && typeof zone !== 'string')) return NO_SUCH_OVERLOAD;
    try {
      return BigInt(read(inZone(value.nanoseconds, zone ?? 'UTC')));
    } catch (error) {
      return new Fault((error as Error).message);
    }
  };
}

function dayOfYear(date: Date): number {
  const start = new Date(0);
  start.setUTCFullYear(date.getUTCFullYear(), 0, 1);
  return Math.floor((date.getTime() - start.getTime()) / 86_400_000);
}

const mapInsert: CelFunction = ([target, key, value], context) => {
  if (!(target instanceof ValueMap)) return NO_SUCH_OVERLOAD;
  if (value !== undefined) return target.insert(key, value);
  if (!(key instanceof CelMap)) return NO_SUCH_OVERLOAD;
  let result: ValueMap | Fault = target;
  for (const name of key.keys()) {
    context.spend(1);
    result = result.insert(name, key.find(name)!);
    if (result instanceof Fault) return result;
  }
  return result;
};

export const STANDARD: FunctionTable = {
  '!_': ([value]) => (typeof value === 'boolean' ? !value : NO_SUCH_OVERLOAD),
  '-_': ([value]) => negate(value),
  '_+_': ([left, right], context) => add(left, right, context),
  '_-_': ([left, right]) => subtract(left, right),
  '_*_': ([left, right]) => multiply(left, right),
  '_/_': ([left, right]) => divide(left, right),
  '_%_': ([left, right]) => modulo(left, right),
  '_==_': ([left, right], context) => equal(left, right, context),
  '_!=_': notEqual,
  '_<_': ordered((order) => order < 0),
  '_<=_': ordered((order) => order <= 0),
  '_>_': ordered((order) => order > 0),
  '_>=_': ordered((order) => order >= 0),
  '@in': isIn,
  size,
  type: ([value]) => new CelTypeValue(typeNameOf(value)),
  dyn: ([value]) => value,
  bool: ([value]) => convert.convertToBool(value),
  bytes: ([value]) => convert.convertToBytes(value),
  double: ([value]) => convert.convertToDouble(value),
  duration: ([value]) => convert.convertToDuration(value),
  int: ([value]) => convert.convertToInt(value),
  string: toText,
  timestamp: ([value]) => convert.convertToTimestamp(value),
  uint: ([value]) => convert.convertToUint(value),
  contains: onStrings((text, part) => text.includes(part)),
  startsWith: onStrings((text, part) => text.startsWith(part)),
  endsWith: onStrings((text, part) => text.endsWith(part)),
  getFullYear: timePart('getFullYear', (date) => date.getUTCFullYear()),
  getMonth: timePart('getMonth', (date) => date.getUTCMonth()),
  getDayOfYear: timePart('getDayOfYear', dayOfYear),
  getDayOfMonth: timePart('getDayOfMonth', (date) => date.getUTCDate() - 1),
  getDate: timePart('getDate', (date) => date.getUTCDate()),
  getDayOfWeek: timePart('getDayOfWeek', (date) => date.getUTCDay()),
  getHours: timePart('getHours', (date) => date.getUTCHours()),
  getMinutes: timePart('getMinutes', (date) => date.getUTCMinutes()),
  getSeconds: timePart('getSeconds', (date) => date.getUTCSeconds()),
  getMilliseconds: timePart('getMilliseconds', (date) => date.getUTCMilliseconds()),
  'cel.@mapInsert': mapInsert,
};
