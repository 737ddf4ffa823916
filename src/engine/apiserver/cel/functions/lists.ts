import { add } from '../arithmetic.ts';
import { compare, contains, equal } from '../comparison.ts';
import {
  CelDuration,
  CelList,
  CelOptional,
  CelUint,
  Fault,
  NO_SUCH_OVERLOAD,
  NONE,
  shown,
  typeNameOf,
  ValueList,
  type CelValue,
} from '../values.ts';
import type { CallContext, CelFunction, FunctionTable } from './function-table.ts';
import { indexOfText, lastIndexOfText } from './text.ts';

/** Lists, sets and optionals: cel-go's libraries and the one of Kubernetes. */
function onList(apply: (list: CelList, args: CelValue[], context: CallContext) => CelValue): CelFunction {
  return ([list, ...args], context) => (list instanceof CelList ? apply(list, args, context) : NO_SUCH_OVERLOAD);
}

const isSorted = onList((list) => {
  for (let at = 1; at < list.size; at++) {
    const order = compare(list.get(at - 1), list.get(at));
    if (order instanceof Fault) return order;
    if (order > 0) return false;
  }
  return true;
});

/** Zero of the type of the elements; an empty list of unknown type sums to the int 0. */
function zeroLike(first: CelValue | undefined): CelValue {
  if (typeof first === 'number') return 0;
  if (first instanceof CelUint) return new CelUint(0n);
  return first instanceof CelDuration ? new CelDuration(0n) : 0n;
}

const sum = onList((list, _, context) => {
  let total = zeroLike(list.size === 0 ? undefined : list.get(0));
  for (let at = 0; at < list.size; at++) {
    total = add(total, list.get(at), context);
    if (total instanceof Fault) return total;
  }
  return total;
});

function extreme(name: string, prefers: (order: number) => boolean): CelFunction {
  return onList((list) => {
    if (list.size === 0) return new Fault(`${name} called on empty list`);
    let best = list.get(0);
    for (let at = 1; at < list.size; at++) {
      const order = compare(best, list.get(at));
      if (order instanceof Fault) return order;
      if (prefers(order)) best = list.get(at);
    }
    return best;
  });
}

const indexOf: CelFunction = (args, context) => {
  const [list, item] = args;
  if (!(list instanceof CelList)) return indexOfText(args, context);
  for (let at = 0; at < list.size; at++) if (equal(list.get(at), item, context) === true) return BigInt(at);
  return -1n;
};

const lastIndexOf: CelFunction = (args, context) => {
  const [list, item] = args;
  if (!(list instanceof CelList)) return lastIndexOfText(args, context);
  for (let at = list.size - 1; at >= 0; at--) if (equal(list.get(at), item, context) === true) return BigInt(at);
  return -1n;
};

const slice = onList((list, [from, to]) => {
  if (typeof from !== 'bigint' || typeof to !== 'bigint') return NO_SUCH_OVERLOAD;
  const call = `cannot slice(${from}, ${to})`;
  if (from < 0n || to < 0n) return new Fault(`${call}, negative indexes not supported`);
  if (from > to) return new Fault(`${call}, start index must be less than or equal to end index`);
  if (to > BigInt(list.size)) return new Fault(`${call}, list is length ${list.size}`);
  const items: CelValue[] = [];
  for (let at = Number(from); at < Number(to); at++) items.push(list.get(at));
  return new ValueList(items);
});

function flattenInto(list: CelList, depth: bigint, items: CelValue[], context: CallContext): void {
  for (let at = 0; at < list.size; at++) {
    context.spend(1);
    const item = list.get(at);
    if (item instanceof CelList && depth > 0n) flattenInto(item, depth - 1n, items, context);
    else items.push(item);
  }
}

const flatten = onList((list, [depth = 1n], context) => {
  if (typeof depth !== 'bigint') return NO_SUCH_OVERLOAD;
  if (depth < 0n) return new Fault('level must be non-negative');
  const items: CelValue[] = [];
  flattenInto(list, depth, items, context);
  return new ValueList(items);
});

function sortByKeys(list: CelList, keys: CelList): CelValue {
  if (list.size !== keys.size) {
    const sizes = `${list.size} and ${keys.size}`;
    return new Fault(
      `@sortByAssociatedKeys() expected a list of the same size as the associated keys list, but got ${sizes} elements respectively`,
    );
  }
  if (list.size === 0) return list;
  const type = typeNameOf(keys.get(0));
  const indexed = Array.from(keys, (key, at) => ({ key, at }));
  if (compare(keys.get(0), keys.get(0)) instanceof Fault) return new Fault('list elements must be comparable');
  if (indexed.some(({ key }) => typeNameOf(key) !== type)) return new Fault('list elements must have the same type');
  indexed.sort((left, right) => compare(left.key, right.key) as number);
  return new ValueList(indexed.map(({ at }) => list.get(at)));
}

const distinct = onList((list, _, context) => {
  const unique: CelValue[] = [];
  for (let at = 0; at < list.size; at++) {
    const item = list.get(at);
    if (!unique.some((other) => equal(item, other, context) === true)) unique.push(item);
  }
  return new ValueList(unique);
});

/** A range longer than the cost of an expression could ever pay for is refused before it is made. */
const LONGEST_RANGE = 1_000_000n;

const range: CelFunction = ([size], context) => {
  if (typeof size !== 'bigint') return NO_SUCH_OVERLOAD;
  const length = size < 0n ? 0 : Number(size > LONGEST_RANGE ? LONGEST_RANGE + 1n : size);
  context.spend(length);
  return new ValueList(Array.from({ length }, (_, at) => BigInt(at)));
};

const setsContain = (list: CelList, part: CelList, context: CallContext): boolean | Fault => {
  for (let at = 0; at < part.size; at++) {
    const found = contains(list, part.get(at), context);
    if (found !== true) return found;
  }
  return true;
};

function onLists(apply: (left: CelList, right: CelList, context: CallContext) => CelValue): CelFunction {
  return ([left, right], context) => (left instanceof CelList && right instanceof CelList ? apply(left, right, context) : NO_SUCH_OVERLOAD);
}

const setsIntersect = onLists((left, right, context) => {
  for (let at = 0; at < left.size; at++) if (contains(right, left.get(at), context) === true) return true;
  return false;
});

function isZero(value: CelValue): boolean {
  if (value === null || value === '' || value === 0 || value === 0n || value === false) return true;
  if (value instanceof CelUint) return value.value === 0n;
  if (value instanceof CelDuration) return value.nanoseconds === 0n;
  if (value instanceof Uint8Array) return value.length === 0;
  if (value instanceof CelOptional) return value.value === undefined;
  return typeof value === 'object' && 'size' in value && value.size === 0;
}

const unwrap = onList((list) => {
  const items: CelValue[] = [];
  for (const item of list) {
    if (!(item instanceof CelOptional)) return new Fault(`value ${shown(item)} is not optional`);
    if (item.value !== undefined) items.push(item.value);
  }
  return new ValueList(items);
});

export const LISTS: FunctionTable = {
  isSorted,
  sum,
  min: extreme('min', (order) => order > 0),
  max: extreme('max', (order) => order < 0),
  indexOf,
  lastIndexOf,
  slice,
  flatten,
  distinct,
  sort: onList((list) => sortByKeys(list, list)),
  '@sortByAssociatedKeys': onLists((list, keys) => sortByKeys(list, keys)),
  reverse: onList((list) => new ValueList(Array.from({ length: list.size }, (_, at) => list.get(list.size - 1 - at)))),
  'lists.range': range,
  first: onList((list) => (list.size === 0 ? NONE : new CelOptional(list.get(0)))),
  last: onList((list) => (list.size === 0 ? NONE : new CelOptional(list.get(list.size - 1)))),
  'sets.contains': onLists(setsContain),
  'sets.intersects': setsIntersect,
  'sets.equivalent': onLists((left, right, context) => {
    const contained = setsContain(left, right, context);
    return contained === true ? setsContain(right, left, context) : contained;
  }),
  'optional.of': ([value]) => new CelOptional(value),
  'optional.none': () => NONE,
  'optional.ofNonZeroValue': ([value]) => (isZero(value) ? NONE : new CelOptional(value)),
  'optional.unwrap': unwrap,
  unwrapOpt: unwrap,
  hasValue: ([value]) => (value instanceof CelOptional ? value.value !== undefined : NO_SUCH_OVERLOAD),
  value: ([value]) => (value instanceof CelOptional ? (value.value ?? new Fault('optional.none() dereference')) : NO_SUCH_OVERLOAD),
};
