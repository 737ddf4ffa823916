import type { Json } from '../../../kube/object.ts';
import type { ResolveSchema, Schema } from '../../../kube/schema.ts';
import { fieldElement } from './path-element.ts';

/**
 * A schema as field ownership sees it: what may be a scalar, a list or an object, and whether a list or object is owned as a
 * whole (atomic) or item by item. A type can allow more than one of the three; the value then decides.
 */
export interface ValueType {
  readonly scalar?: ScalarKind;
  readonly list?: ListType;
  readonly map?: MapType;
}

export type ScalarKind = 'numeric' | 'string' | 'boolean' | 'untyped';

export interface ListType {
  readonly atomic: boolean;
  /** Names of the fields that tell items apart, in order of name; none for a set of scalars. */
  readonly keys: readonly string[];
  readonly element: ValueType;
  /** The value of a key field that an item leaves out. */
  keyDefault(name: string): Json;
}

export interface MapType {
  readonly atomic: boolean;
  /** Declared fields only. */
  field(name: string): { readonly element: string; readonly type: ValueType } | undefined;
  /** The type of fields that are not declared; undefined when there may be none. */
  readonly additional?: ValueType;
}

const NO_DEFAULT = (): undefined => undefined;
const UNDECLARED = (): undefined => undefined;

/** Nothing is known and nothing is tracked inside: RawExtension, and what is in lists without a schema. */
export const UNTYPED_ATOMIC: ValueType = {
  scalar: 'untyped',
  get list(): ListType {
    return { atomic: true, keys: [], element: UNTYPED_ATOMIC, keyDefault: NO_DEFAULT };
  },
  get map(): MapType {
    return { atomic: true, field: UNDECLARED, additional: UNTYPED_ATOMIC };
  },
};

const DEDUCED_LIST: ListType = { atomic: true, keys: [], element: UNTYPED_ATOMIC, keyDefault: NO_DEFAULT };

/** Nothing is known: objects are tracked field by field, lists as a whole. */
export const DEDUCED: ValueType = {
  scalar: 'untyped',
  list: DEDUCED_LIST,
  get map(): MapType {
    return DEDUCED_MAP;
  },
};

const DEDUCED_MAP: MapType = { atomic: false, field: UNDECLARED, additional: DEDUCED };

const UNTYPED_SCALAR: ValueType = { scalar: 'untyped' };

/** OpenAPI v2 leaves defaults out; these are the ones that identify items of lists. */
const BUILTIN_KEY_DEFAULTS: Record<string, Record<string, Json>> = {
  'io.k8s.api.core.v1.ContainerPort': { protocol: 'TCP' },
  'io.k8s.api.core.v1.ServicePort': { protocol: 'TCP' },
};

const refName = (node: Schema): string => {
  const ref = node.$ref ?? (node.allOf?.length === 1 ? node.allOf[0].$ref : undefined) ?? '';
  return ref.slice(ref.lastIndexOf('/') + 1);
};

function scalarOf(schema: Schema): ScalarKind | undefined {
  switch (schema.type ?? '') {
    case 'integer':
    case 'number':
      return 'numeric';
    case 'boolean':
      return 'boolean';
    case 'string':
      return schema.format === undefined || schema.format === '' || schema.format === 'byte' ? 'string' : 'untyped';
    case 'object':
    case 'array':
      return undefined;
    default:
      return 'untyped';
  }
}

/** A type made from a schema; its parts are made when first needed, because schemas refer to themselves. */
class SchemaType implements ValueType {
  readonly scalar: ScalarKind | undefined;
  readonly list: ListType | undefined;
  readonly map: MapType | undefined;

  constructor(schema: Schema, types: TypesOf, mapType: string | undefined, preserves: boolean) {
    const untyped = schema.type === undefined || schema.type === '';
    this.scalar = scalarOf(schema);
    if (untyped || schema.type === 'array') this.list = new SchemaList(schema, types, preserves);
    if (untyped || schema.type === 'object') this.map = new SchemaMap(schema, types, mapType, preserves);
  }
}

function listRelation(schema: Schema): { atomic: boolean; keys: string[] } {
  const listType = schema['x-kubernetes-list-type'];
  if (listType === 'map') return { atomic: false, keys: [...(schema['x-kubernetes-list-map-keys'] ?? [])].sort() };
  if (listType !== undefined) return { atomic: listType !== 'set', keys: [] };
  const strategy = schema['x-kubernetes-patch-strategy'];
  if (strategy !== 'merge' && strategy !== 'merge,retainKeys') return { atomic: true, keys: [] };
  const mergeKey = schema['x-kubernetes-patch-merge-key'];
  return { atomic: false, keys: mergeKey === undefined ? [] : [mergeKey] };
}

class SchemaList implements ListType {
  readonly atomic: boolean;
  readonly keys: readonly string[];
  readonly #items: Schema | undefined;
  readonly #types: TypesOf;
  readonly #preserves: boolean;
  #element: ValueType | undefined;

  constructor(schema: Schema, types: TypesOf, preserves: boolean) {
    const { atomic, keys } = listRelation(schema);
    this.atomic = atomic;
    this.keys = keys;
    this.#items = schema.items;
    this.#types = types;
    this.#preserves = preserves;
  }

  get element(): ValueType {
    this.#element ??= this.#items === undefined ? UNTYPED_ATOMIC : this.#types.of(this.#items, this.#preserves);
    return this.#element;
  }

  keyDefault(name: string): Json {
    if (this.#items === undefined) return undefined;
    const item = this.#types.resolve(this.#items);
    const property = item.properties?.[name];
    const known = property?.default ?? BUILTIN_KEY_DEFAULTS[refName(this.#items)]?.[name];
    if (known !== undefined || property === undefined || refName(this.#items) === '') return known;
    // In Go a required field is there with its zero value.
    if (!item.required?.includes(name)) return undefined;
    return property.type === 'string' ? '' : property.type === 'integer' ? 0 : undefined;
  }
}

class SchemaMap implements MapType {
  readonly atomic: boolean;
  readonly #schema: Schema;
  readonly #types: TypesOf;
  readonly #preserves: boolean;
  readonly #fields = new Map<string, { element: string; type: ValueType } | undefined>();
  #additional: ValueType | undefined | null = null;

  constructor(schema: Schema, types: TypesOf, mapType: string | undefined, preserves: boolean) {
    this.atomic = (mapType ?? schema['x-kubernetes-map-type']) === 'atomic';
    this.#schema = schema;
    this.#types = types;
    this.#preserves = preserves;
  }

  field(name: string): { element: string; type: ValueType } | undefined {
    const known = this.#fields.get(name);
    if (known !== undefined) return known;
    const { properties } = this.#schema;
    if (properties === undefined || !Object.hasOwn(properties, name)) return undefined;
    const made = { element: fieldElement(name), type: this.#types.of(properties[name], this.#preserves) };
    this.#fields.set(name, made);
    return made;
  }

  get additional(): ValueType | undefined {
    if (this.#additional === null) this.#additional = this.#makeAdditional();
    return this.#additional;
  }

  #makeAdditional(): ValueType | undefined {
    const { additionalProperties, properties } = this.#schema;
    if (typeof additionalProperties === 'object') return this.#types.of(additionalProperties, this.#preserves);
    if (additionalProperties !== undefined) return additionalProperties ? DEDUCED : undefined;
    const open = this.#preserves || properties === undefined || Object.keys(properties).length === 0;
    return open ? DEDUCED : undefined;
  }
}

/** All types of one family of schemas, made once each. */
class TypesOf {
  readonly resolve: ResolveSchema;
  readonly #plain = new WeakMap<Schema, ValueType>();
  readonly #preserving = new WeakMap<Schema, ValueType>();

  constructor(resolve: ResolveSchema) {
    this.resolve = resolve;
  }

  of(node: Schema, inheritsPreserve: boolean): ValueType {
    const cache = inheritsPreserve ? this.#preserving : this.#plain;
    let type = cache.get(node);
    if (type === undefined) cache.set(node, (type = this.#make(node, inheritsPreserve)));
    return type;
  }

  #make(node: Schema, inheritsPreserve: boolean): ValueType {
    const name = refName(node);
    if (name === 'io.k8s.apimachinery.pkg.api.resource.Quantity') return UNTYPED_SCALAR;
    if (name === 'io.k8s.apimachinery.pkg.runtime.RawExtension') return UNTYPED_ATOMIC;
    const schema = this.resolve(node);
    // A definition has no outside: what preserves unknown fields around it says nothing about it.
    const preserves = (name === '' && inheritsPreserve) || schema['x-kubernetes-preserve-unknown-fields'] === true;
    return new SchemaType(schema, this, name === '' ? undefined : node['x-kubernetes-map-type'], preserves);
  }
}

const families = new WeakMap<ResolveSchema, TypesOf>();

export function typeOfSchema(schema: Schema, resolve: ResolveSchema): ValueType {
  let family = families.get(resolve);
  if (family === undefined) families.set(resolve, (family = new TypesOf(resolve)));
  return family.of(schema, false);
}

/** Which of its three sides a type shows to a value. Null shows them all the first it has: object, scalar, list. */
export function sideOf(type: ValueType, value: Json): 'map' | 'scalar' | 'list' {
  if (value !== null && value !== undefined) {
    if (Array.isArray(value)) {
      if (type.list) return 'list';
    } else if (typeof value === 'object') {
      if (type.map) return 'map';
    } else if (type.scalar) return 'scalar';
  }
  return type.map ? 'map' : type.scalar ? 'scalar' : 'list';
}
