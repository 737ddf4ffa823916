import { isJsonObject } from '../../../kube/json-value.ts';
import type { Json } from '../../../kube/object.ts';
import type { Schema } from '../../../kube/schema.ts';
import { dataEqual, equal, type WorkMeter } from './comparison.ts';
import { escapeFieldName, unescapeFieldName } from './field-names.ts';
import { withTypeMeta } from './schema-types.ts';
import { parseGoDuration, parseTimestamp } from './time-text.ts';
import { CelDuration, CelList, CelMap, CelTimestamp, Fault, Preserved, type CelValue } from './values.ts';

/** JSON as its schema describes it. Parts are converted when an expression reaches them. */
export function fromSchema(json: Json, schema: Schema): CelValue {
  if (json === null || json === undefined) {
    return schema.nullable ? null : new Fault('invalid data, got null for schema with nullable=false');
  }
  if (schema['x-kubernetes-int-or-string']) return intOrString(json);
  switch (schema.type ?? '') {
    case 'object':
      return isJsonObject(json) ? toMap(json, schema) : new Fault('invalid data, expected a map for the provided schema with type=object');
    case 'array':
      return toList(json, schema);
    case 'string':
      return typeof json === 'string' ? toText(json, schema.format) : new Fault(`invalid data, expected string, got ${goType(json)}`);
    case 'number':
      return typeof json === 'number' ? json : new Fault(`invalid data, expected float, got ${goType(json)}`);
    case 'integer':
      return Number.isInteger(json) ? BigInt(json) : new Fault(`invalid data, expected int, got ${goType(json)}`);
    case 'boolean':
      return typeof json === 'boolean' ? json : new Fault(`invalid data, expected bool, got ${goType(json)}`);
    default:
      if (schema['x-kubernetes-preserve-unknown-fields']) return new Preserved(json);
      return new Fault(
        `invalid type, expected object, array, number, integer, boolean or string, or no type with x-kubernetes-int-or-string or x-kubernetes-preserve-unknown-fields is true, got ${schema.type ?? ''}`,
      );
  }
}

function goType(json: Json): string {
  if (typeof json === 'number') return Number.isInteger(json) ? 'int64' : 'float64';
  if (typeof json === 'boolean') return 'bool';
  if (Array.isArray(json)) return '[]interface {}';
  return typeof json === 'string' ? 'string' : 'map[string]interface {}';
}

function intOrString(json: Json): CelValue {
  if (typeof json === 'string') return json;
  if (Number.isInteger(json)) return BigInt(json);
  return new Fault('invalid data, expected XIntOrString value to be either a string or integer');
}

function toMap(json: Record<string, Json>, schema: Schema): CelValue {
  const shape = schema['x-kubernetes-embedded-resource'] ? withTypeMeta(schema) : schema;
  return new SchemaMap(json, shape);
}

function toList(json: Json, schema: Schema): CelValue {
  if (!Array.isArray(json)) return new Fault('invalid data, expected an array for the provided schema with type=array');
  if (!schema.items) return new Fault('invalid array type, expected Items with a non-empty Schema');
  const listType = schema['x-kubernetes-list-type'] ?? 'atomic';
  if (listType === 'map') return new MapList(json, schema.items, schema['x-kubernetes-list-map-keys'] ?? []);
  return listType === 'set' ? new SetList(json, schema.items) : new SchemaList(json, schema.items);
}

const LOOSE_DURATION = /(\d+)\s*([A-Za-zµ]+)/g;
const LOOSE_UNITS: [string[], bigint][] = [
  [['ns', 'nano'], 1n],
  [['us', 'µs', 'micro'], 1000n],
  [['ms', 'milli'], 1_000_000n],
  [['s', 'sec'], 1_000_000_000n],
  [['m', 'min'], 60_000_000_000n],
  [['h', 'hr', 'hour'], 3_600_000_000_000n],
  [['d', 'day'], 86_400_000_000_000n],
  [['w', 'wk', 'week'], 604_800_000_000_000n],
];

/** Durations of OpenAPI may also be written in words: `3 days`. */
function parseDuration(text: string): bigint | undefined {
  const exact = parseGoDuration(text);
  if (exact !== undefined || text.length > 512) return exact;
  let total: bigint | undefined;
  for (const [, digits, word] of text.matchAll(LOOSE_DURATION)) {
    const unit = word.toLowerCase();
    for (const [names, nanoseconds] of LOOSE_UNITS) {
      if (names.includes(unit) || unit.startsWith(names[names.length - 1])) total = (total ?? 0n) + BigInt(digits) * nanoseconds;
    }
  }
  return total;
}

function toText(text: string, format: string | undefined): CelValue {
  switch (format ?? '') {
    case 'duration': {
      const nanoseconds = parseDuration(text);
      return nanoseconds === undefined
        ? new Fault(`Invalid duration ${text}: unable to parse ${text} as duration`)
        : new CelDuration(nanoseconds);
    }
    case 'date': {
      const nanoseconds = parseTimestamp(`${text}T00:00:00Z`);
      return nanoseconds === undefined ? new Fault(`Invalid date formatted string ${text}`) : new CelTimestamp(nanoseconds);
    }
    case 'date-time': {
      const nanoseconds = parseTimestamp(text.toUpperCase()) ?? parseTimestamp(`${text.toUpperCase()}Z`);
      return nanoseconds === undefined ? new Fault(`Invalid date-time formatted string ${text}`) : new CelTimestamp(nanoseconds);
    }
    case 'byte':
      return Buffer.from(text, 'base64url');
    default:
      return text;
  }
}

class SchemaList extends CelList {
  protected readonly items: Json[];
  protected readonly itemSchema: Schema;

  constructor(items: Json[], itemSchema: Schema) {
    super();
    this.items = items;
    this.itemSchema = itemSchema;
  }

  get size(): number {
    return this.items.length;
  }

  get(position: number): CelValue {
    return fromSchema(this.items[position], this.itemSchema);
  }

  /** The JSON of the items, to combine lists of the same sort. */
  get data(): Json[] {
    return this.items;
  }
}

/** A list whose order does not matter and whose items are unique. */
class SetList extends SchemaList {
  equalsList(other: CelList, meter: WorkMeter): boolean {
    meter.spend((this.size + other.size) * 4);
    const mine = new Set(this.items.map(identity));
    for (let at = 0; at < other.size; at++) {
      const item = other instanceof SchemaList ? identity(other.data[at]) : identity(other.get(at));
      if (!mine.has(item)) return false;
    }
    return true;
  }

  /** Items of the other list that are new are appended. */
  override concat(other: CelList, meter: WorkMeter): CelList {
    meter.spend((this.size + other.size) * 4);
    const added = jsonItems(other);
    if (added === undefined) return super.concat(other, meter);
    const seen = new Set(this.items.map(identity));
    return new SetList([...this.items, ...added.filter((item) => !seen.has(identity(item)))], this.itemSchema);
  }
}

/** Scalars by value, with int and double of the same value as one. */
function identity(item: unknown): unknown {
  if (typeof item === 'bigint') return Number(item);
  return typeof item === 'object' && item !== null ? JSON.stringify(item) : item;
}

/** The JSON of a list's items, or undefined when some of them have none. */
function jsonItems(list: CelList): Json[] | undefined {
  if (list instanceof SchemaList) return list.data;
  const items: Json[] = [];
  for (const item of list) {
    if (item instanceof SchemaMap || item instanceof SchemaList) items.push(item.data);
    else if (typeof item === 'bigint') items.push(Number(item));
    else if (typeof item !== 'object') items.push(item);
    else return undefined;
  }
  return items;
}

/** A list whose items are found by their keys; order does not matter. */
class MapList extends SchemaList {
  private readonly keys: string[];

  constructor(items: Json[], itemSchema: Schema, keys: string[]) {
    super(items, itemSchema);
    this.keys = keys;
  }

  private keyOf(item: Json): string {
    return JSON.stringify(this.keys.map((key) => (isJsonObject(item) && Object.hasOwn(item, key) ? item[key] : null)));
  }

  equalsList(other: CelList, meter: WorkMeter): boolean | Fault {
    meter.spend((this.size + other.size) * 4);
    const theirs = jsonItems(other);
    if (theirs === undefined) return false;
    const mine = new Map(this.items.map((item) => [this.keyOf(item), item]));
    for (let at = 0; at < other.size; at++) {
      const item = mine.get(this.keyOf(theirs[at]));
      if (item === undefined) return false;
      const same = equal(fromSchema(item, this.itemSchema), other.get(at), meter);
      if (same !== true) return same;
    }
    return true;
  }

  /** Items of the other list replace those with their key, and are appended where there is none. */
  override concat(other: CelList, meter: WorkMeter): CelList {
    meter.spend((this.size + other.size) * 4);
    const added = jsonItems(other);
    if (added === undefined) return super.concat(other, meter);
    const merged = new Map(this.items.map((item) => [this.keyOf(item), item]));
    for (const item of added) merged.set(this.keyOf(item), item);
    return new MapList([...merged.values()], this.itemSchema, this.keys);
  }
}

/** An object with properties, whose names are escaped and whose nulls are absent, or a map of one type of values. */
class SchemaMap extends CelMap {
  readonly data: Record<string, Json>;
  private readonly schema: Schema;
  private readonly hasProperties: boolean;
  private names?: CelValue[];
  private count?: number;

  constructor(data: Record<string, Json>, schema: Schema) {
    super();
    this.data = data;
    this.schema = schema;
    this.hasProperties = schema.properties !== undefined && Object.keys(schema.properties).length > 0;
  }

  get size(): number {
    this.count ??= Object.keys(this.data).length;
    return this.count;
  }

  private schemaOf(name: string): Schema | undefined {
    if (this.hasProperties || this.schema['x-kubernetes-embedded-resource']) {
      const { properties } = this.schema;
      return properties !== undefined && Object.hasOwn(properties, name) ? properties[name] : undefined;
    }
    const additional = this.schema.additionalProperties;
    return typeof additional === 'object' && additional !== null ? additional : undefined;
  }

  find(key: CelValue): CelValue | undefined {
    if (typeof key !== 'string') return undefined;
    const name = this.hasProperties ? unescapeFieldName(key) : key;
    if (name === undefined || !Object.hasOwn(this.data, name)) return undefined;
    const value = this.data[name];
    if (this.hasProperties && value === null) return undefined;
    const schema = this.schemaOf(name);
    return schema === undefined ? undefined : fromSchema(value, schema);
  }

  keys(): CelValue[] {
    this.names ??= Object.keys(this.data)
      .filter((name) => this.schemaOf(name) !== undefined)
      .map((name) => (this.hasProperties ? (escapeFieldName(name) ?? name) : name));
    return this.names;
  }

  equalsMap(other: CelMap, meter: WorkMeter): boolean | Fault {
    for (const name of Object.keys(this.data)) {
      if (this.schemaOf(name) === undefined) {
        meter.spend(1);
        const theirs = other instanceof SchemaMap && Object.hasOwn(other.data, name) ? other.data[name] : undefined;
        if (theirs !== undefined && !dataEqual(this.data[name], theirs, meter)) return false;
        continue;
      }
      const key = this.hasProperties ? (escapeFieldName(name) ?? name) : name;
      const [mine, theirs] = [this.find(key), other.find(key)];
      if (mine === undefined && theirs === undefined) continue;
      if (mine === undefined || theirs === undefined) return false;
      const same = equal(mine, theirs, meter);
      if (same !== true) return same;
    }
    return true;
  }
}
