import { isJsonObject } from '../../../kube/json-value.ts';
import type { Json } from '../../../kube/object.ts';
import { CelList, CelMap, type CelValue } from './values.ts';

/** JSON without a schema, as CEL sees it: whole numbers are ints. Parts are converted when they are reached. */
export function fromJson(json: Json): CelValue {
  if (typeof json === 'number') return Number.isInteger(json) && Math.abs(json) < 2 ** 63 ? BigInt(json) : json;
  if (typeof json !== 'object') return json ?? null;
  if (Array.isArray(json)) return new JsonList(json);
  return isJsonObject(json) ? new JsonMap(json) : null;
}

export class JsonList extends CelList {
  private readonly items: Json[];

  constructor(items: Json[]) {
    super();
    this.items = items;
  }

  get size(): number {
    return this.items.length;
  }

  get(position: number): CelValue {
    return fromJson(this.items[position]);
  }
}

export class JsonMap extends CelMap {
  private readonly object: Record<string, Json>;
  private names?: string[];

  constructor(object: Record<string, Json>) {
    super();
    this.object = object;
  }

  get size(): number {
    this.names ??= Object.keys(this.object);
    return this.names.length;
  }

  find(key: CelValue): CelValue | undefined {
    return typeof key === 'string' && Object.hasOwn(this.object, key) ? fromJson(this.object[key]) : undefined;
  }

  keys(): CelValue[] {
    this.names ??= Object.keys(this.object);
    return this.names;
  }
}

/** The bindings of an evaluation from plain values; what is a CEL value already stays as it is. */
export function bindings(values: Readonly<Record<string, CelValue>>): ReadonlyMap<string, CelValue> {
  return new Map(Object.entries(values));
}
