import { fieldErrorText, type FieldError } from '../../../kube/field-error.ts';
import { deepEqual, isJsonObject } from '../../../kube/json-value.ts';
import type { Json } from '../../../kube/object.ts';
import type { Schema } from '../../../kube/schema.ts';
import { decodeBySchema } from './decode.ts';
import { checkEmbeddedResources } from './embedded-resources.ts';
import { aggregateText, child, invalidValue, key } from './findings.ts';
import { MetadataTypeError, readObjectMeta } from './object-meta.ts';
import { SchemaNode } from './schema-node.ts';
import type { Pace, Sliced } from './slices.ts';
import type { CrdSchema } from './structural.ts';
import { checkValue } from './value-check.ts';

/** Checks a default against the rules of its schema, when rules can be evaluated. */
export type DefaultRuleCheck = (schema: CrdSchema, value: Json, path: string, isResource: boolean, pace: Pace) => Sliced<FieldError[]>;

interface Walk {
  requirePruned: boolean;
  checkRules?: DefaultRuleCheck;
  pace: Pace;
  found: FieldError[];
}

/** Builds the smallest object that holds a value at the place of the schema being visited. */
type Surround = (value: Json) => Record<string, Json>;

/** Checks that every default of a structural schema is valid and holds nothing that would be pruned. */
export function* checkDefaults(
  schema: CrdSchema,
  path: string,
  requirePruned: boolean,
  pace: Pace,
  checkRules?: DefaultRuleCheck,
): Sliced<FieldError[]> {
  const walk: Walk = { requirePruned, checkRules, pace, found: [] };
  const root = { ...schema, 'x-kubernetes-embedded-resource': true };
  yield* visit(walk, path, root, root, identity, false);
  return walk.found;
}

const identity: Surround = (value) => value as Record<string, Json>;

function* visit(walk: Walk, path: string, schema: CrdSchema, root: CrdSchema, surround: Surround, insideMeta: boolean): Sliced<void> {
  if (walk.pace.tick()) yield;
  const embedded = schema['x-kubernetes-embedded-resource'] === true;
  const inside = insideMeta && !embedded;
  const around = embedded ? identity : surround;
  const resource = embedded ? schema : root;
  const value: Json = schema.default ?? null;
  if (value !== null) {
    const check = inside
      ? checkInsideMeta(walk, path, schema, resource, around, value)
      : checkOne(walk, path, schema, value, schema === resource);
    walk.found.push(...(yield* check));
  }
  if (schema.items) yield* visit(walk, child(path, 'items'), schema.items, resource, (below) => around([below]), inside);
  for (const name in schema.properties) {
    const isMeta = embedded && (name === 'metadata' || name === 'apiVersion' || name === 'kind');
    const below: Surround = (content) => around({ [name]: content });
    yield* visit(walk, key(child(path, 'properties'), name), schema.properties[name], resource, below, inside || isMeta);
  }
}

function withTypeMeta(object: Record<string, Json>): Record<string, Json> {
  return { kind: 'Validation', apiVersion: 'validation/v1', ...object };
}

/** A default inside apiVersion, kind or metadata must make valid metadata. */
function* checkInsideMeta(walk: Walk, path: string, schema: Schema, root: Schema, surround: Surround, value: Json): Sliced<FieldError[]> {
  const defaultPath = child(path, 'default');
  const object = withTypeMeta(surround(structuredClone(value)));
  const refuse = (reason: string): FieldError[] => [invalidValue(defaultPath, value, `must result in valid metadata: ${reason}`)];
  for (const name of ['apiVersion', 'kind']) {
    if (typeof object[name] !== 'string') return refuse(fieldErrorText(invalidValue(name, object[name], 'must be a string')));
  }
  try {
    if (object.metadata !== undefined) object.metadata = readObjectMeta(object.metadata, () => {});
  } catch (error) {
    return refuse(fieldErrorText(invalidValue('metadata', object.metadata, (error as Error).message)));
  }
  const found = yield* checkEmbeddedResources(new SchemaNode(root), object, walk.pace, '', true);
  if (found.length > 0) return refuse(aggregateText(found.map(fieldErrorText)));
  return yield* checkAgainstSchema(walk, defaultPath, schema, value, false);
}

function* checkOne(walk: Walk, path: string, schema: CrdSchema, value: Json, isResource: boolean): Sliced<FieldError[]> {
  const defaultPath = child(path, 'default');
  const node = new SchemaNode(schema);
  const found: FieldError[] = [];
  const copy: Json = structuredClone(value);
  try {
    yield* prune(walk, node, copy, schema);
  } catch (error) {
    if (!(error instanceof MetadataTypeError)) throw error;
    return [{ type: 'FieldValueInvalid', field: defaultPath, message: error.message.replace(/^[^:]*: /, '') }];
  }
  if (walk.requirePruned && !deepEqual(copy, value)) found.push(invalidValue(defaultPath, value, 'must not have unknown fields'));
  const embedded = yield* checkEmbeddedResources(node, value, walk.pace, defaultPath);
  return [...found, ...(embedded.length > 0 ? embedded : yield* checkAgainstSchema(walk, defaultPath, schema, value, isResource))];
}

/** Prunes a copy of a default as an object is pruned, nulls and missing fields left as they are. */
function* prune(walk: Walk, node: SchemaNode, copy: Json, schema: CrdSchema): Sliced<void> {
  const options = { pace: walk.pace, applyDefaults: false, keepsNulls: true };
  if (isJsonObject(copy) && schema['x-kubernetes-embedded-resource'] !== true) {
    yield* decodeBySchema(node, copy, { ...options, isResource: false });
  } else if (isJsonObject(copy)) yield* decodeBySchema(node, copy, options);
  else if (Array.isArray(copy)) {
    const holder = new SchemaNode({ type: 'object', properties: { list: schema } });
    yield* decodeBySchema(holder, { list: copy }, { ...options, isResource: false });
  }
}

function* checkAgainstSchema(walk: Walk, path: string, schema: CrdSchema, value: Json, isResource: boolean): Sliced<FieldError[]> {
  const found = yield* checkValue(new SchemaNode(schema), value, { base: path, pace: walk.pace });
  if (found.length > 0) return found;
  return walk.checkRules === undefined ? [] : yield* walk.checkRules(schema, value, path, isResource, walk.pace);
}
