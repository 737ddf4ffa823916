import type { Json } from '../../../../kube/object.ts';
import { canonicalMicroTime, canonicalTime } from '../../../../kube/time.ts';
import { codecFor, type Codec, type Scan } from './codec.ts';
import { goType } from './go-type.ts';
import { quantityOrNothing } from './quantity.ts';
import { mismatch } from './type-mismatch.ts';

const SCHEMA = 'io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.JSONSchemaProps';

/** Codecs of the structs that bring their own marshalling. */
export function specialCodec(definition: string): Codec {
  switch (definition.slice(definition.lastIndexOf('.') + 1)) {
    case 'Quantity':
      return { decode: decodeQuantity, zero: () => '0' };
    case 'Time':
      return { decode: (value) => textIn(value, canonicalTime), zero: () => null };
    case 'MicroTime':
      return { decode: (value) => textIn(value, canonicalMicroTime), zero: () => null };
    case 'IntOrString':
      return { decode: decodeIntOrString, zero: () => 0 };
    case 'JSONSchemaPropsOrBool':
      return { decode: (value, scan) => (typeof value === 'boolean' ? value : decodeSchema(value, scan)), zero: () => false };
    case 'JSONSchemaPropsOrArray':
      return { decode: decodeSchemaOrArray, zero: () => null };
    case 'JSONSchemaPropsOrStringArray':
      return { decode: decodeSchemaOrStrings, zero: () => null };
    // RawExtension, JSON and FieldsV1 hold whatever they are given.
    default:
      return { decode: (value) => value, zero: () => null };
  }
}

function decodeQuantity(value: Json): Json {
  return typeof value === 'number' || typeof value === 'string' ? (quantityOrNothing(value) ?? mismatch()) : mismatch();
}

function textIn(value: Json, canonical: (text: string) => string | undefined): string {
  if (typeof value !== 'string') return mismatch();
  return canonical(value) ?? mismatch();
}

function decodeIntOrString(value: Json): Json {
  // Zero and the empty text are the zero value, which a default replaces.
  if (typeof value === 'string') return value === '' ? undefined : value;
  if (typeof value === 'number' && Number.isInteger(value) && Math.abs(value) <= 2 ** 31 - 1) return value === 0 ? undefined : value;
  return mismatch();
}

function decodeSchema(value: Json, scan: Scan): Json {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return mismatch();
  // Go decodes these without its strict mode, so unknown fields inside are not reported.
  const seen = scan.sawUnknown;
  const decoded: Json = codecFor(goType(SCHEMA)).decode(value, scan);
  scan.sawUnknown = seen;
  return decoded;
}

function decodeSchemaOrArray(value: Json, scan: Scan): Json {
  if (!Array.isArray(value)) return typeof value === 'object' ? decodeSchema(value, scan) : undefined;
  return value.length === 0 ? undefined : value.map((item: Json) => decodeSchema(item, scan));
}

function decodeSchemaOrStrings(value: Json, scan: Scan): Json {
  if (!Array.isArray(value)) return typeof value === 'object' ? decodeSchema(value, scan) : undefined;
  return codecFor(goType('[]string')).decode(value, scan);
}
