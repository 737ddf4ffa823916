import type { FieldError } from '../../../kube/field-error.ts';
import { checkRulesAt, checkTotalCost } from '../cel/rule-check.ts';
import { checkDefaultRules } from '../cel/default-rules.ts';
import { checkDefaults } from '../schema/default-check.ts';
import { child, forbiddenValue, invalidValue } from '../schema/findings.ts';
import { internalSchema } from '../schema/internal-form.ts';
import { rootScope, type RuleScope } from '../schema/rule-scope.ts';
import { checkSchema } from '../schema/schema-check.ts';
import type { Pace, Sliced } from '../schema/slices.ts';
import { checkStructural, unreadable, type CrdSchema } from '../schema/structural.ts';
import { pushSchemasBelow, type DefinitionDemands } from './update-demands.ts';

/** Fields that the root may set beside a status subresource, so that the status keeps its whole schema when checked alone. */
const ALLOWED_AT_ROOT = [
  'Description',
  'Type',
  'Format',
  'Title',
  'Maximum',
  'ExclusiveMaximum',
  'Minimum',
  'ExclusiveMinimum',
  'MaxLength',
  'MinLength',
  'Pattern',
  'MaxItems',
  'MinItems',
  'UniqueItems',
  'MultipleOf',
  'Required',
  'Items',
  'Properties',
  'ExternalDocs',
  'Example',
  'XPreserveUnknownFields',
  'XValidations',
];

/** Deeper schemas say nothing that objects could use, and would exhaust the stack of whoever walks them. */
const DEEPEST_SCHEMA = 300;

export function* checkDefinitionSchema(
  validation: { openAPIV3Schema?: CrdSchema } | undefined,
  path: string,
  statusEnabled: boolean,
  demands: DefinitionDemands,
  pace: Pace,
): Sliced<FieldError[]> {
  const schema = validation?.openAPIV3Schema ?? undefined;
  if (schema === undefined) return [];
  const schemaPath = child(path, 'openAPIV3Schema');
  if (yield* isTooDeep(schema, pace)) {
    return [invalidValue(schemaPath, '', `Cannot use the schema: it is nested more than ${DEEPEST_SCHEMA} levels deep; flatten it`)];
  }
  const found = statusEnabled ? checkRoot(schema, schemaPath) : [];
  if (schema.nullable) found.push(forbiddenValue(child(schemaPath, 'nullable'), 'nullable cannot be true at the root'));
  const complaint = yield* unreadable(schema, pace);
  let scope: RuleScope | undefined;
  if (demands.structural && complaint === undefined) {
    const structural = yield* checkStructural(schema, schemaPath, pace);
    const defaults = checkDefaults(schema, schemaPath, demands.prunedDefaults, pace, checkDefaultRules());
    const wrong = structural.length > 0 ? structural : yield* defaults;
    found.push(...wrong);
    if (wrong.length === 0) scope = rootScope(schema);
  }
  found.push(...(yield* checkSchema(schema, schemaPath, demands, scope, pace, checkRulesAt(demands.suppressesCost ?? false))));
  if (demands.structural && complaint !== undefined && found.length === 0) found.push(invalidValue(schemaPath, '', complaint));
  if (scope !== undefined) found.push(...checkTotalCost(scope, schemaPath));
  return found;
}

function checkRoot(schema: CrdSchema, path: string): FieldError[] {
  if (schema.type && schema.type !== 'object') {
    const detail = 'only "object" is allowed as the type at the root of the schema if the status subresource is enabled';
    return [invalidValue(child(path, 'type'), schema.type, detail)];
  }
  if (Object.keys(schema).every((name) => isAllowedAtRoot(schema, name))) return [];
  const detail = `only [${ALLOWED_AT_ROOT.join(' ')}] fields are allowed at the root of the schema if the status subresource is enabled`;
  return [invalidValue(path, internalSchema(schema), detail)];
}

/** Upstream knows the fields by their names in Go: `XValidations` is x-kubernetes-validations. */
function isAllowedAtRoot(schema: CrdSchema, name: string): boolean {
  const value: unknown = schema[name as keyof CrdSchema];
  if (value === undefined || value === null || value === '' || value === false) return true;
  const words = name.startsWith('x-kubernetes-') ? `x-${name.slice('x-kubernetes-'.length)}` : name;
  const goName = words.replaceAll(/(?:^|-)([a-z])/g, (_, letter: string) => letter.toUpperCase());
  return ALLOWED_AT_ROOT.includes(goName);
}

function* isTooDeep(schema: CrdSchema, pace: Pace): Sliced<boolean> {
  let level: CrdSchema[] = [schema];
  for (let depth = 0; level.length > 0; depth++) {
    if (depth > DEEPEST_SCHEMA) return true;
    const next: CrdSchema[] = [];
    for (const node of level) {
      if (pace.tick()) yield;
      pushSchemasBelow(node, next);
    }
    level = next;
  }
  return false;
}
