import type { WorkMeter } from './comparison.ts';

/**
 * Values at run time. int is bigint, double is number, strings, booleans and null are themselves, bytes a Uint8Array; the rest are
 * the classes below. A Fault is an error on its way up: it is a value because `&&`, `||` and folds may absorb it.
 */
export type CelValue =
  | null
  | boolean
  | bigint
  | number
  | string
  | Uint8Array
  | CelUint
  | CelDuration
  | CelTimestamp
  | CelList
  | CelMap
  | CelOptional
  | CelTypeValue
  | CelOpaque
  | Preserved
  | Fault;

export class Fault {
  readonly message: string;

  constructor(message: string) {
    this.message = message;
  }
}

export const NO_SUCH_OVERLOAD = new Fault('no such overload');

export class CelUint {
  readonly value: bigint;

  constructor(value: bigint) {
    this.value = value;
  }
}

export class CelDuration {
  readonly nanoseconds: bigint;

  constructor(nanoseconds: bigint) {
    this.nanoseconds = nanoseconds;
  }
}

/** Nanoseconds since 1970, UTC. */
export class CelTimestamp {
  readonly nanoseconds: bigint;

  constructor(nanoseconds: bigint) {
    this.nanoseconds = nanoseconds;
  }
}

export class CelTypeValue {
  readonly name: string;

  constructor(name: string) {
    this.name = name;
  }
}

export class CelOptional {
  /** Undefined when there is none. */
  readonly value: CelValue | undefined;

  constructor(value: CelValue | undefined) {
    this.value = value;
  }
}

export const NONE = new CelOptional(undefined);

/** A value of one of the Kubernetes libraries, known only to its functions. */
export abstract class CelOpaque {
  abstract readonly typeName: string;
  abstract equals(other: CelOpaque): boolean;

  /** Its size in bytes where costs depend on it. */
  get costSize(): number {
    return 1;
  }
}

/** Data that a schema keeps without describing it: it can only be compared. */
export class Preserved {
  readonly data: unknown;

  constructor(data: unknown) {
    this.data = data;
  }
}

export abstract class CelList {
  abstract readonly size: number;
  abstract get(position: number): CelValue;

  /** `left + right` for lists of this sort. */
  concat(other: CelList, _meter: WorkMeter): CelList {
    if (other.size === 0) return this;
    return this.size === 0 && other instanceof ValueList ? other : new ConcatenatedList(this, other);
  }

  *[Symbol.iterator](): IterableIterator<CelValue> {
    for (let position = 0; position < this.size; position++) yield this.get(position);
  }
}

export class ValueList extends CelList {
  private readonly items: CelValue[];
  /** Only the accumulator of a fold grows in place: nobody else can see it before the fold ends. */
  private growing: boolean;

  constructor(items: CelValue[], growing = false) {
    super();
    this.items = items;
    this.growing = growing;
  }

  get size(): number {
    return this.items.length;
  }

  get(position: number): CelValue {
    return this.items[position];
  }

  override concat(other: CelList, meter: WorkMeter): CelList {
    if (!this.growing) return super.concat(other, meter);
    for (let position = 0; position < other.size; position++) this.items.push(other.get(position));
    return this;
  }

  settle(): this {
    this.growing = false;
    return this;
  }
}

/** Two lists seen as one, so that adding lists costs nothing, whatever their length. */
class ConcatenatedList extends CelList {
  private readonly left: CelList;
  private readonly right: CelList;
  readonly size: number;

  constructor(left: CelList, right: CelList) {
    super();
    this.left = left;
    this.right = right;
    this.size = left.size + right.size;
  }

  get(position: number): CelValue {
    return position < this.left.size ? this.left.get(position) : this.right.get(position - this.left.size);
  }
}

export abstract class CelMap {
  abstract readonly size: number;
  /** Undefined when the key is not there; a Fault when it cannot be a key. */
  abstract find(key: CelValue): CelValue | undefined;
  abstract keys(): CelValue[];
}

/** Numbers that are equal are the same key, whatever their type. */
export function mapKey(key: CelValue): string | undefined {
  if (typeof key === 'string') return `s${key}`;
  if (typeof key === 'bigint') return `n${key}`;
  if (typeof key === 'boolean') return `b${key}`;
  if (key instanceof CelUint) return `n${key.value}`;
  if (typeof key === 'number') return Number.isInteger(key) ? `n${BigInt(key)}` : `d${key}`;
  return undefined;
}

export class ValueMap extends CelMap {
  private readonly entries: Map<string, { key: CelValue; value: CelValue }>;
  private growing: boolean;

  constructor(growing = false) {
    super();
    this.entries = new Map();
    this.growing = growing;
  }

  get size(): number {
    return this.entries.size;
  }

  find(key: CelValue): CelValue | undefined {
    const name = mapKey(key);
    return name === undefined ? undefined : this.entries.get(name)?.value;
  }

  keys(): CelValue[] {
    return Array.from(this.entries.values(), (entry) => entry.key);
  }

  /** @returns the map with the entry (this one while it grows), or a Fault when the key is there or cannot be one */
  insert(key: CelValue, value: CelValue): ValueMap | Fault {
    const name = mapKey(key);
    if (name === undefined) return new Fault(`unsupported key type: ${typeNameOf(key)}`);
    if (this.entries.has(name)) return new Fault(`insert failed: key ${shown(key)} already exists`);
    const target = this.growing ? this : this.copy();
    target.entries.set(name, { key, value });
    return target;
  }

  set(key: CelValue, value: CelValue): Fault | undefined {
    const name = mapKey(key);
    if (name === undefined) return new Fault(`unsupported key type: ${typeNameOf(key)}`);
    if (this.entries.has(name)) return new Fault('Failed with repeated key');
    this.entries.set(name, { key, value });
    return undefined;
  }

  private copy(): ValueMap {
    const copy = new ValueMap();
    for (const [name, entry] of this.entries) copy.entries.set(name, entry);
    return copy;
  }

  settle(): this {
    this.growing = false;
    return this;
  }
}

/** The name that `type(x)` shows. */
export function typeNameOf(value: CelValue): string {
  return typeof value === 'object' ? objectTypeName(value) : PRIMITIVES[typeof value];
}

const PRIMITIVES: Record<string, string> = { boolean: 'bool', bigint: 'int', number: 'double', string: 'string' };

function objectTypeName(value: CelValue): string {
  if (value === null) return 'null_type';
  if (value instanceof CelList) return 'list';
  if (value instanceof CelMap) return 'map';
  if (value instanceof Uint8Array) return 'bytes';
  if (value instanceof CelUint) return 'uint';
  if (value instanceof CelDuration) return 'google.protobuf.Duration';
  if (value instanceof CelTimestamp) return 'google.protobuf.Timestamp';
  if (value instanceof CelOptional) return 'optional_type';
  if (value instanceof CelTypeValue) return 'type';
  return value instanceof CelOpaque ? value.typeName : 'unknown';
}

/** A key or index as messages show it (Go's %v). */
export function shown(value: CelValue): string {
  if (value instanceof CelUint) return String(value.value);
  if (typeof value === 'object') return typeNameOf(value);
  return String(value);
}

const HAS_PAIRS = /[\ud800-\udbff]/;

/** The number of code points of a string, which is its size. */
export function stringSize(text: string): number {
  // Found out at once for texts in which characters take a byte each: most, and all that are very long.
  if (!HAS_PAIRS.test(text)) return text.length;
  let size = text.length;
  for (let at = 0; at < text.length - 1; at++) {
    const unit = text.charCodeAt(at);
    if (unit >= 0xd800 && unit <= 0xdbff) {
      size--;
      at++;
    }
  }
  return size;
}

/** The size by which costs are counted: 1 for what has none. */
export function costSize(value: CelValue): number {
  if (typeof value === 'string') return stringSize(value);
  if (value instanceof CelList || value instanceof CelMap) return value.size;
  if (value instanceof Uint8Array) return value.length;
  if (value instanceof CelOptional) return value.value === undefined ? 1 : costSize(value.value);
  return value instanceof CelOpaque ? value.costSize : 1;
}
