import type { Json } from '../../../../kube/object.ts';
import type { Pace, Sliced } from '../../schema/slices.ts';
import { FINISHING } from '../defaults/finishing.ts';
import { canonicalKeys, codecFor, countKeys, fieldCodecs, isKept, setKey, zeroItem, type Scan } from './codec.ts';
import { goType, type GoType } from './go-type.ts';
import { mismatch } from './type-mismatch.ts';

/** What decoding one large object needs on its way. */
export interface SlicedRun {
  scan: Scan;
  pace: Pace;
}

/** The same as the codec of the type, for objects that are too large to be decoded in one go. @throws TypeMismatch */
export function* decodeSliced(type: GoType, value: Json, run: SlicedRun): Sliced<Json> {
  if (run.pace.tick()) yield;
  // Anything but an object is small, and its codec knows what to say about it.
  if (typeof value !== 'object' || value === null) return codecFor(type).decode(value, run.scan);
  switch (type.form) {
    case 'pointer':
      return (yield* decodeSliced(type.element, value, run)) ?? codecFor(type.element).zero();
    case 'slice':
      return yield* decodeItems(type.element, value, run);
    case 'map':
      return isLeaf(type.element) ? yield* decodeLeaves(type, value, run) : yield* decodeEntries(type.element, value, run);
    case 'struct':
      return yield* decodeFields(type.definition, value, run);
    case 'special':
      return yield* decodeSpecial(type, value, run);
    case 'string':
    case 'bool':
    case 'int32':
    case 'int64':
    case 'float64':
    case 'bytes':
    case 'any':
    default:
      return codecFor(type).decode(value, run.scan);
  }
}

function isLeaf(type: GoType): boolean {
  return type.form !== 'struct' && type.form !== 'slice' && type.form !== 'map' && type.form !== 'pointer';
}

function* decodeItems(element: GoType, value: Json, run: SlicedRun): Sliced<Json> {
  if (!Array.isArray(value)) return mismatch();
  if (value.length === 0) return undefined;
  const out: Json[] = [];
  for (const item of value) {
    const decoded: Json = item === null ? undefined : yield* decodeSliced(element, item, run);
    out.push(decoded ?? zeroItem(codecFor(element), element, run.scan));
  }
  return out;
}

const LEAVES_AT_ONCE = 256;

/** Maps of texts and amounts go through their own codec, some entries at a time: it may treat them in its own way. */
function* decodeLeaves(type: GoType, value: Json, run: SlicedRun): Sliced<Json> {
  if (Array.isArray(value)) return mismatch();
  const keys = canonicalKeys(value);
  if (keys.length === 0) return undefined;
  const out: Record<string, Json> = {};
  for (let start = 0; start < keys.length; start += LEAVES_AT_ONCE) {
    const part: Record<string, Json> = {};
    for (const key of keys.slice(start, start + LEAVES_AT_ONCE)) setKey(part, key, value[key]);
    const decoded: Json = codecFor(type).decode(part, run.scan);
    for (const key of Object.keys(decoded)) setKey(out, key, decoded[key]);
    if (run.pace.tick(LEAVES_AT_ONCE)) yield;
  }
  return out;
}

function* decodeEntries(element: GoType, value: Json, run: SlicedRun): Sliced<Json> {
  if (Array.isArray(value)) return mismatch();
  const keys = canonicalKeys(value);
  if (keys.length === 0) return undefined;
  const out: Record<string, Json> = {};
  for (const key of keys) {
    const item: Json = value[key];
    const decoded: Json = item === null ? undefined : yield* decodeSliced(element, item, run);
    setKey(out, key, decoded ?? zeroItem(codecFor(element), element, run.scan));
  }
  return out;
}

function* decodeFields(definition: string, input: Json, run: SlicedRun): Sliced<Json> {
  if (Array.isArray(input)) return mismatch();
  const out: Record<string, Json> = {};
  let known = 0;
  for (const field of fieldCodecs(definition)) {
    const raw: Json = input[field.name];
    let value: Json;
    if (raw !== undefined) {
      known += 1;
      if (raw !== null) value = typeof raw === 'object' ? yield* decodeSliced(field.type, raw, run) : field.codec.decode(raw, run.scan);
    }
    if (value === undefined && field.absent !== undefined) value = field.absent(input, out, run.scan);
    if (isKept(field, value)) out[field.name] = value;
  }
  if (!run.scan.sawUnknown && countKeys(input) !== known) run.scan.sawUnknown = true;
  return FINISHING[definition]?.(out) ? yield* decodeFields(definition, out, run) : out;
}

const SCHEMA = 'io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.JSONSchemaProps';

/** Schemas within schemas are what makes definitions of custom resources large. */
function* decodeSpecial(type: GoType & { form: 'special' }, value: Json, run: SlicedRun): Sliced<Json> {
  if (!type.name.startsWith('v1.JSONSchemaPropsOr') || Array.isArray(value)) return codecFor(type).decode(value, run.scan);
  const seen = run.scan.sawUnknown;
  const decoded: Json = yield* decodeSliced(goType(SCHEMA), value, run);
  run.scan.sawUnknown = seen;
  return decoded;
}
