import { fieldErrorText, type FieldError } from '../../../kube/field-error.ts';
import type { Json } from '../../../kube/object.ts';
import type { Schema } from '../../../kube/schema.ts';
import { child, forbiddenValue, index, invalidValue, key, requiredValue } from './findings.ts';
import { regExpComplaint } from './regular-expression.ts';
import type { Pace, Sliced } from './slices.ts';

/** A schema as a CRD may write it: with the parts of JSON Schema that are then refused. */
export interface CrdSchema extends Schema {
  id?: string;
  $schema?: string;
  title?: string;
  patternProperties?: Record<string, Schema>;
  dependencies?: Record<string, Json>;
  additionalItems?: Json;
  definitions?: Record<string, Schema>;
  externalDocs?: Json;
  example?: Json;
}

type Level = 'root' | 'item' | 'field';

const UNSUPPORTED: [keyof CrdSchema, string][] = [
  ['id', 'id'],
  ['$schema', 'schema'],
  ['$ref', '$ref'],
  ['patternProperties', 'patternProperties'],
  ['dependencies', 'dependencies'],
  ['additionalItems', 'additionalItems'],
  ['definitions', 'definitions'],
];

function isSet(value: Json): boolean {
  if (value === undefined || value === null || value === '' || value === false) return false;
  return typeof value !== 'object' || Object.keys(value).length > 0 || Array.isArray(value);
}

/** Why a schema cannot be read as structural at all (Go's NewStructural), or undefined. */
export function* unreadable(schema: CrdSchema, pace: Pace): Sliced<string | undefined> {
  const pending: CrdSchema[] = [schema];
  for (let node = pending.pop(); node !== undefined; node = pending.pop()) {
    if (pace.tick()) yield;
    const complaint = unreadableNode(node);
    if (complaint !== undefined) return complaint;
    pushStructure(node, pending);
  }
  return undefined;
}

function unreadableNode(schema: CrdSchema): string | undefined {
  for (const [field, name] of UNSUPPORTED) {
    const value = schema[field];
    if (value === undefined || value === null) continue;
    if (field === 'additionalItems' || isSet(value)) return `OpenAPIV3Schema '${name}' is not supported`;
  }
  if (schema['x-kubernetes-preserve-unknown-fields'] === false) {
    return "internal error: 'x-kubernetes-preserve-unknown-fields' must be true or undefined";
  }
  return Array.isArray(schema.items) && schema.items.length > 0 ? "OpenAPIV3Schema 'items' must be a schema, but is an array" : undefined;
}

/** Adds the schemas directly below one that structural schemas may have. */
function pushStructure(schema: CrdSchema, to: CrdSchema[]): void {
  if (schema.not) to.push(schema.not);
  if (schema.allOf) to.push(...schema.allOf);
  if (schema.anyOf) to.push(...schema.anyOf);
  if (schema.oneOf) to.push(...schema.oneOf);
  if (schema.items && !Array.isArray(schema.items)) to.push(schema.items);
  for (const name in schema.properties) to.push(schema.properties[name]);
  if (typeof schema.additionalProperties === 'object' && schema.additionalProperties !== null) to.push(schema.additionalProperties);
}

/** Checks that a readable schema is structural: every rule of a value has a place in the shape that the schema spells out. */
export function* checkStructural(schema: CrdSchema, path: string, pace: Pace): Sliced<FieldError[]> {
  const found: FieldError[] = [];
  yield* checkInvariants(schema, 'root', path, found, pace);
  checkCompleteness(schema, schema, path, path, found);
  return found.sort((left, right) => (fieldErrorText(left) < fieldErrorText(right) ? -1 : 1));
}

const EMPTY_TYPE: Record<Level, string> = {
  root: 'must not be empty at the root',
  item: 'must not be empty for specified array items',
  field: 'must not be empty for specified object fields',
};

function* checkInvariants(schema: CrdSchema, level: Level, path: string, found: FieldError[], pace: Pace): Sliced<void> {
  if (pace.tick()) yield;
  if (schema.type === 'array' && !schema.items) found.push(requiredValue(child(path, 'items'), 'must be specified'));
  if (schema.items) yield* checkInvariants(schema.items, 'item', child(path, 'items'), found, pace);
  for (const name in schema.properties) {
    yield* checkInvariants(schema.properties[name], 'field', key(child(path, 'properties'), name), found, pace);
  }
  const additional = schema.additionalProperties ?? undefined;
  if (additional !== undefined) {
    if (level === 'root') found.push(forbiddenValue(child(path, 'additionalProperties'), 'must not be used at the root'));
    if (typeof additional === 'object') yield* checkInvariants(additional, 'field', child(path, 'additionalProperties'), found, pace);
  }
  checkExtensions(schema, path, found);
  const skipped = { anyOf: isIntOrStringAnyOf(schema.anyOf), firstAllOfAnyOf: isIntOrStringAnyOf(schema.allOf?.[0]?.anyOf) };
  yield* checkValueRules(schema, skipped, level, path, found, pace);
  checkTypes(schema, level, path, found);
  checkMetaFields(schema, level, path, found);
}

function checkExtensions(schema: CrdSchema, path: string, found: FieldError[]): void {
  if (!schema['x-kubernetes-int-or-string']) return;
  for (const name of ['x-kubernetes-preserve-unknown-fields', 'x-kubernetes-embedded-resource'] as const) {
    if (schema[name]) found.push(invalidValue(child(path, name), true, 'must be false if x-kubernetes-int-or-string is true'));
  }
}

function checkTypes(schema: CrdSchema, level: Level, path: string, found: FieldError[]): void {
  const embedded = schema['x-kubernetes-embedded-resource'] === true;
  const typePath = child(path, 'type');
  if (embedded && schema.type !== 'object') {
    const detail = 'must be object if x-kubernetes-embedded-resource is true';
    found.push(schema.type ? invalidValue(typePath, schema.type, detail) : requiredValue(typePath, detail));
  } else if (!schema.type && !schema['x-kubernetes-int-or-string'] && !schema['x-kubernetes-preserve-unknown-fields']) {
    found.push(requiredValue(typePath, EMPTY_TYPE[level]));
  }
  if (embedded && (schema.additionalProperties ?? undefined) !== undefined) {
    found.push(forbiddenValue(child(path, 'additionalProperties'), 'must not be used if x-kubernetes-embedded-resource is set'));
  }
  if (level === 'root' && schema.type && schema.type !== 'object') {
    found.push(invalidValue(typePath, schema.type, 'must be object at the root'));
  }
}

function checkMetaFields(schema: CrdSchema, level: Level, path: string, found: FieldError[]): void {
  const embedded = schema['x-kubernetes-embedded-resource'] === true;
  const properties = schema.properties ?? {};
  const checksMetadata = level === 'root' || embedded;
  for (const name of ['kind', 'apiVersion']) {
    if (!checksMetadata || !Object.hasOwn(properties, name) || properties[name].type === 'string') continue;
    found.push(invalidValue(child(key(child(path, 'properties'), name), 'type'), properties[name].type ?? '', 'must be string'));
  }
  if (Object.hasOwn(properties, 'metadata')) {
    const metadataPath = key(child(path, 'properties'), 'metadata');
    const metadata: CrdSchema = properties.metadata;
    if (checksMetadata && metadata.type !== 'object') {
      found.push(invalidValue(child(metadataPath, 'type'), metadata.type ?? '', 'must be object'));
    }
    if (level === 'root' && !onlyNames(metadata)) {
      found.push(
        forbiddenValue(metadataPath, 'must not specify anything other than name and generateName, but metadata is implicitly specified'),
      );
    }
  }
  if (embedded && !schema['x-kubernetes-preserve-unknown-fields'] && Object.keys(properties).length === 0) {
    const detail = 'must not be empty if x-kubernetes-embedded-resource is true without x-kubernetes-preserve-unknown-fields';
    found.push(requiredValue(child(path, 'properties'), detail));
  }
}

/** True when a root's metadata says nothing but its type and perhaps `name` and `generateName`. */
function onlyNames(metadata: CrdSchema): boolean {
  const names = Object.keys(metadata.properties ?? {});
  if (names.some((name) => name !== 'name' && name !== 'generateName')) return false;
  const ignored = new Set(['type', 'default', 'properties', 'externalDocs', 'example']);
  return Object.entries(metadata).every(
    ([field, value]) => ignored.has(field) || !isSet(value) || (Array.isArray(value) && value.length === 0),
  );
}

function isIntOrStringAnyOf(anyOf: Schema[] | undefined): boolean {
  if (anyOf?.length !== 2) return false;
  return ['integer', 'string'].every((type, at) => anyOf[at].type === type && Object.values(anyOf[at]).filter(isSet).length === 1);
}

function* checkValueRules(
  schema: CrdSchema,
  skipped: { anyOf: boolean; firstAllOfAnyOf: boolean },
  level: Level,
  path: string,
  found: FieldError[],
  pace: Pace,
): Sliced<void> {
  const junctor = (name: 'anyOf' | 'allOf' | 'oneOf', at: number): string => index(child(path, name), at);
  for (const [at, below] of (skipped.anyOf ? [] : (schema.anyOf ?? [])).entries()) {
    yield* checkNested(below, false, level, junctor('anyOf', at), found, pace);
  }
  for (const [at, below] of (schema.allOf ?? []).entries()) {
    yield* checkNested(below, skipped.firstAllOfAnyOf && at === 0, level, junctor('allOf', at), found, pace);
  }
  for (const [at, below] of (schema.oneOf ?? []).entries()) yield* checkNested(below, false, level, junctor('oneOf', at), found, pace);
  if (schema.not) yield* checkNested(schema.not, false, level, child(path, 'not'), found, pace);
  if (!schema.pattern) return;
  const complaint = regExpComplaint(schema.pattern, pace);
  if (complaint !== undefined) {
    found.push(invalidValue(child(path, 'pattern'), schema.pattern, `must be a valid regular expression, but isn't: ${complaint}`));
  }
  // Reading a pattern takes longer than all the rest.
  yield;
}

/** What a schema inside a junctor must not say, with the words of the refusal. */
const FORBIDDEN_NESTED: [keyof CrdSchema, string][] = [
  ['default', 'must be undefined to be structural'],
  ['title', 'must be empty to be structural'],
  ['description', 'must be empty to be structural'],
  ['nullable', 'must be false to be structural'],
  ['x-kubernetes-preserve-unknown-fields', 'must be false to be structural'],
  ['x-kubernetes-embedded-resource', 'must be false to be structural'],
  ['x-kubernetes-int-or-string', 'must be false to be structural'],
  ['x-kubernetes-list-map-keys', 'must be empty to be structural'],
  ['x-kubernetes-list-type', 'must be undefined to be structural'],
  ['x-kubernetes-map-type', 'must be undefined to be structural'],
  ['x-kubernetes-validations', 'must be empty to be structural'],
];

function* checkNested(schema: CrdSchema, skipAnyOf: boolean, level: Level, path: string, found: FieldError[], pace: Pace): Sliced<void> {
  if (pace.tick()) yield;
  yield* checkValueRules(schema, { anyOf: skipAnyOf, firstAllOfAnyOf: false }, level, path, found, pace);
  if (schema.items) yield* checkNested(schema.items, false, level, child(path, 'items'), found, pace);
  const properties = schema.properties ?? {};
  for (const name of Object.keys(properties)) {
    yield* checkNested(properties[name], false, 'field', key(child(path, 'properties'), name), found, pace);
  }
  if (schema.type) found.push(forbiddenValue(child(path, 'type'), 'must be empty to be structural'));
  if (schema.additionalProperties !== undefined && schema.additionalProperties !== null && schema.additionalProperties !== false) {
    found.push(forbiddenValue(child(path, 'additionalProperties'), 'must be undefined to be structural'));
  }
  for (const [field, detail] of FORBIDDEN_NESTED) {
    const value = schema[field];
    const set = field === 'default' ? (value ?? null) !== null : isSet(value) && !(Array.isArray(value) && value.length === 0);
    if (set) found.push(forbiddenValue(child(path, field), detail));
  }
  if (Object.hasOwn(properties, 'metadata')) {
    found.push(forbiddenValue(key(child(path, 'properties'), 'metadata'), 'must not be specified in a nested context'));
  }
}

/** Every field and item that a junctor speaks of must be spelled out by the schema around it. */
function checkCompleteness(rules: CrdSchema, shape: CrdSchema, shapePath: string, rulesPath: string, found: FieldError[]): void {
  if (rules.not) checkNestedCompleteness(rules.not, shape, shapePath, child(rulesPath, 'not'), found);
  for (const name of ['allOf', 'anyOf', 'oneOf'] as const) {
    for (const [at, below] of (rules[name] ?? []).entries()) {
      checkNestedCompleteness(below, shape, shapePath, index(child(rulesPath, name), at), found);
    }
  }
}

function checkNestedCompleteness(
  rules: CrdSchema,
  shape: CrdSchema | undefined,
  shapePath: string,
  rulesPath: string,
  found: FieldError[],
): void {
  if (shape === undefined) {
    found.push(requiredValue(shapePath, `because it is defined in ${rulesPath}`));
    return;
  }
  checkCompleteness(rules, shape, shapePath, rulesPath, found);
  if (rules.items) checkNestedCompleteness(rules.items, shape.items, child(shapePath, 'items'), child(rulesPath, 'items'), found);
  for (const name of Object.keys(rules.properties ?? {})) {
    const known = shape.properties !== undefined && Object.hasOwn(shape.properties, name) ? shape.properties[name] : undefined;
    const below = key(child(rulesPath, 'properties'), name);
    checkNestedCompleteness(rules.properties![name], known, key(child(shapePath, 'properties'), name), below, found);
  }
}
