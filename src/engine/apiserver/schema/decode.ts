import { fieldErrorText } from '../../../kube/field-error.ts';
import { isJsonObject, setField } from '../../../kube/json-value.ts';
import type { Json } from '../../../kube/object.ts';
import { failure } from '../../../kube/status.ts';
import { child, index, invalidValue } from './findings.ts';
import { MetadataTypeError, readObjectMeta } from './object-meta.ts';
import type { SchemaNode } from './schema-node.ts';
import { Pace, type Sliced } from './slices.ts';

/**
 * Brings an object into the shape of its schema in one pass, in place: drops and reports fields the schema does not know, drops
 * nulls it does not allow, reads the metadata of embedded resources and applies defaults. Metadata at the root is the caller's.
 * @throws MetadataTypeError when embedded metadata cannot be read
 */
export interface DecodeOptions {
  onUnknown?: (path: string) => void;
  pace?: Pace;
  /** False leaves missing fields missing, as for an object that is only pruned. */
  applyDefaults?: boolean;
  /** Nulls stay where they are, as in a default that is only compared with its pruned form. */
  keepsNulls?: boolean;
  /** False for a value that is not a whole resource: its apiVersion, kind and metadata are fields like others. */
  isResource?: boolean;
}

const ROOT_FIELDS = new Set(['apiVersion', 'kind', 'metadata']);

/** Defaults may not make an object larger than the largest that can be sent. */
const MOST_DEFAULTED = 3 * 1024 * 1024;

interface Run {
  readonly onUnknown?: (path: string) => void;
  readonly pace: Pace;
  readonly applyDefaults: boolean;
  readonly keepsNulls: boolean;
  readonly path: (string | number)[];
  defaulted: number;
  /** Inside metadata of an embedded resource, which is read as ObjectMeta and not pruned by the schema. */
  unpruned: boolean;
  /** Inside a default: what is pruned there is nothing the client sent. */
  silent: boolean;
}

export function* decodeBySchema(node: SchemaNode | undefined, object: Record<string, Json>, options: DecodeOptions = {}): Sliced<void> {
  const run: Run = {
    onUnknown: options.onUnknown,
    pace: options.pace ?? new Pace(),
    applyDefaults: options.applyDefaults ?? true,
    keepsNulls: options.keepsNulls ?? false,
    path: [],
    defaulted: 0,
    unpruned: false,
    silent: false,
  };
  yield* decodeObject(run, node, object, node?.preservesUnknown ?? false, options.isResource ?? true);
}

function pathText(path: readonly (string | number)[]): string {
  return path.reduce<string>((text, segment) => (typeof segment === 'number' ? index(text, segment) : child(text, segment)), '');
}

function reportUnknown(run: Run, name: string): void {
  if (run.onUnknown !== undefined && !run.silent) run.onUnknown(child(pathText(run.path), name));
}

/** @param keep unknown fields stay, as under x-kubernetes-preserve-unknown-fields */
function* decodeObject(run: Run, node: SchemaNode | undefined, object: Record<string, Json>, keep: boolean, isRoot: boolean): Sliced<void> {
  const says = node?.saysAdditional ?? false;
  for (const name of Object.keys(object)) {
    if (run.pace.tick()) yield;
    const isMeta = (isRoot || (node?.embedded ?? false)) && ROOT_FIELDS.has(name);
    if (isMeta && isRoot) continue;
    if (isMeta) readEmbedded(run, object, name);
    const field = node?.forKey(name);
    if (field === undefined && !isMeta && !keep && !says && !run.unpruned) {
      reportUnknown(run, name);
      delete object[name];
      continue;
    }
    const isDefault = object[name] === null;
    if (isDefault && field !== undefined && !field.nullable && !run.keepsNulls) defaultNull(run, object, name, field);
    const value = object[name];
    if (typeof value !== 'object' || value === null) continue;
    // An unknown field is left alone, except that `additionalProperties: true` keeps it and prunes all below it.
    if (field === undefined && (isMeta || run.unpruned || !says)) continue;
    run.path.push(name);
    const { unpruned, silent } = run;
    run.unpruned ||= isMeta;
    run.silent ||= isDefault;
    yield* decodeBelow(run, field, value);
    Object.assign(run, { unpruned, silent });
    run.path.pop();
  }
  if (node !== undefined && run.applyDefaults) yield* addDefaults(run, node, object);
}

function* decodeBelow(run: Run, node: SchemaNode | undefined, value: Json): Sliced<void> {
  const keep = node?.preservesUnknown ?? false;
  if (Array.isArray(value)) yield* decodeList(run, node, value, keep);
  else if (isJsonObject(value)) yield* decodeObject(run, node, value, keep, false);
}

/** @param keep the list itself preserves unknown fields: so do its items, lists in lists included */
function* decodeList(run: Run, node: SchemaNode | undefined, list: Json[], keep: boolean): Sliced<void> {
  const items = node?.items;
  if (items === undefined && (keep || run.unpruned)) return;
  const keepItems = keep || (items?.preservesUnknown ?? false);
  for (let position = 0; position < list.length; position++) {
    if (run.pace.tick()) yield;
    if (list[position] === null && items !== undefined && !items.nullable && run.applyDefaults && items.defaultValue !== undefined) {
      list[position] = copyDefault(run, items.defaultValue);
    }
    const value = list[position];
    if (typeof value !== 'object' || value === null) continue;
    run.path.push(position);
    if (Array.isArray(value)) yield* decodeList(run, items, value, keepItems);
    else yield* decodeObject(run, items, value, keepItems, false);
    run.path.pop();
  }
}

function defaultNull(run: Run, object: Record<string, Json>, name: string, field: SchemaNode): void {
  if (field.defaultValue === undefined) delete object[name];
  else if (run.applyDefaults) setField(object, name, copyDefault(run, field.defaultValue));
}

function* addDefaults(run: Run, node: SchemaNode, object: Record<string, Json>): Sliced<void> {
  if (run.pace.tick(node.defaulted.length)) yield;
  for (const name of node.defaulted) {
    if (Object.hasOwn(object, name)) continue;
    const field = node.property(name);
    if (field === undefined) continue;
    const value = copyDefault(run, field.defaultValue);
    setField(object, name, value);
    if (typeof value === 'object' && value !== null) {
      const { silent } = run;
      run.silent = true;
      run.path.push(name);
      yield* decodeBelow(run, field, value);
      run.path.pop();
      run.silent = silent;
    }
  }
}

function copyDefault(run: Run, value: Json): Json {
  run.defaulted += typeof value === 'string' ? value.length + 8 : 8;
  if (run.defaulted > MOST_DEFAULTED) {
    throw failure(
      'RequestEntityTooLarge',
      `Cannot apply the defaults of the schema: they make the object larger than ${MOST_DEFAULTED} bytes; send fewer items or shorten the defaults`,
    );
  }
  if (Array.isArray(value)) return value.map((item) => copyDefault(run, item));
  if (!isJsonObject(value)) return value;
  const copy: Record<string, Json> = {};
  for (const name of Object.keys(value)) setField(copy, name, copyDefault(run, value[name]));
  return copy;
}

/** TypeMeta and ObjectMeta of an embedded resource. Upstream says `invalid` here, not a Status of its own: it becomes a BadRequest. */
function readEmbedded(run: Run, object: Record<string, Json>, name: string): void {
  const path = pathText(run.path);
  const value = object[name];
  if (name !== 'metadata') {
    if (typeof value !== 'string') throw new MetadataTypeError(fieldErrorText(invalidValue(child(path, name), value, 'must be a string')));
    return;
  }
  try {
    object.metadata = readObjectMeta(value, (below) => run.onUnknown?.(`${child(path, 'metadata')}.${below}`));
  } catch (error) {
    throw new MetadataTypeError(fieldErrorText(invalidValue(child(path, name), value, (error as Error).message)), { cause: error });
  }
}
