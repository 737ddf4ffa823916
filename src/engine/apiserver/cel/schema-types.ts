import type { Schema } from '../../../kube/schema.ts';
import type { Estimator } from './call-estimate.ts';
import { escapeFieldName } from './field-names.ts';
import * as types from './types.ts';
import type { CelType } from './types.ts';

/**
 * What a schema declares to CEL: the type of its values, how large they can get, and how small they are at least in JSON, from
 * which the number of them that fits into a request follows. Fields are declared when they are asked for.
 */
export interface Declared {
  readonly type: CelType;
  readonly maxElements: number;
  readonly minSize: number;
  readonly element?: Declared;
  /** Keys of a map are strings. */
  readonly isMap?: boolean;
  field?(escapedName: string): Declared | undefined;
}

export const LARGEST_REQUEST = 3 * 1024 * 1024;
const SIZES = { string: 2, bool: 4, number: 1, duration: 3, date: 12, dateTime: 21, longestDuration: 32, longestDateTime: 32 };

const nonNegative = (value: number): number => Math.max(0, Math.trunc(value));

const METADATA: Schema = { type: 'object', properties: { name: { type: 'string' }, generateName: { type: 'string' } } };

/** Resources always have a kind, an apiVersion and a name, whatever their schema says. */
export function withTypeMeta(schema: Schema): Schema {
  const properties = schema.properties ?? {};
  const names = properties.metadata?.properties ?? {};
  const complete =
    properties.kind?.type === 'string' &&
    properties.apiVersion?.type === 'string' &&
    properties.metadata?.type === 'object' &&
    names.name?.type === 'string' &&
    names.generateName?.type === 'string';
  if (complete) return schema;
  const string: Schema = { type: 'string' };
  return { ...schema, properties: { ...properties, kind: string, apiVersion: string, metadata: METADATA } };
}

/**
 * @param name the name of the type, under which objects inside it are named
 * @param isResource the root of a resource
 * @returns undefined for what expressions cannot see: data without a known type
 */
export function declare(schema: Schema, name: string, isResource: boolean): Declared | undefined {
  if (schema['x-kubernetes-int-or-string']) {
    const maxElements = typeof schema.maxLength === 'number' ? nonNegative(schema.maxLength) * 4 : LARGEST_REQUEST - 2;
    return { type: types.DYN, maxElements, minSize: 1 };
  }
  const shape = isResource ? withTypeMeta(schema) : schema;
  switch (shape.type ?? '') {
    case 'array':
      return declareList(shape, name);
    case 'object':
      return typeof shape.additionalProperties === 'object' && shape.additionalProperties !== null
        ? declareMap(shape, shape.additionalProperties, name)
        : declareObject(shape, name);
    case 'string':
      return declareString(shape);
    case 'boolean':
      return { type: types.BOOL, maxElements: 0, minSize: SIZES.bool };
    case 'number':
      return { type: types.DOUBLE, maxElements: 0, minSize: SIZES.number };
    case 'integer':
      return { type: types.INT, maxElements: 0, minSize: SIZES.number };
    default:
      return undefined;
  }
}

function isEmbedded(schema: Schema): boolean {
  return schema['x-kubernetes-embedded-resource'] === true;
}

function declareList(schema: Schema, name: string): Declared | undefined {
  if (!schema.items) return undefined;
  const element = declare(schema.items, `${name}.@idx`, isEmbedded(schema.items));
  if (element === undefined) return undefined;
  const maxElements =
    typeof schema.maxItems === 'number' ? nonNegative(schema.maxItems) : Math.trunc((LARGEST_REQUEST - 2) / (element.minSize + 1));
  return { type: types.listOf(element.type), element, maxElements, minSize: 2 };
}

function declareMap(schema: Schema, values: Schema, name: string): Declared | undefined {
  const element = declare(values, `${name}.@elem`, isEmbedded(values));
  if (element === undefined) return undefined;
  const maxElements =
    typeof schema.maxProperties === 'number'
      ? nonNegative(schema.maxProperties)
      : Math.trunc((LARGEST_REQUEST - 2) / (element.minSize + 6));
  return { type: types.mapOf(types.STRING, element.type), element, isMap: true, maxElements, minSize: 2 };
}

function declareObject(schema: Schema, name: string): Declared {
  const properties = schema.properties ?? {};
  let byEscapedName: Map<string, string> | undefined;
  const declared = new Map<string, Declared | undefined>();
  const field = (escaped: string): Declared | undefined => {
    if (declared.has(escaped)) return declared.get(escaped);
    byEscapedName ??= escapedNames(properties);
    const original = byEscapedName.get(escaped);
    const found =
      original === undefined ? undefined : declare(properties[original], `${name}.${escaped}`, isEmbedded(properties[original]));
    declared.set(escaped, found);
    return found;
  };
  const object = {
    type: types.struct(name, { find: (escaped) => field(escaped)?.type }),
    maxElements: 0,
    field,
    get minSize(): number {
      return leastObjectSize(schema, name);
    },
  };
  return object;
}

function escapedNames(properties: Record<string, Schema>): Map<string, string> {
  const names = new Map<string, string>();
  for (const name of Object.keys(properties)) {
    const escaped = escapeFieldName(name);
    if (escaped !== undefined) names.set(escaped, name);
  }
  return names;
}

/** Braces, and every required property without a default. */
function leastObjectSize(schema: Schema, name: string): number {
  const properties = schema.properties ?? {};
  let size = 2;
  for (const required of new Set(schema.required)) {
    if (!Object.hasOwn(properties, required) || (properties[required].default ?? null) !== null) continue;
    const property = declare(properties[required], `${name}.${required}`, isEmbedded(properties[required]));
    if (property !== undefined) size += Buffer.byteLength(required) + property.minSize + 4;
  }
  return size;
}

function declareString(schema: Schema): Declared {
  const bounded = typeof schema.maxLength === 'number' ? nonNegative(schema.maxLength) : undefined;
  switch (schema.format ?? '') {
    case 'byte':
      return { type: types.BYTES, maxElements: bounded ?? LARGEST_REQUEST - 2, minSize: SIZES.string };
    case 'duration':
      return { type: types.DURATION, maxElements: SIZES.longestDuration, minSize: SIZES.duration };
    case 'date':
      return { type: types.TIMESTAMP, maxElements: SIZES.date, minSize: SIZES.date };
    case 'date-time':
      return { type: types.TIMESTAMP, maxElements: SIZES.longestDateTime, minSize: SIZES.dateTime };
    default:
      return { type: types.STRING, maxElements: bounded === undefined ? longestString(schema) : bounded * 4, minSize: SIZES.string };
  }
}

function longestString(schema: Schema): number {
  if (!schema.enum?.length) return LARGEST_REQUEST - 2;
  return Math.max(0, ...schema.enum.map((value) => (typeof value === 'string' ? Buffer.byteLength(value) : 0)));
}

/** Sizes of what rules look at, by paths that begin with `self` or `oldSelf`. */
export function declaredSizes(root: Declared): Estimator {
  return {
    sizeAt(path) {
      let node: Declared | undefined = root;
      for (const step of path.slice(1)) {
        if (step === '@items' || step === '@values') node = node?.element;
        else if (step === '@keys') node = node?.isMap ? KEYS : undefined;
        else node = node?.field?.(step);
        if (node === undefined) return undefined;
      }
      return { min: 0n, max: BigInt(node.maxElements) };
    },
  };
}

const KEYS: Declared = { type: types.STRING, maxElements: 0, minSize: SIZES.string };
