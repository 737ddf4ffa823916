import type { FieldError, FieldErrorType } from '../../../kube/field-error.ts';
import { isJsonObject } from '../../../kube/json-value.ts';
import type { Json, KubeObject } from '../../../kube/object.ts';
import { checkRules, type RuleNode } from '../cel/rule-validation.ts';
import { UNCORRELATED } from '../schema/correlation.ts';
import { checkEmbeddedResources } from '../schema/embedded-resources.ts';
import { fitAnswer, invalidValue } from '../schema/findings.ts';
import { checkListTypes } from '../schema/list-types.ts';
import { Pace, type Sliced } from '../schema/slices.ts';
import { checkValue } from '../schema/value-check.ts';
import { checkTypeMeta, type VersionShape } from './custom-strategy.ts';
import type { ScalePaths } from './definition.ts';

/**
 * Findings about a custom object on its way in: its schema, the resources it embeds, its lists. `old` is the stored state on an
 * update: what did not change is let pass. Metadata is checked by the caller.
 */
export function* checkCustomObject(
  shape: VersionShape,
  object: KubeObject,
  old: KubeObject | undefined,
  subresource: string,
): Sliced<FieldError[]> {
  const wrong = checkTypeMeta(shape, object);
  if (wrong.length > 0) return wrong;
  const pace = new Pace();
  const found: FieldError[] = [];
  const statusOnly = subresource === 'status';
  if (statusOnly) yield* checkStatus(shape, object, old, pace, found);
  else if (shape.node !== undefined) {
    found.push(...(yield* checkValue(shape.node, object, { old: old ?? UNCORRELATED, pace })));
  }
  found.push(...checkScale(shape.version.subresources?.scale, object, statusOnly));
  if (shape.node !== undefined) {
    if (!statusOnly) found.push(...(yield* checkEmbeddedResources(shape.node, object, pace)));
    found.push(...(yield* checkLists(shape, object, old, pace)));
  }
  if (shape.rules !== undefined) yield* checkCustomRules(shape.rules, object, old, pace, found);
  return fitAnswer(found);
}

/** With these wrong, rules would complain about values they were not written for. */
const BLOCKING: ReadonlySet<FieldErrorType> = new Set([
  'FieldValueNotSupported',
  'FieldValueRequired',
  'FieldValueTooLong',
  'FieldValueTooMany',
  'FieldValueTypeInvalid',
]);

function* checkCustomRules(
  rules: RuleNode,
  object: KubeObject,
  old: KubeObject | undefined,
  pace: Pace,
  found: FieldError[],
): Sliced<void> {
  if (found.some((finding) => BLOCKING.has(finding.type))) {
    const detail =
      'some validation rules were not checked because the object was invalid; correct the existing errors to complete validation';
    found.push(invalidValue('', null, detail));
    return;
  }
  found.push(...(yield* checkRules(rules, object, { old, pace })).found);
}

/** The status alone is checked against its part of the schema. */
function* checkStatus(shape: VersionShape, object: KubeObject, old: KubeObject | undefined, pace: Pace, found: FieldError[]): Sliced<void> {
  const node = shape.node?.property('status');
  if (node === undefined || !Object.hasOwn(object, 'status')) return;
  const before = old !== undefined && Object.hasOwn(old, 'status') ? old.status : UNCORRELATED;
  found.push(...(yield* checkValue(node, object.status, { base: 'status', old: before, pace })));
}

/** Doubled items are let pass while the stored object has doubled items too; those in what is shared with it are. */
function* checkLists(shape: VersionShape, object: KubeObject, old: KubeObject | undefined, pace: Pace): Sliced<FieldError[]> {
  const found = yield* checkListTypes(shape.node!, object, pace, old);
  if (found.length === 0 || old === undefined) return found;
  return (yield* checkListTypes(shape.node!, old, pace)).length > 0 ? [] : found;
}

const MOST_REPLICAS = 2147483647;

function checkScale(scale: ScalePaths | undefined, object: KubeObject, statusOnly: boolean): FieldError[] {
  if (!scale) return [];
  const found = statusOnly ? [] : checkReplicas(object, scale.specReplicasPath);
  found.push(...checkReplicas(object, scale.statusReplicasPath));
  if (scale.labelSelectorPath) {
    const selector = readPath(object, scale.labelSelectorPath);
    if ('complaint' in selector) found.push(invalidValue(scale.labelSelectorPath, '', selector.complaint));
    else if (selector.value !== undefined && typeof selector.value !== 'string') {
      found.push(invalidValue(scale.labelSelectorPath, '', accessorComplaint(scale.labelSelectorPath, selector.value, 'string')));
    }
  }
  return found;
}

function checkReplicas(object: KubeObject, path: string): FieldError[] {
  const read = readPath(object, path);
  if ('complaint' in read) return [invalidValue(path, 0, read.complaint)];
  const value = read.value;
  if (value === undefined) return [];
  if (!Number.isInteger(value)) return [invalidValue(path, 0, accessorComplaint(path, value, 'int64'))];
  if (value < 0) return [invalidValue(path, value, 'should be a non-negative integer')];
  return value > MOST_REPLICAS ? [invalidValue(path, value, `should be less than or equal to ${MOST_REPLICAS}`)] : [];
}

/** Follows a simple path of fields, as scale paths are. */
export function readPath(object: Json, path: string): { value: Json } | { complaint: string } {
  let value: Json = object;
  const names = path.replace(/^\./, '').split('.');
  for (const [at, name] of names.entries()) {
    if (value === undefined || value === null) return { value: undefined };
    if (!isJsonObject(value))
      return { complaint: accessorComplaint(`.${names.slice(0, at + 1).join('.')}`, value, 'map[string]interface{}') };
    value = Object.hasOwn(value, name) ? value[name] : undefined;
  }
  return { value };
}

function goTypeOf(value: Json): string {
  if (value === null) return '<nil>';
  if (Array.isArray(value)) return '[]interface {}';
  if (typeof value === 'number') return Number.isInteger(value) ? 'int64' : 'float64';
  if (typeof value === 'boolean') return 'bool';
  return typeof value === 'string' ? 'string' : 'map[string]interface {}';
}

function accessorComplaint(path: string, value: Json, expected: string): string {
  const shown = typeof value === 'object' ? JSON.stringify(value) : String(value);
  return `${path} accessor error: ${shown} is of the type ${goTypeOf(value)}, expected ${expected}`;
}
