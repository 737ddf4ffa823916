import type { Expr } from './ast.ts';
import { fixed, MOST, plus, scaled, times, UNKNOWN, type Range } from './cost-range.ts';
import { sameType, type CelType } from './types.ts';

/** What an estimate knows of an argument: its type, its size, and where in the declared data it comes from. */
export interface EstimatedArg {
  expr: Expr;
  type: CelType;
  path: readonly string[];
  size?: Range;
}

export interface CallEstimate {
  cost: Range;
  resultSize?: Range;
}

export interface Estimator {
  /** The size of what stands at a path of the declared data. */
  sizeAt(path: readonly string[]): Range | undefined;
}

export interface EstimatedCall {
  name: string;
  overload: string;
  target?: EstimatedArg;
  args: readonly EstimatedArg[];
}

const CHARACTER = 0.1;
const REGEX_CHARACTER = 0.25;
const LIST_BASE = 10n;
const STRUCT_BASE = 40n;
const ONE = fixed(1n);
const NAME_FORMAT_REGEX = 128;

function sizeOf(arg: EstimatedArg, estimator: Estimator): Range {
  return arg.size ?? (arg.path.length > 0 ? estimator.sizeAt(arg.path) : undefined) ?? UNKNOWN;
}

/** Size of the elements of a list, when they are strings or bytes: comparing them costs by their length. */
function elementText(list: EstimatedArg, estimator: Estimator): { known: boolean; size?: Range } {
  const [element] = list.type.params;
  if (element === undefined) return { known: false };
  if (element.kind !== 'string' && element.kind !== 'bytes') return { known: true };
  const size = list.path.length > 0 ? estimator.sizeAt([...list.path, '@items']) : undefined;
  return { known: true, size: size ?? UNKNOWN };
}

type Estimate = (call: EstimatedCall, estimator: Estimator) => CallEstimate | undefined;

const nominal: Estimate = () => ({ cost: ONE });

const readsArgument: Estimate = ({ args }, estimator) =>
  args.length === 0 ? undefined : { cost: scaled(sizeOf(args[0], estimator), CHARACTER) };

const readsTarget: Estimate = ({ target }, estimator) => {
  if (target === undefined) return undefined;
  const size = sizeOf(target, estimator);
  return { cost: scaled(size, CHARACTER), resultSize: size };
};

const traversesList: Estimate = ({ target }, estimator) => {
  if (target === undefined) return undefined;
  const size = sizeOf(target, estimator);
  const element = elementText(target, estimator);
  if (!element.known) return { cost: scaled(size, CHARACTER) };
  const each = element.size === undefined ? ONE : plus(ONE, scaled(element.size, CHARACTER));
  return { cost: times(size, each) };
};

const matchesRegex: Estimate = ({ target, args }, estimator) => {
  if (target === undefined || args.length === 0) return undefined;
  const size = sizeOf(target, estimator);
  const text = scaled(plus(size, ONE), CHARACTER);
  return { cost: times(text, scaled(sizeOf(args[0], estimator), REGEX_CHARACTER)), resultSize: { min: 0n, max: size.max } };
};

const parsesSelector: Estimate = ({ args }, estimator) => {
  if (args.length !== 1) return undefined;
  const size = sizeOf(args[0], estimator);
  const requirements = scaled(scaled(size, 0.5), Number(LIST_BASE + STRUCT_BASE));
  return { cost: plus(plus(fixed(LIST_BASE), scaled(size, CHARACTER)), requirements) };
};

const replaces: Estimate = ({ target, args }, estimator) => {
  if (target === undefined || args.length < 2) return undefined;
  const size = sizeOf(target, estimator);
  const old = sizeOf(args[0], estimator);
  const replacement = sizeOf(args[1], estimator);
  const next = (value: bigint): bigint => (value < MOST ? value + 1n : value);
  const divideUp = (value: bigint, by: bigint): bigint => BigInt(Math.ceil(Number(value) / Number(by)));
  const count: Range = { min: 0n, max: 0n };
  const retained: Range = { min: 0n, max: 0n };
  if (old.min === 0n) [count.max, retained.max] = [next(size.max), size.max];
  else if (replacement.max <= old.min) retained.max = size.max;
  else count.max = divideUp(size.max, old.min);
  if (old.max === 0n) [count.min, retained.min] = [next(size.min), size.min];
  else if (old.max <= replacement.min) retained.min = size.min;
  else count.min = divideUp(size.min, old.max);
  return { cost: scaled(size, 2 * CHARACTER), resultSize: plus(times(count, replacement), retained) };
};

const splits: Estimate = ({ target, args }, estimator) => {
  if (target === undefined) return undefined;
  const size = sizeOf(target, estimator);
  const limit = args[1]?.expr;
  const most = limit?.kind === 'literal' && typeof limit.value === 'bigint' ? BigInt.asUintN(64, limit.value) : size.max;
  return { cost: scaled(size, 2 * CHARACTER), resultSize: { min: 0n, max: most } };
};

const joins: Estimate = ({ target, args }, estimator) => {
  if (target === undefined) return undefined;
  const list = sizeOf(target, estimator);
  const element = elementText(target, estimator);
  let size: Range = element.known ? times(list, element.size ?? UNKNOWN) : { min: 0n, max: 0n };
  if (args.length > 0) {
    const less = (value: bigint): bigint => (value > 0n ? value - 1n : 0n);
    size = plus(size, times(sizeOf(args[0], estimator), { min: less(list.min), max: less(list.max) }));
  }
  return { cost: scaled(size, CHARACTER), resultSize: size };
};

const IP_BYTES: Range = { min: 4n, max: 16n };

function containsAddress(stringOverload: string, extra: Range): Estimate {
  return ({ args, overload }, estimator) => {
    if (args.length === 0) return undefined;
    const compared = plus(scaled(plus(IP_BYTES, IP_BYTES), CHARACTER), extra);
    if (overload !== stringOverload) return { cost: compared };
    return { cost: plus(compared, scaled(sizeOf(args[0], estimator), CHARACTER)) };
  };
}

const equality: Estimate = ({ args }) => {
  const [left, right] = args;
  if (args.length !== 2 || !sameType(left.type, right.type)) return undefined;
  const { kind, name } = left.type;
  if (kind === 'opaque') return name === 'net.IP' || name === 'net.CIDR' ? { cost: ONE } : undefined;
  if (kind !== 'struct') return undefined;
  if (name === 'kubernetes.NamedFormat') return { cost: scaled({ min: 1n, max: 64n }, CHARACTER) };
  if (name === 'kubernetes.URL') return { cost: scaled({ min: 1n, max: right.size?.max ?? 1n }, CHARACTER) };
  const isConstant = name === 'kubernetes.Quantity' || name === 'kubernetes.Semver' || name.startsWith('kubernetes.authorization.');
  return isConstant ? { cost: ONE } : undefined;
};

/** A call that makes a list. */
function allocation(size: Range, factor: number): CallEstimate {
  return { cost: plus(plus(scaled(size, factor), ONE), fixed(LIST_BASE)), resultSize: size };
}

function literalInt(arg: EstimatedArg, otherwise: bigint): bigint {
  const value = arg.expr.kind === 'literal' ? arg.expr.value : undefined;
  if (typeof value !== 'bigint') return otherwise;
  return value < 0n ? 0n : value;
}

function comparesItself(list: EstimatedArg, estimator: Estimator, textual: boolean): CallEstimate {
  const size = sizeOf(list, estimator);
  return allocation(times(size, size), textual ? 2 + CHARACTER : 2);
}

function setsOperation(factor: number): Estimate {
  return ({ args }, estimator) =>
    args.length === 2 ? { cost: plus(scaled(times(sizeOf(args[0], estimator), sizeOf(args[1], estimator)), factor), ONE) } : undefined;
}

const BY_OVERLOAD: Record<string, Estimate> = {
  list_slice: ({ target, args }, estimator) => {
    if (target === undefined) return undefined;
    const to = literalInt(args[1], sizeOf(target, estimator).max);
    return allocation(fixed(BigInt.asUintN(64, to - literalInt(args[0], 0n))), 1);
  },
  lists_range: ({ args }) => allocation(fixed(literalInt(args[0], MOST)), 1),
  list_reverse: ({ target }, estimator) => (target ? allocation(sizeOf(target, estimator), 1) : undefined),
  list_flatten: ({ target }, estimator) => (target ? allocation(sizeOf(target, estimator), 1) : undefined),
  list_flatten_int: ({ target, args }, estimator) =>
    target ? allocation(sizeOf(target, estimator), Number(literalInt(args[0], MOST))) : undefined,
  list_distinct: ({ target }, estimator) => (target ? comparesItself(target, estimator, false) : undefined),
  list_sets_contains_list: setsOperation(1),
  list_sets_intersects_list: setsOperation(1),
  list_sets_equivalent_list: setsOperation(2),
};
for (const type of ['int', 'uint', 'double', 'bool', 'google.protobuf.Duration', 'google.protobuf.Timestamp', 'string', 'bytes']) {
  const textual = type === 'string' || type === 'bytes';
  BY_OVERLOAD[`list_${type}_sort`] = ({ target }, estimator) => (target ? comparesItself(target, estimator, textual) : undefined);
  BY_OVERLOAD[`list_${type}_sortByAssociatedKeys`] = ({ args }, estimator) => comparesItself(args[0], estimator, textual);
}

const BY_FUNCTION: Record<string, Estimate> = {
  check: () => ({ cost: fixed(350_000n) }),
  fieldSelector: parsesSelector,
  labelSelector: parsesSelector,
  url: ({ args }, estimator) => {
    if (args.length !== 1) return undefined;
    const size = sizeOf(args[0], estimator);
    return { cost: scaled(size, CHARACTER), resultSize: size };
  },
  replace: replaces,
  split: splits,
  join: joins,
  find: matchesRegex,
  findAll: matchesRegex,
  ip: (call, estimator) => (call.overload === 'cidr_ip' ? { cost: ONE } : readsArgument(call, estimator)),
  'ip.isCanonical': ({ args }, estimator) => ({ cost: scaled(sizeOf(args[0], estimator), 2 * CHARACTER) }),
  containsIP: containsAddress('cidr_contains_ip_string', fixed(0n)),
  containsCIDR: containsAddress('cidr_contains_cidr_string', plus(scaled(IP_BYTES, CHARACTER), ONE)),
  validate: ({ args }, estimator) => ({
    cost: scaled(scaled(sizeOf(args[0], estimator), CHARACTER), NAME_FORMAT_REGEX * REGEX_CHARACTER),
  }),
  '_==_': equality,
};
for (const name of ['isSorted', 'sum', 'max', 'min', 'indexOf', 'lastIndexOf']) BY_FUNCTION[name] = traversesList;
for (const name of ['lowerAscii', 'upperAscii', 'substring', 'trim']) BY_FUNCTION[name] = readsTarget;
for (const name of ['cidr', 'isIP', 'isCIDR', 'quantity', 'isQuantity', 'semver', 'isSemver']) BY_FUNCTION[name] = readsArgument;
const NOMINAL =
  'serviceAccount path group resource subresource namespace name allowed reason error errored masked prefixLength family isUnspecified isLoopback isLinkLocalMulticast isLinkLocalUnicast isGlobalUnicast format.named sign asInteger isInteger asApproximateFloat isGreaterThan isLessThan compareTo add sub major minor patch getScheme getHostname getHost getPort getEscapedPath getQuery';
for (const name of NOMINAL.split(' ')) BY_FUNCTION[name] = nominal;

/** What Kubernetes' libraries say a call costs, or undefined when they leave it to CEL. */
export function libraryEstimate(call: EstimatedCall, estimator: Estimator): CallEstimate | undefined {
  const byOverload = Object.hasOwn(BY_OVERLOAD, call.overload) ? BY_OVERLOAD[call.overload](call, estimator) : undefined;
  if (byOverload !== undefined) return byOverload;
  return Object.hasOwn(BY_FUNCTION, call.name) ? BY_FUNCTION[call.name](call, estimator) : undefined;
}

const smallest = (left: bigint, right: bigint): bigint => (left < right ? left : right);

/** What CEL's own functions cost, without their arguments. */
export function standardEstimate({ overload, target, args }: EstimatedCall): CallEstimate {
  const size = (arg: EstimatedArg | undefined): Range => arg?.size ?? UNKNOWN;
  switch (overload) {
    case 'string_format':
      return { cost: scaled(size(target), CHARACTER) };
    case 'string_to_bytes': {
      const { min, max } = size(args[0]);
      return { cost: scaled(size(args[0]), CHARACTER), resultSize: { min, max: BigInt.asUintN(64, max * 4n) } };
    }
    case 'bytes_to_string': {
      const { min, max } = size(args[0]);
      return { cost: scaled(size(args[0]), CHARACTER), resultSize: { min: min / 4n, max } };
    }
    case 'strings_quote': {
      const { min, max } = size(args[0]);
      const resultSize = { min: BigInt.asUintN(64, min + 2n), max: BigInt.asUintN(64, max * 2n + 2n) };
      return { cost: scaled(size(args[0]), CHARACTER), resultSize };
    }
    case 'starts_with_string':
    case 'ends_with_string':
      return { cost: scaled(size(args[0]), CHARACTER) };
    case 'in_list':
      return { cost: scaled(size(args[1]), 1) };
    case 'matches_string':
      return { cost: times(scaled(plus(size(target), ONE), CHARACTER), scaled(size(args[0]), REGEX_CHARACTER)) };
    case 'contains_string':
      return { cost: times(scaled(size(target), CHARACTER), scaled(size(args[0]), CHARACTER)) };
    case 'add_list':
      return { cost: ONE, resultSize: plus(size(args[0]), size(args[1])) };
    case 'add_string':
    case 'add_bytes': {
      const resultSize = plus(size(args[0]), size(args[1]));
      return { cost: scaled(resultSize, CHARACTER), resultSize };
    }
    default:
      return { cost: COMPARED.has(overload) ? comparison(size(args[0]), size(args[1])) : ONE };
  }
}

const COMPARED = new Set(['equals', 'not_equals']);
for (const operator of ['less', 'less_equals', 'greater', 'greater_equals'])
  for (const type of ['string', 'bytes']) COMPARED.add(`${operator}_${type}`);

function comparison(left: Range, right: Range): Range {
  const max = smallest(left.max, right.max);
  return scaled({ min: max > 0n ? 1n : 0n, max }, CHARACTER);
}
