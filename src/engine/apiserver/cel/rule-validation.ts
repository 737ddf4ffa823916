import type { FieldError } from '../../../kube/field-error.ts';
import { isJsonObject } from '../../../kube/json-value.ts';
import type { Json } from '../../../kube/object.ts';
import type { Schema, ValidationRule } from '../../../kube/schema.ts';
import { quote } from '../../../kube/go-text.ts';
import { equalsOld, oldField, oldItems, UNCORRELATED, type OldValue } from '../schema/correlation.ts';
import { child, duplicateValue, forbiddenValue, index, invalidValue, key, requiredValue } from '../schema/findings.ts';
import type { SchemaNode } from '../schema/schema-node.ts';
import type { Pace, Sliced } from '../schema/slices.ts';
import { OBJECT_BUDGET, PER_CALL_LIMIT, type CelProgram } from './cel.ts';
import { compileRule, type CompiledRule } from './rules.ts';
import { escapeFieldName } from './field-names.ts';
import { declare, withTypeMeta, type Declared } from './schema-types.ts';
import { fromSchema } from './schema-values.ts';
import { CelOptional, NONE, type CelValue } from './values.ts';

const REMEMBERED = 1024;

/**
 * The last values that were set, while somebody has them, and some before those. Not all: each collection of garbage looks at every key of a WeakMap,
 * and there may be as many values as there are objects.
 */
class RecentCosts {
  #costs = new WeakMap<object, number>();
  #before = new WeakMap<object, number>();
  #size = 0;

  get(value: object): number | undefined {
    return this.#costs.get(value) ?? this.#before.get(value);
  }

  set(value: object, cost: number): void {
    if (++this.#size > REMEMBERED) {
      this.#before = this.#costs;
      this.#costs = new WeakMap();
      this.#size = 1;
    }
    this.#costs.set(value, cost);
  }
}

/** The rules of a schema and of what is below it, compiled when an object first reaches them. */
export class RuleNode {
  readonly node: SchemaNode;
  readonly declared: Declared | undefined;
  readonly isResource: boolean;
  private readonly compiled: CompiledRule[] = [];
  private readonly children = new Map<string, RuleNode | null>();
  /** Values that broke no rule here or below and will not when they replace themselves, and what it cost to find that out. */
  private readonly unbroken = new RecentCosts();

  constructor(node: SchemaNode, isResource: boolean, declared: Declared | undefined = declare(node.schema, 'selfType', isResource)) {
    this.node = node;
    this.isResource = isResource;
    this.declared = declared;
  }

  get ruleCount(): number {
    return this.declared === undefined ? 0 : (this.node.schema['x-kubernetes-validations']?.length ?? 0);
  }

  costOfUnbroken(value: object): number | undefined {
    return this.unbroken.get(value);
  }

  setUnbroken(value: object, cost: number): void {
    this.unbroken.set(value, cost);
  }

  *rule(at: number, pace: Pace): Sliced<CompiledRule> {
    const { schema } = this.node;
    return (this.compiled[at] ??= yield* compileRule(schema, schema['x-kubernetes-validations']![at], this.declared!, pace));
  }

  /** The schema as values of it are shown to rules. */
  get valueSchema(): Schema {
    return this.isResource ? withTypeMeta(this.node.schema) : this.node.schema;
  }

  private below(name: string, make: () => RuleNode | undefined): RuleNode | undefined {
    let found = this.children.get(name);
    if (found === undefined) {
      found = make() ?? null;
      this.children.set(name, found);
    }
    return found ?? undefined;
  }

  property(name: string): RuleNode | undefined {
    return this.below(`.${name}`, () => {
      const node = this.node.property(name);
      if (node === undefined || !hasRules(node.schema)) return undefined;
      const escaped = escapeFieldName(name);
      // Fields whose type rules cannot know are left out entirely, unless it is only their name that cannot be written.
      const declared = escaped === undefined ? declare(node.schema, 'selfType', node.embedded) : this.declared?.field?.(escaped);
      return declared === undefined ? undefined : new RuleNode(node, node.embedded, declared);
    });
  }

  get items(): RuleNode | undefined {
    return this.below('[]', () => this.element(this.node.items));
  }

  get additional(): RuleNode | undefined {
    return this.below('{}', () => this.element(this.node.additional));
  }

  private element(node: SchemaNode | undefined): RuleNode | undefined {
    return node !== undefined && hasRules(node.schema) ? new RuleNode(node, node.embedded, this.declared?.element) : undefined;
  }
}

const knownRules = new WeakMap<Schema, boolean>();

/** True when a schema, or one below it, has rules. */
export function hasRules(schema: Schema): boolean {
  let known = knownRules.get(schema);
  if (known === undefined) {
    known =
      (schema['x-kubernetes-validations']?.length ?? 0) > 0 ||
      (schema.items !== undefined && schema.items !== null && hasRules(schema.items)) ||
      (typeof schema.additionalProperties === 'object' && schema.additionalProperties !== null && hasRules(schema.additionalProperties)) ||
      Object.values(schema.properties ?? {}).some(hasRules);
    knownRules.set(schema, known);
  }
  return known;
}

const knownToLookBack = new WeakMap<Schema, boolean>();

/** True when a rule of a schema, or of one below it, may say something else of a value once there is a value before it. */
function looksBack(schema: Schema): boolean {
  let known = knownToLookBack.get(schema);
  if (known === undefined) {
    const { items, additionalProperties: additional, properties = {} } = schema;
    const below = [items, additional, ...Object.values(properties)].filter((each): each is Schema => isJsonObject(each));
    const here = (schema['x-kubernetes-validations'] ?? []).some(
      ({ rule, optionalOldSelf }) => optionalOldSelf || rule.includes('oldSelf'),
    );
    known = here || below.some(looksBack);
    knownToLookBack.set(schema, known);
  }
  return known;
}

/** Where a value stands in the old object: the value it replaces, or the nearest place above that replaces one. */
interface Correlation {
  node?: SchemaNode;
  value?: Json;
  old: OldValue;
  nearest?: Correlation;
}

interface Run {
  found: FieldError[];
  budget: number;
  pace: Pace;
  equal: Map<Json, boolean>;
}

export interface RuleOptions {
  path?: string;
  old?: Json;
  /** False checks every rule anew, whatever did not change. */
  ratchets?: boolean;
  pace: Pace;
  budget?: number;
}

/** Evaluates the rules of a schema on a value. @returns findings, and what is left of the budget (negative: it ran out) */
export function* checkRules(root: RuleNode, value: Json, options: RuleOptions): Sliced<{ found: FieldError[]; budget: number }> {
  const run: Run = { found: [], budget: options.budget ?? OBJECT_BUDGET, pace: options.pace, equal: new Map() };
  const correlated = options.old !== undefined && options.old !== null && options.ratchets !== false;
  const correlation: Correlation = correlated ? { node: root.node, value, old: options.old } : { old: UNCORRELATED };
  yield* visit(run, root, value, options.old, options.path ?? '', correlation);
  return { found: run.found, budget: run.budget };
}

function* visit(run: Run, rules: RuleNode, value: Json, old: Json, path: string, correlation: Correlation): Sliced<void> {
  if (value === null || value === undefined) return;
  if (run.pace.tick()) yield;
  // The very same value as before, as the spec is whenever a status is written: rules know nothing else, so they say the same again.
  const isSame = typeof value === 'object' && value === old;
  const known = isSame ? rules.costOfUnbroken(value) : undefined;
  if (known !== undefined && known <= run.budget) {
    run.budget -= known;
    return;
  }
  const [found, budget] = [run.found.length, run.budget];
  yield* checkHere(run, rules, value, old, path, correlation);
  if (run.budget < 0) return;
  if (Array.isArray(value)) yield* visitItems(run, rules, value, old, path, correlation);
  else if (isJsonObject(value)) yield* visitFields(run, rules, value, old, path, correlation);
  const isKept = isSame || (typeof value === 'object' && old === undefined && !looksBack(rules.node.schema));
  if (isKept && run.found.length === found && run.budget >= 0) rules.setUnbroken(value, budget - run.budget);
}

function* visitItems(run: Run, rules: RuleNode, value: Json[], old: Json, path: string, correlation: Correlation): Sliced<void> {
  const items = rules.items;
  if (items === undefined) return;
  const find = oldItems(rules.node, old);
  for (let at = 0; at < value.length && run.budget >= 0; at++) {
    const found = find?.(value[at]);
    const oldItem = found === UNCORRELATED ? undefined : found;
    yield* visit(run, items, value[at], oldItem, index(path, at), correlateItem(correlation, items.node, value[at], found ?? UNCORRELATED));
  }
}

function correlateItem(above: Correlation, node: SchemaNode, value: Json, old: OldValue): Correlation {
  if (above.old === UNCORRELATED) return above;
  return { node, value, old: old ?? UNCORRELATED, nearest: above };
}

function* visitFields(
  run: Run,
  rules: RuleNode,
  value: Record<string, Json>,
  old: Json,
  path: string,
  correlation: Correlation,
): Sliced<void> {
  const before: Record<string, Json> = isJsonObject(old) ? old : {};
  for (const name of Object.keys(value)) {
    const property = rules.property(name);
    const field = property ?? (rules.node.property(name) === undefined ? rules.additional : undefined);
    if (field === undefined) continue;
    const oldValue = Object.hasOwn(before, name) ? before[name] : undefined;
    const place = property === undefined ? key(path, name) : child(path, name);
    yield* visit(run, field, value[name], oldValue, place, correlateField(correlation, field.node, value, name));
    if (run.budget < 0) return;
  }
}

function correlateField(above: Correlation, node: SchemaNode, object: Record<string, Json>, name: string): Correlation {
  if (above.old === UNCORRELATED) return above;
  // Both states are shown in the same version, so these never change.
  if (above.nearest === undefined && (name === 'apiVersion' || name === 'kind')) return { old: UNCORRELATED };
  return { node, value: object[name], old: oldField(above.node!, object, above.old, name), nearest: above };
}

function isUnchanged(run: Run, correlation: Correlation): boolean {
  const place = correlation.old === UNCORRELATED ? correlation.nearest : correlation;
  return place?.node !== undefined && place.old !== UNCORRELATED && equalsOld(place.node, place.value, place.old, run.equal);
}

function ruleName(rule: ValidationRule): string {
  return (rule.message || rule.rule).trim();
}

const STEPS_PER_RULE = 8;

const OUT_OF_BUDGET = 'validation failed due to running out of cost budget, no further validation rules will be run';

function* checkHere(run: Run, rules: RuleNode, value: Json, old: Json, path: string, correlation: Correlation): Sliced<void> {
  if (rules.ruleCount === 0) return;
  const type = rules.node.schema.type ?? '';
  if (run.budget <= 0) {
    run.found.push(invalidValue(path, type, OUT_OF_BUDGET));
    run.budget = -1;
    return;
  }
  const hasOld = old !== undefined && old !== null;
  const self = fromSchema(value, rules.valueSchema);
  const oldSelf = hasOld ? fromSchema(old, rules.valueSchema) : undefined;
  const plain = new Map<string, CelValue>([['self', self]]);
  if (oldSelf !== undefined) plain.set('oldSelf', oldSelf);
  const optional = new Map<string, CelValue>([
    ['self', self],
    ['oldSelf', oldSelf === undefined ? NONE : new CelOptional(oldSelf)],
  ]);
  for (let at = 0; at < rules.ruleCount; at++) {
    if (run.pace.tick(STEPS_PER_RULE)) yield;
    const each = yield* rules.rule(at, run.pace);
    if (each.error !== undefined) {
      run.found.push(invalidValue(path, type, `rule compile error: ${each.error}`));
      continue;
    }
    if (each.program === undefined || (each.usesOldSelf && !hasOld && !each.rule.optionalOldSelf)) continue;
    const bindings = each.rule.optionalOldSelf ? optional : plain;
    const holds = yield* evaluate(run, each.program, bindings, each.rule, path, type);
    if (run.budget < 0) return;
    if (holds) continue;
    const detail = yield* failureMessage(run, each, plain, path, type);
    const place = each.fieldPath === '' ? path : child(path, each.fieldPath);
    if (detail !== undefined && (each.usesOldSelf || !isUnchanged(run, correlation))) {
      const shown = type === 'object' || type === 'array' ? undefined : value;
      run.found.push(ruleFinding(place, shown, detail, each.rule.reason));
    }
    if (run.budget < 0) return;
  }
}

/** @returns false when the rule does not hold; errors are found here and count as if it did */
function* evaluate(
  run: Run,
  program: CelProgram,
  bindings: ReadonlyMap<string, CelValue>,
  rule: ValidationRule,
  path: string,
  type: string,
): Sliced<boolean> {
  const { value, error, cost, costExceeded } = yield* program.evaluateSliced(bindings, PER_CALL_LIMIT);
  if (cost > run.budget) {
    run.found.push(invalidValue(path, type, OUT_OF_BUDGET));
    run.budget = -1;
    return true;
  }
  run.budget -= cost;
  if (error === undefined) return value === true;
  const name = ruleName(rule);
  if (error.startsWith('no such overload')) {
    const detail = `'${error}': call arguments did not match a supported operator, function or macro signature for rule: ${name}`;
    run.found.push(invalidValue(path, type, detail));
  } else if (costExceeded) {
    const detail = `'${error}': no further validation rules will be run due to call cost exceeds limit for rule: ${name}`;
    run.found.push(invalidValue(path, type, detail));
    run.budget = -1;
  } else run.found.push(invalidValue(path, type, `${error} evaluating rule: ${name}`));
  return true;
}

const LONGEST_MESSAGE = 5 * 1024;

/** The text of a broken rule. Undefined when computing it used up the budget, which is then what was found. */
function* failureMessage(
  run: Run,
  compiled: CompiledRule,
  bindings: ReadonlyMap<string, CelValue>,
  path: string,
  type: string,
): Sliced<string | undefined> {
  const { rule, message } = compiled;
  const otherwise = rule.message ? rule.message.trim() : `failed rule: ${ruleName(rule)}`;
  if (message === undefined) return otherwise;
  const { value, cost, costExceeded } = yield* message.evaluateSliced(bindings, PER_CALL_LIMIT);
  if (cost > run.budget || costExceeded) {
    const detail = costExceeded
      ? `no further validation rules will be run due to call cost exceeds limit for messageExpression: ${quote(rule.messageExpression ?? '')}`
      : 'messageExpression evaluation failed due to running out of cost budget, no further validation rules will be run';
    run.found.push(invalidValue(path, type, detail));
    run.budget = -1;
    return undefined;
  }
  run.budget -= cost;
  const text = typeof value === 'string' ? value.trim() : '';
  return text === '' || text.includes('\n') || Buffer.byteLength(text) > LONGEST_MESSAGE ? otherwise : text;
}

function ruleFinding(path: string, value: Json, detail: string, reason: string | undefined): FieldError {
  switch (reason ?? '') {
    case 'FieldValueForbidden':
      return forbiddenValue(path, detail);
    case 'FieldValueRequired':
      return requiredValue(path, detail);
    case 'FieldValueDuplicate':
      return value === undefined ? { ...duplicateValue(path, ''), message: 'Duplicate value' } : duplicateValue(path, value);
    default:
      return value === undefined
        ? { ...invalidValue(path, '', detail), message: `Invalid value: ${detail}` }
        : invalidValue(path, value, detail);
  }
}
