import type { FieldError } from '../../../kube/field-error.ts';
import type { Json } from '../../../kube/object.ts';
import type { Schema, ValidationRule } from '../../../kube/schema.ts';
import { resolveFieldPath } from './field-path.ts';
import { child, forbiddenValue, index, invalidValue, key, requiredValue, unsupportedValue } from './findings.ts';
import { checkListDeclaration, checkMapKeys } from './list-declarations.ts';
import { childScope, type RuleCheck, type RuleScope } from './rule-scope.ts';
import type { Pace, Sliced } from './slices.ts';
import type { CrdSchema } from './structural.ts';

/** What an update may be spared because the stored CRD already broke it. All on for a create. */
export interface SchemaDemands {
  validTypes: boolean;
  atomicSets: boolean;
  mapKeys: boolean;
}

interface Walk {
  demands: SchemaDemands;
  checkRules?: RuleCheck;
  pace: Pace;
  schemaFindings: FieldError[];
  ruleFindings: FieldError[];
}

/** What the place in the schema forbids, handed down the walk. */
interface Place {
  isRoot: boolean;
  defaultsForbidden?: string;
  insideMeta: boolean;
  /** Path of the ancestor whose items or fields cannot be followed from the old object to the new. */
  uncorrelatable?: string;
}

const TYPES = ['array', 'boolean', 'integer', 'number', 'object', 'string'];
const META_FIELDS = new Set(['metadata', 'kind', 'apiVersion']);
const CORRELATED_MAPS = ['', 'granular', 'atomic'];
const REASONS = ['FieldValueDuplicate', 'FieldValueForbidden', 'FieldValueInvalid', 'FieldValueRequired'];

/**
 * Checks what the schema of a CRD may say (Go's ValidateCustomResourceDefinitionOpenAPISchema). Rules are given to `checkRules`,
 * unless the schema at their place or below it is broken.
 */
export function* checkSchema(
  schema: CrdSchema,
  path: string,
  demands: SchemaDemands,
  scope: RuleScope | undefined,
  pace: Pace,
  checkRules?: RuleCheck,
): Sliced<FieldError[]> {
  const walk: Walk = { demands, checkRules, pace, schemaFindings: [], ruleFindings: [] };
  yield* visit(walk, schema, path, { isRoot: true, insideMeta: false }, scope);
  return [...walk.schemaFindings, ...walk.ruleFindings];
}

function* visit(walk: Walk, schema: CrdSchema | undefined | null, path: string, place: Place, scope: RuleScope | undefined): Sliced<void> {
  if (schema === undefined || schema === null) return;
  if (walk.pace.tick()) yield;
  const before = walk.schemaFindings.length;
  const found = walk.schemaFindings;
  checkForbidden(walk, schema, path, place);
  if (schema.uniqueItems) {
    found.push(
      forbiddenValue(child(path, 'uniqueItems'), 'uniqueItems cannot be set to true since the runtime complexity becomes quadratic'),
    );
  }
  yield* visitFields(walk, schema, path, place, scope);
  yield* visitJunctors(walk, schema, path, place);
  yield* visitItems(walk, schema, path, place, scope);
  if (schema['x-kubernetes-preserve-unknown-fields'] === false) {
    found.push(invalidValue(child(path, 'x-kubernetes-preserve-unknown-fields'), false, 'must be true or undefined'));
  }
  found.push(...checkListDeclaration(schema, path, walk.demands.atomicSets));
  if (walk.demands.mapKeys) found.push(...checkMapKeys(schema, path));
  const rules = schema['x-kubernetes-validations'];
  if (rules === undefined || rules === null || rules.length === 0) return;
  for (const [at, rule] of rules.entries()) checkRuleForm(schema, rule, index(child(path, 'x-kubernetes-validations'), at), found);
  if (found.length > before || scope === undefined || walk.checkRules === undefined) return;
  // A rule may take long to compile and to estimate: each is a slice of its own.
  for (const check of walk.checkRules(scope, path, place.uncorrelatable, walk.pace)) {
    walk.ruleFindings.push(...(yield* check()));
    yield;
  }
}

function* visitFields(walk: Walk, schema: CrdSchema, path: string, place: Place, scope: RuleScope | undefined): Sliced<void> {
  const inner = { ...place, isRoot: false };
  const additional = schema.additionalProperties ?? undefined;
  const names = Object.keys(schema.properties ?? {});
  if (additional !== undefined) {
    if (names.length > 0 && additional !== true) {
      walk.schemaFindings.push(
        forbiddenValue(child(path, 'additionalProperties'), 'additionalProperties and properties are mutual exclusive'),
      );
    }
    const below = place.insideMeta ? { ...inner, defaultsForbidden: 'inside additionalProperties applying to object metadata' } : inner;
    if (typeof additional === 'object') {
      yield* visit(walk, additional, child(path, 'additionalProperties'), below, childScope(scope, additional));
    }
  }
  for (const name of names) {
    const below: Place = { ...inner };
    if (!CORRELATED_MAPS.includes(schema['x-kubernetes-map-type'] ?? '')) below.uncorrelatable ??= path;
    if ((place.isRoot || schema['x-kubernetes-embedded-resource']) && META_FIELDS.has(name)) {
      below.insideMeta = true;
      if (place.isRoot) below.defaultsForbidden = `in top-level ${name}`;
    }
    const property = schema.properties![name];
    yield* visit(walk, property, key(child(path, 'properties'), name), below, childScope(scope, property));
  }
}

function* visitJunctors(walk: Walk, schema: CrdSchema, path: string, place: Place): Sliced<void> {
  if (!schema.not && !schema.allOf && !schema.oneOf && !schema.anyOf && !schema.definitions) return;
  const inner = { ...place, isRoot: false };
  yield* visit(walk, schema.not, child(path, 'not'), inner, undefined);
  for (const name of ['allOf', 'oneOf', 'anyOf'] as const) {
    for (const [at, below] of (schema[name] ?? []).entries()) yield* visit(walk, below, index(child(path, name), at), inner, undefined);
  }
  for (const name of Object.keys(schema.definitions ?? {})) {
    yield* visit(walk, schema.definitions![name], key(child(path, 'definitions'), name), inner, undefined);
  }
}

function* visitItems(walk: Walk, schema: CrdSchema, path: string, place: Place, scope: RuleScope | undefined): Sliced<void> {
  const items: Schema | Schema[] | undefined = schema.items;
  if (items) {
    const below: Place = { ...place, isRoot: false };
    if (schema['x-kubernetes-list-type'] !== 'map') below.uncorrelatable ??= path;
    const itemsPath = child(path, 'items');
    if (!Array.isArray(items)) yield* visit(walk, items, itemsPath, below, childScope(scope, items));
    else for (const [at, item] of items.entries()) yield* visit(walk, item, index(itemsPath, at), below, childScope(scope, item));
  }
  for (const name of Object.keys(schema.dependencies ?? {})) {
    const dependency = schema.dependencies![name];
    if (!Array.isArray(dependency))
      yield* visit(walk, dependency, key(child(path, 'dependencies'), name), { ...place, isRoot: false }, undefined);
  }
}

function present(value: Json): boolean {
  return value !== undefined && value !== null;
}

function checkForbidden(walk: Walk, schema: CrdSchema, path: string, place: Place): void {
  const found = walk.schemaFindings;
  const refuse = (field: string, detail: string): number => found.push(forbiddenValue(child(path, field), detail));
  if (walk.demands.validTypes && schema.type && !TYPES.includes(schema.type)) {
    found.push(unsupportedValue(child(path, 'type'), schema.type, TYPES));
  }
  if (present(schema.default) && place.defaultsForbidden !== undefined) {
    refuse('default', `must not be set ${place.defaultsForbidden}`);
  }
  if (schema.id) refuse('id', 'id is not supported');
  if (present(schema.additionalItems)) refuse('additionalItems', 'additionalItems is not supported');
  if (Object.keys(schema.patternProperties ?? {}).length > 0) refuse('patternProperties', 'patternProperties is not supported');
  if (Object.keys(schema.definitions ?? {}).length > 0) refuse('definitions', 'definitions is not supported');
  if (present(schema.dependencies)) refuse('dependencies', 'dependencies is not supported');
  if (present(schema.$ref)) refuse('$ref', '$ref is not supported');
  if (schema.type === 'null') refuse('type', 'type cannot be set to null, use nullable as an alternative');
  if (Array.isArray(schema.items) && schema.items.length > 0) refuse('items', 'items must be a schema object and not an array');
  if (place.insideMeta && schema['x-kubernetes-embedded-resource']) {
    refuse('x-kubernetes-embedded-resource', 'must not be used inside of resource meta');
  }
}

const LINE_BREAK = /[\n\r]/;

function checkRuleForm(schema: CrdSchema, rule: ValidationRule, path: string, found: FieldError[]): void {
  const text = (rule.rule ?? '').trim();
  const message = rule.message ?? '';
  if (text === '') found.push(requiredValue(child(path, 'rule'), 'rule is not specified'));
  else if (message !== '' && message.trim() === '') {
    found.push(invalidValue(child(path, 'message'), message, 'must be non-empty if specified'));
  } else if (LINE_BREAK.test(message.trim())) found.push(invalidValue(child(path, 'message'), message, 'must not contain line breaks'));
  else if (LINE_BREAK.test(text) && message.trim() === '') {
    found.push(requiredValue(child(path, 'message'), 'message must be specified if rule contains line breaks'));
  }
  if (rule.messageExpression && rule.messageExpression.trim() === '') {
    found.push(requiredValue(child(path, 'messageExpression'), 'messageExpression must be non-empty if specified'));
  }
  if (present(rule.reason) && !REASONS.includes(rule.reason ?? ''))
    found.push(unsupportedValue(child(path, 'reason'), rule.reason, REASONS));
  checkRuleFieldPath(schema, rule.fieldPath ?? '', child(path, 'fieldPath'), found);
}

function checkRuleFieldPath(schema: CrdSchema, fieldPath: string, path: string, found: FieldError[]): void {
  if (fieldPath === '') return;
  if (fieldPath.trim() === '') found.push(invalidValue(path, fieldPath, 'must be non-empty if specified'));
  if (LINE_BREAK.test(fieldPath)) found.push(invalidValue(path, fieldPath, 'must not contain line breaks'));
  if (typeof resolveFieldPath(schema, fieldPath) === 'string') found.push(invalidValue(path, fieldPath, 'must be a valid path'));
}
