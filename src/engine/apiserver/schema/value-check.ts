import type { FieldError } from '../../../kube/field-error.ts';
import { isJsonObject } from '../../../kube/json-value.ts';
import type { Json } from '../../../kube/object.ts';
import { equalsOld, oldField, oldItems, UNCORRELATED, type OldValue } from './correlation.ts';
import type { SchemaNode } from './schema-node.ts';
import { checkScalar, checkType, matchPattern, needsLongMatch } from './scalar-check.ts';
import { Pace, type Sliced } from './slices.ts';
import { forbiddenProperty, junctorFailed, missing, notInEnum, tooMany, ValueFindings, ValuePath, wrongValue } from './value-findings.ts';

/**
 * Checks a value against a schema as kube-openapi's validator does: same rules, same order, same texts, and the same choice of
 * the alternative that came closest in anyOf and oneOf, which needs its count of checks passed.
 */
export interface ValueCheckOptions {
  /** The value is this field of the object: '' for the whole. */
  base?: string;
  /** The accepted state: findings about what did not change are let pass. */
  old?: OldValue;
  pace?: Pace;
}

export function* checkValue(node: SchemaNode, value: Json, options: ValueCheckOptions = {}): Sliced<FieldError[]> {
  const run: Run = {
    path: new ValuePath(options.base ?? ''),
    findings: new ValueFindings(),
    matches: 0,
    pace: options.pace ?? new Pace(),
    equal: new Map(),
  };
  yield* checkRatcheted(run, node, value, options.old ?? UNCORRELATED);
  return run.findings.all;
}

interface Run {
  readonly path: ValuePath;
  findings: ValueFindings;
  /** Checks passed, by which kube-openapi compares failed alternatives. */
  matches: number;
  readonly pace: Pace;
  readonly equal: Map<Json, boolean>;
}

function* checkRatcheted(run: Run, node: SchemaNode, value: Json, old: OldValue): Sliced<void> {
  // The very same value was accepted before: whatever were found about it would be let pass.
  if (value === old) return;
  const mark = run.findings.length;
  yield* checkNode(run, node, value, old);
  if (run.findings.length > mark && old !== UNCORRELATED && equalsOld(node, value, old, run.equal)) run.findings.truncate(mark);
}

/** Values without structure below them need no generator: they are most of an object. */
function isLeaf(node: SchemaNode, value: Json): boolean {
  return (typeof value !== 'object' || value === null) && !node.hasJunctors;
}

function* checkChild(run: Run, node: SchemaNode, value: Json, old: OldValue): Sliced<void> {
  if (run.pace.tick()) yield;
  if (value === old) return;
  if (!isLeaf(node, value) || needsLongMatch(node, value, run.pace)) yield* checkRatcheted(run, node, value, old);
  else checkLeaf(run, node, value);
}

function checkLeaf(run: Run, node: SchemaNode, value: Json, matches?: boolean): void {
  if (value === null) {
    run.matches += checkType(run.path, run.findings, node, value);
    checkEnum(run, node, value);
    return;
  }
  if (node.types.length > 0 || node.format !== '') run.matches += 1 + checkType(run.path, run.findings, node, value);
  run.matches += 2; // the junctor check, empty here, with its own count
  run.matches += checkScalar(run.path, run.findings, node, value, run.pace, matches);
  checkEnum(run, node, value);
  run.matches += 2;
}

function* checkNode(run: Run, node: SchemaNode, value: Json, old: OldValue): Sliced<void> {
  const matches = needsLongMatch(node, value, run.pace) ? yield* matchPattern(node, value, run.pace) : undefined;
  if (isLeaf(node, value) || value === null) {
    checkLeaf(run, node, value, matches);
    return;
  }
  if (node.types.length > 0 || node.format !== '') run.matches += 1 + checkType(run.path, run.findings, node, value);
  if (node.hasJunctors) yield* checkJunctors(run, node, value);
  run.matches += 2;
  if (Array.isArray(value)) {
    yield* checkItems(run, node, value, old);
    run.matches += 2;
  } else if (typeof value !== 'object') {
    run.matches += checkScalar(run.path, run.findings, node, value, run.pace, matches);
  }
  checkEnum(run, node, value);
  run.matches++;
  if (isJsonObject(value)) {
    yield* checkFields(run, node, value, old);
    run.matches++;
  }
  run.matches++;
}

function checkEnum(run: Run, node: SchemaNode, value: Json): void {
  const allowed = node.schema.enum;
  if (allowed === undefined || allowed.length === 0) return;
  if (!node.isListed(value)) notInEnum(run.path, run.findings, value, allowed);
}

function sorted(value: Json): Json {
  if (Array.isArray(value)) return value.map(sorted);
  if (!isJsonObject(value)) return value;
  return Object.keys(value)
    .sort()
    .map((name) => [name, sorted(value[name])]);
}

function* checkItems(run: Run, node: SchemaNode, value: Json[], old: OldValue): Sliced<void> {
  const items = node.items;
  if (items !== undefined) {
    const find = old === UNCORRELATED ? undefined : oldItems(node, old);
    for (let position = 0; position < value.length; position++) {
      run.path.segments.push(position);
      const oldItem = find === undefined ? UNCORRELATED : find(value[position]);
      yield* checkChild(run, items, value[position], oldItem ?? UNCORRELATED);
      run.path.segments.pop();
    }
  }
  const { minItems, maxItems, uniqueItems } = node.schema;
  if (typeof minItems === 'number' && value.length < minItems) {
    wrongValue(run.path, run.findings, value.length, `should have at least ${minItems} items`);
  }
  if (typeof maxItems === 'number' && value.length > maxItems) tooMany(run.path, run.findings, 'items', value.length, maxItems);
  if (uniqueItems && new Set(value.map((item) => JSON.stringify(sorted(item)))).size < value.length) {
    wrongValue(run.path, run.findings, '', "shouldn't contain duplicates");
  }
}

function* checkFields(run: Run, node: SchemaNode, value: Record<string, Json>, old: OldValue): Sliced<void> {
  const { minProperties, maxProperties, required, additionalProperties } = node.schema;
  const names = Object.keys(value);
  if (typeof minProperties === 'number' && names.length < minProperties) {
    wrongValue(run.path, run.findings, names.length, `should have at least ${minProperties} properties`);
  }
  if (typeof maxProperties === 'number' && names.length > maxProperties) {
    tooMany(run.path, run.findings, 'properties', names.length, maxProperties);
  }
  const segments = run.path.segments;
  const isRoot = segments.length === 0;
  for (const name of names) {
    const property = node.property(name);
    if (property === undefined && additionalProperties === false) forbiddenProperty(run.path, run.findings, name);
    const field = property ?? node.additional;
    if (field === undefined) {
      if (run.pace.tick()) yield;
      continue;
    }
    // kube-openapi joins additional keys with a dot even where there is nothing before it.
    if (property === undefined && isRoot) segments.push('');
    segments.push(name);
    const ratchets = old !== UNCORRELATED && !(isRoot && (name === 'kind' || name === 'apiVersion'));
    yield* checkChild(run, field, value[name], ratchets ? oldField(node, value, old, name) : UNCORRELATED);
    segments.pop();
    if (property === undefined && isRoot) segments.pop();
  }
  if (required !== undefined && run.pace.tick(required.length)) yield;
  for (const name of required ?? []) {
    if (!Object.hasOwn(value, name)) missing(run.path, run.findings, name);
  }
}

const STEPS_PER_FINDING = 16;

/** Runs one alternative on its own; returns its findings and what it matched. Nothing in a junctor is let pass for being old. */
function* checkAlternative(run: Run, node: SchemaNode, value: Json): Sliced<{ findings: ValueFindings; matches: number }> {
  if (run.pace.tick()) yield;
  const outer = { findings: run.findings, matches: run.matches };
  run.findings = new ValueFindings();
  run.matches = 0;
  yield* checkNode(run, node, value, UNCORRELATED);
  const result = { findings: run.findings, matches: run.matches };
  // Findings take much longer than the checks that lead to them, and most of those in alternatives are dropped.
  if (result.findings.length > 0 && run.pace.tick(result.findings.length * STEPS_PER_FINDING)) yield;
  run.findings = outer.findings;
  run.matches = outer.matches;
  return result;
}

function* checkJunctors(run: Run, node: SchemaNode, value: Json): Sliced<void> {
  const { allOf, anyOf, oneOf, not } = node.junctors;
  if (anyOf.length > 0) yield* checkAnyOf(run, anyOf, value);
  if (oneOf.length > 0) yield* checkOneOf(run, oneOf, value);
  if (allOf.length > 0) yield* checkAllOf(run, allOf, value);
  if (not !== undefined) {
    const result = yield* checkAlternative(run, not, value);
    if (result.findings.length === 0) junctorFailed(run.path, run.findings, 'must not validate the schema (not)');
  }
}

function* checkAnyOf(run: Run, alternatives: readonly SchemaNode[], value: Json): Sliced<void> {
  let best: { findings: ValueFindings; matches: number } | undefined;
  for (const alternative of alternatives) {
    const result = yield* checkAlternative(run, alternative, value);
    if (result.findings.length === 0) {
      run.matches += result.matches;
      return;
    }
    if (best === undefined || result.matches > best.matches) best = result;
  }
  junctorFailed(run.path, run.findings, 'must validate at least one schema (anyOf)');
  keep(run, best);
}

function* checkOneOf(run: Run, alternatives: readonly SchemaNode[], value: Json): Sliced<void> {
  let best: { findings: ValueFindings; matches: number } | undefined;
  let first: { findings: ValueFindings; matches: number } | undefined;
  let valid = 0;
  for (const alternative of alternatives) {
    const result = yield* checkAlternative(run, alternative, value);
    if (result.findings.length === 0) {
      valid++;
      first ??= result;
      best = undefined;
    } else if (valid === 0 && (best === undefined || result.matches > best.matches)) {
      best = result;
    }
  }
  if (valid === 1) {
    run.matches += first?.matches ?? 0;
    return;
  }
  const count = valid === 0 ? 'Found none valid' : `Found ${valid} valid alternatives`;
  junctorFailed(run.path, run.findings, `must validate one and only one schema (oneOf). ${count}`);
  keep(run, best);
}

function* checkAllOf(run: Run, alternatives: readonly SchemaNode[], value: Json): Sliced<void> {
  let valid = 0;
  for (const alternative of alternatives) {
    const result = yield* checkAlternative(run, alternative, value);
    if (result.findings.length === 0) valid++;
    keep(run, result);
  }
  if (valid === alternatives.length) return;
  junctorFailed(run.path, run.findings, `must validate all the schemas (allOf)${valid === 0 ? '. None validated' : ''}`);
}

function keep(run: Run, result: { findings: ValueFindings; matches: number } | undefined): void {
  if (result === undefined) return;
  run.findings.addAll(result.findings);
  run.matches += result.matches;
}
