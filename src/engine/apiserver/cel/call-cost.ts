import type { WorkMeter } from './comparison.ts';
import { CelFormat } from './functions/named-formats.ts';
import { CelList, CelMap, CelOpaque, costSize, type CelValue } from './values.ts';

/**
 * What a call costs at run time, in the units of Kubernetes' budgets. One unit stands for some tens of nanoseconds; reading a
 * string costs a tenth of a unit for each character, matching it a quarter of the pattern's length times that.
 */
const CHARACTER = 0.1;
const REGEX_CHARACTER = 0.25;
const LIST_BASE = 10;
const STRUCT_BASE = 40;
const AUTHORIZATION_CHECK = 350_000;

const read = (size: number, times = 1): number => Math.ceil(size * times * CHARACTER);

function regexCost(text: number, pattern: number): number {
  return Math.ceil((1 + text) * CHARACTER) * Math.ceil(pattern * REGEX_CHARACTER);
}

/** `result` is null for costs that do not depend on it: they are known before the call. */
type Cost = (args: readonly CelValue[], result: CelValue, overload: string, meter: WorkMeter) => number;

const ONE: Cost = () => 1;
const readFirst: Cost = ([first]) => read(costSize(first));
const readTwice: Cost = ([first]) => read(costSize(first), 2);
const traverseFirst: Cost = ([first], _result, _overload, meter) => traversal(first, meter);
const matchRegex: Cost = ([text, pattern]) => regexCost(costSize(text), costSize(pattern));

function selectorCost([, selector]: readonly CelValue[]): number {
  const size = costSize(selector);
  return LIST_BASE + read(size) + Math.ceil(Math.ceil(size * 0.5) * (LIST_BASE + STRUCT_BASE));
}

/** Everything below a value, once. */
function traversal(value: CelValue, meter: WorkMeter): number {
  meter.spend(1);
  if (typeof value === 'string') return Math.trunc(Buffer.byteLength(value) * CHARACTER);
  if (value instanceof Uint8Array) return Math.trunc(value.length * CHARACTER);
  if (value instanceof CelList) {
    let cost = 0;
    for (let at = 0; at < value.size; at++) cost += traversal(value.get(at), meter);
    return cost;
  }
  if (value instanceof CelMap) {
    let cost = 0;
    for (const key of value.keys()) cost += traversal(key, meter) + traversal(value.find(key)!, meter);
    return cost;
  }
  return 1;
}

/** A call that makes a list of `size` elements, or compares as many. */
function allocates(size: number, factor = 1): number {
  return Math.trunc(size * factor) + 1 + LIST_BASE;
}

function selfComparison(list: CelValue): number {
  if (!(list instanceof CelList)) return 1;
  const first = list.size === 0 ? undefined : list.get(0);
  const factor = typeof first === 'string' || first instanceof Uint8Array ? 2 + CHARACTER : 2;
  return allocates(list.size * list.size, factor);
}

/** By overload: what cel-go's own libraries charge. */
const BY_OVERLOAD: Record<string, Cost> = {
  list_slice: (_, result) => allocates(costSize(result)),
  lists_range: (_, result) => allocates(costSize(result)),
  list_reverse: (_, result) => allocates(costSize(result)),
  list_flatten: ([list]) => allocates(costSize(list)),
  list_flatten_int: ([list, depth]) => allocates(costSize(list), Number(depth)),
  list_distinct: ([list]) => selfComparison(list),
  list_sets_contains_list: ([left, right]) => 1 + costSize(left) * costSize(right),
  list_sets_intersects_list: ([left, right]) => 1 + costSize(left) * costSize(right),
  list_sets_equivalent_list: ([left, right]) => 1 + costSize(left) * costSize(right) * 2,
  starts_with_string: readFirst,
  ends_with_string: readFirst,
  string_to_bytes: readFirst,
  bytes_to_string: readFirst,
  strings_quote: readFirst,
  string_format: readFirst,
  in_list: ([, list]) => costSize(list),
  add_string: ([left, right]) => read(costSize(left) + costSize(right)),
  add_bytes: ([left, right]) => read(costSize(left) + costSize(right)),
  matches_string: matchRegex,
  contains_string: ([text, part]) => read(costSize(text)) * read(costSize(part)),
};
for (const type of ['int', 'uint', 'double', 'bool', 'google.protobuf.Duration', 'google.protobuf.Timestamp', 'string', 'bytes']) {
  BY_OVERLOAD[`list_${type}_sort`] = ([list]) => selfComparison(list);
  BY_OVERLOAD[`list_${type}_sortByAssociatedKeys`] = ([, keys]) => selfComparison(keys);
}

const smallerSize = ([left, right]: readonly CelValue[]): number => read(Math.min(costSize(left), costSize(right)));
const smaller: Cost = (args) => smallerSize(args);
for (const operator of ['less', 'less_equals', 'greater', 'greater_equals']) {
  BY_OVERLOAD[`${operator}_string`] = smaller;
  BY_OVERLOAD[`${operator}_bytes`] = smaller;
}

/** By function: what Kubernetes charges, which comes before what cel-go would. */
const BY_FUNCTION: Record<string, Cost> = {
  check: () => AUTHORIZATION_CHECK,
  fieldSelector: selectorCost,
  labelSelector: selectorCost,
  replace: readTwice,
  split: readTwice,
  join: (_, result) => read(costSize(result), 2),
  find: matchRegex,
  findAll: matchRegex,
  'ip.isCanonical': readTwice,
  ip: (args, _, overload) => (overload === 'cidr_ip' ? 1 : read(costSize(args[0]))),
  containsIP: ([cidr, other], _, overload) =>
    read(costSize(cidr), 2) + (overload === 'cidr_contains_ip_string' ? read(costSize(other)) : 0),
  containsCIDR: ([cidr, other], _, overload) =>
    read(costSize(cidr), 2) + read(costSize(cidr)) + 1 + (overload === 'cidr_contains_cidr_string' ? read(costSize(other)) : 0),
  validate: ([format, text]) => (format instanceof CelFormat ? regexCost(costSize(text), format.regexSize) : 1),
  '_==_': (args) => (args[0] instanceof CelOpaque ? 1 : smallerSize(args)),
  '_!=_': smaller,
};
for (const name of ['isSorted', 'sum', 'max', 'min', 'indexOf', 'lastIndexOf']) BY_FUNCTION[name] = traverseFirst;
for (const name of ['url', 'lowerAscii', 'upperAscii', 'substring', 'trim', 'cidr', 'isIP', 'isCIDR']) BY_FUNCTION[name] = readFirst;
for (const name of ['quantity', 'isQuantity', 'semver', 'isSemver']) BY_FUNCTION[name] = readFirst;

/** The cost of a call, chosen once when its expression is prepared. `overload` is '' when several may apply. */
export function callCost(name: string, overload: string): Cost {
  if (Object.hasOwn(BY_OVERLOAD, overload) && overload.startsWith('list')) return BY_OVERLOAD[overload];
  if (Object.hasOwn(BY_FUNCTION, name)) return BY_FUNCTION[name];
  return Object.hasOwn(BY_OVERLOAD, overload) ? BY_OVERLOAD[overload] : ONE;
}

const NEEDS_RESULT = new Set(['list_slice', 'lists_range', 'list_reverse']);

/** True when the cost is only known after the call. */
export function needsResult(name: string, overload: string): boolean {
  return name === 'join' || NEEDS_RESULT.has(overload);
}
