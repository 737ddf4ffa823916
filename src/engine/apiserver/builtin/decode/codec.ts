import type { Json } from '../../../../kube/object.ts';
import { Quantity } from '../../../../kube/quantity.ts';
import { defaultsOf, type FieldDefault } from '../defaults/defaults.ts';
import { FINISHING } from '../defaults/finishing.ts';
import { fieldsOf, type GoField, type GoType } from './go-type.ts';
import { quantityOrNothing } from './quantity.ts';
import { specialCodec } from './special-codecs.ts';
import { mismatch } from './type-mismatch.ts';

/** How one Go type is brought from JSON to its canonical form. Compiled once per type, as closures. */
export interface Codec {
  /** The canonical form of a value that is not null; undefined when it is Go's zero value, which counts as absent. @throws TypeMismatch */
  decode(value: Json, scan: Scan): Json;
  /** What Go prints for the zero value of the type. */
  zero(): Json;
}

/** What one decoding run found on its way. */
export interface Scan {
  /** The definition of the whole object: some defaults hold for a part of one kind and not of others. */
  readonly root: string;
  /** Some object held a field that its type does not have. */
  sawUnknown: boolean;
}

export interface FieldCodec {
  name: string;
  type: GoType;
  codec: Codec;
  /** The value of a field that is absent (or zero), if it has one. */
  absent?: (input: Json, out: Json, scan: Scan) => Json;
  /** Drop the value when nothing is left in it. */
  dropEmpty: boolean;
}

const codecs = new Map<GoType, Codec>();

export function codecFor(type: GoType): Codec {
  let codec = codecs.get(type);
  if (!codec) codecs.set(type, (codec = compile(type)));
  return codec;
}

function compile(type: GoType): Codec {
  switch (type.form) {
    case 'string':
      return { decode: (value) => (typeof value === 'string' ? value || undefined : mismatch()), zero: () => '' };
    case 'bool':
      return { decode: (value) => (typeof value === 'boolean' ? value || undefined : mismatch()), zero: () => false };
    case 'int32':
      return { decode: (value) => (isInteger(value, 2 ** 31) ? value || undefined : mismatch()), zero: () => 0 };
    case 'int64':
      return { decode: (value) => (isInteger(value, 2 ** 63) ? value || undefined : mismatch()), zero: () => 0 };
    case 'float64':
      return { decode: (value) => (typeof value === 'number' ? value || undefined : mismatch()), zero: () => 0 };
    case 'bytes':
      return { decode: canonicalBase64, zero: () => '' };
    case 'pointer':
      return pointerCodec(type.element);
    case 'slice':
      return sliceCodec(type.element);
    case 'map':
      return mapCodec(type.element, type.name === 'v1.ResourceList' ? amountCodec : codecFor(type.element));
    case 'special':
      return specialCodec(type.definition);
    case 'struct':
      return structCodec(type.definition);
    case 'any':
    default:
      return { decode: (value) => value, zero: () => null };
  }
}

export function isInteger(value: Json, limit: number): boolean {
  return typeof value === 'number' && Number.isInteger(value) && value < limit && value >= -limit;
}

const BASE64 = /^[A-Za-z0-9+/]*={0,2}$/;

function canonicalBase64(value: Json): string {
  if (typeof value !== 'string') return mismatch();
  if (value.length % 4 === 0 && BASE64.test(value)) return value;
  // Go skips line breaks inside base64.
  const joined = value.replaceAll(/[\r\n]/g, '');
  return joined.length % 4 === 0 && BASE64.test(joined) ? joined : mismatch();
}

/** Empty bytes are a value among others in a map, and nothing in a field. */
function nonEmptyBase64(value: Json): string | undefined {
  return canonicalBase64(value) || undefined;
}

function pointerCodec(element: GoType): Codec {
  const inner = codecFor(element);
  return { decode: (value, scan) => inner.decode(value, scan) ?? inner.zero(), zero: () => null };
}

function sliceCodec(element: GoType): Codec {
  const inner = codecFor(element);
  const decode = (value: Json, scan: Scan): Json => {
    if (!Array.isArray(value)) return mismatch();
    if (value.length === 0) return undefined;
    const out = Array.from({ length: value.length });
    for (let i = 0; i < value.length; i += 1) {
      const item: Json = value[i];
      out[i] = (item === null ? undefined : inner.decode(item, scan)) ?? zeroItem(inner, element, scan);
    }
    return out;
  };
  return { decode, zero: () => null };
}

/** A null among the items of a list of structs is a struct with nothing set, which still gets its defaults. */
export function zeroItem(codec: Codec, type: GoType, scan: Scan): Json {
  return type.form === 'struct' ? codec.decode({}, scan) : codec.zero();
}

/** Amounts of resources are kept to the thousandth; finer ones are rounded up. */
const amountCodec: Codec = {
  decode(value) {
    const text = typeof value === 'string' || typeof value === 'number' ? (quantityOrNothing(value) ?? mismatch()) : mismatch();
    return /[nu]$/.test(text) ? Quantity.ofMilli(Quantity.parse(text).milliValue()).toString() : text;
  },
  zero: () => '0',
};

function mapCodec(element: GoType, inner: Codec): Codec {
  const decode = (value: Json, scan: Scan): Json => {
    if (typeof value !== 'object' || Array.isArray(value)) return mismatch();
    const keys = canonicalKeys(value);
    if (keys.length === 0) return undefined;
    const out: Record<string, Json> = {};
    for (const key of keys) {
      const item: Json = value[key];
      setKey(out, key, (item === null ? undefined : inner.decode(item, scan)) ?? zeroItem(inner, element, scan));
    }
    return out;
  };
  return { decode, zero: () => null };
}

/** Sorting what nobody wrote by hand would stall everybody else. */
const SORT_LIMIT = 2000;

/** The keys of a map in the order in which they are kept: sorted, as Go prints them, unless there are very many. */
export function canonicalKeys(map: Record<string, Json>): string[] {
  const keys = Object.keys(map);
  if (keys.length > SORT_LIMIT) return keys;
  for (let i = 1; i < keys.length; i += 1) if (keys[i] < keys[i - 1]) return keys.sort();
  return keys;
}

/** Sets a key that a client chose. */
export function setKey(map: Record<string, Json>, key: string, value: Json): void {
  if (key === '__proto__') Object.defineProperty(map, key, { value, enumerable: true, configurable: true, writable: true });
  else map[key] = value;
}

function structCodec(definition: string): Codec {
  let compiled: FieldCodec[] | undefined;
  const finish = FINISHING[definition];
  const decode = (input: Json, scan: Scan): Json => {
    if (typeof input !== 'object' || Array.isArray(input)) return mismatch();
    compiled ??= fieldCodecs(definition);
    const out: Record<string, Json> = {};
    let known = 0;
    for (let i = 0; i < compiled.length; i += 1) {
      const field = compiled[i];
      const raw: Json = input[field.name];
      let value: Json;
      if (raw !== undefined) {
        known += 1;
        if (raw !== null) value = field.codec.decode(raw, scan);
      }
      if (value === undefined && field.absent !== undefined) value = field.absent(input, out, scan);
      if (isKept(field, value)) out[field.name] = value;
    }
    if (!scan.sawUnknown && countKeys(input) !== known) scan.sawUnknown = true;
    return finish?.(out) ? decode(out, scan) : out;
  };
  return { decode, zero: () => ({}) };
}

export function isKept(field: FieldCodec, value: Json): boolean {
  return value !== undefined && !(field.dropEmpty && isEmptyObject(value));
}

export function countKeys(object: object): number {
  let count = 0;
  for (const key in object) if (key !== undefined) count += 1;
  return count;
}

function isEmptyObject(value: Json): boolean {
  if (typeof value !== 'object' || value === null) return false;
  for (const _ in value) return false;
  return true;
}

const compiledFields = new Map<string, FieldCodec[]>();

/** Structs refer to themselves (JSONSchemaProps), so their fields are compiled when first met, not when the codec is made. */
export function fieldCodecs(definition: string): FieldCodec[] {
  let fields = compiledFields.get(definition);
  if (!fields) {
    const defaults = defaultsOf(definition);
    fields = fieldsOf(definition).map((field) => compileField(field, defaults[field.json]));
    compiledFields.set(definition, fields);
  }
  return fields;
}

function compileField(field: GoField, fallback: FieldDefault | undefined): FieldCodec {
  const codec = field.type.form === 'bytes' ? { ...codecFor(field.type), decode: nonEmptyBase64 } : codecFor(field.type);
  const compiled: FieldCodec = {
    name: field.json,
    type: field.type,
    codec,
    dropEmpty: field.omit === 'zero' && field.type.form === 'struct',
  };
  const zero = zeroOf(field, codec);
  if (fallback === undefined) compiled.absent = zero;
  else if (typeof fallback === 'function') {
    compiled.absent = (input, out, scan) => {
      const value: Json = fallback(input, out, scan.root);
      return value === undefined ? zero?.(input, out, scan) : codec.decode(value, scan);
    };
  } else compiled.absent = (_input, _out, scan) => codec.decode(fallback, scan);
  return compiled;
}

/** What an absent field becomes without a default: structs held by value always appear, other types only without `omitempty`. */
function zeroOf(field: GoField, codec: Codec): FieldCodec['absent'] {
  if (field.type.form === 'struct') return (_input, _out, scan) => codec.decode({}, scan);
  const isValue = field.type.form === 'special';
  if (field.omit === 'never' || (isValue && field.omit === 'empty')) return () => codec.zero();
  return undefined;
}
