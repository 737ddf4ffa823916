import type { Json } from '../../../../kube/object.ts';
import type { Findings } from '../findings.ts';
import { checkNonnegative, checkQualifiedName } from '../formats.ts';
import type { Path } from '../path.ts';
import { countIndexes } from './job-indexes.ts';

const ACTIONS = ['Count', 'FailIndex', 'FailJob', 'Ignore'];
const OPERATORS = ['In', 'NotIn'];
const STATUSES = ['False', 'True', 'Unknown'];
const MAX_RULES = 20;
const MAX_EXIT_CODES = 255;
const MAX_PATTERNS = 20;
const MAX_INDEXES_LENGTH = 64 * 1024;

/** `%q` of a list. */
function quoted(values: string[]): string {
  return `valid values: [${values.map((value) => `"${value}"`).join(' ')}]`;
}

function checkChoice(out: Findings, value: string, supported: string[], at: Path): void {
  if (value === '') out.required(at, quoted(supported));
  else if (!supported.includes(value)) out.notSupported(at, value, supported);
}

export function checkPodFailurePolicy(out: Findings, spec: Json, at: Path): void {
  const rules: Json[] = spec.podFailurePolicy.rules ?? [];
  const rulesAt = at.child('rules');
  if (rules.length > MAX_RULES) out.tooMany(rulesAt, rules.length, MAX_RULES);
  const { containers = [], initContainers = [] } = spec.template?.spec ?? {};
  const names = new Set<string>([...containers, ...initContainers].map((c: Json) => c.name ?? ''));
  rules.forEach((rule, i) => checkFailureRule(out, rule, spec, names, rulesAt.index(i)));
}

function checkFailureRule(out: Findings, rule: Json, spec: Json, names: Set<string>, at: Path): void {
  const { action = '', onExitCodes, onPodConditions = [] } = rule;
  if (action === 'FailIndex') {
    if (spec.backoffLimitPerIndex === undefined) out.invalid(at.child('action'), action, 'requires the backoffLimitPerIndex to be set');
  } else checkChoice(out, action, ACTIONS, at.child('action'));
  if (onExitCodes !== undefined) checkExitCodes(out, onExitCodes, names, at.child('onExitCodes'));
  if (onPodConditions.length > 0) checkPatterns(out, onPodConditions, at.child('onPodConditions'));
  if (onExitCodes !== undefined && onPodConditions.length > 0) {
    out.invalidOmitted(at, 'specifying both OnExitCodes and OnPodConditions is not supported');
  }
  if (onExitCodes === undefined && onPodConditions.length === 0) {
    out.invalidOmitted(at, 'specifying one of OnExitCodes and OnPodConditions is required');
  }
}

function checkPatterns(out: Findings, patterns: Json[], at: Path): void {
  if (patterns.length > MAX_PATTERNS) out.tooMany(at, patterns.length, MAX_PATTERNS);
  patterns.forEach(({ type = '', status = '' }, i) => {
    checkQualifiedName(out, type, at.index(i).child('type'));
    checkChoice(out, status, STATUSES, at.index(i).child('status'));
  });
}

function checkExitCodes(out: Findings, requirement: Json, names: Set<string>, at: Path): void {
  const { operator = '', containerName, values = [] } = requirement;
  checkChoice(out, operator, OPERATORS, at.child('operator'));
  if (containerName !== undefined && !names.has(containerName)) {
    const detail = 'must be one of the container or initContainer names in the pod template';
    out.invalid(at.child('containerName'), containerName, detail);
  }
  const valuesAt = at.child('values');
  if (values.length === 0) out.invalid(valuesAt, requirement.values, 'at least one value is required');
  else if (values.length > MAX_EXIT_CODES) out.tooMany(valuesAt, values.length, MAX_EXIT_CODES);
  const seen = new Set<number>();
  let ordered = true;
  values.forEach((value: number, i: number) => {
    if (operator === 'In' && value === 0) out.invalid(valuesAt.index(i), value, 'must not be 0 for the In operator');
    if (seen.has(value)) out.duplicate(valuesAt.index(i), value);
    seen.add(value);
    if (i > 0 && values[i - 1] > value) ordered = false;
  });
  if (!ordered) out.invalid(valuesAt, values, 'must be ordered');
}

export function checkSuccessPolicy(out: Findings, spec: Json, at: Path): void {
  const rules: Json[] = spec.successPolicy.rules ?? [];
  const rulesAt = at.child('rules');
  if (rules.length === 0) out.required(rulesAt, 'at least one rules must be specified when the successPolicy is specified');
  if (rules.length > MAX_RULES) out.tooMany(rulesAt, rules.length, MAX_RULES);
  rules.forEach((rule, i) => checkSuccessRule(out, rule, spec.completions ?? 0, rulesAt.index(i)));
}

function checkSuccessRule(out: Findings, rule: Json, completions: number, at: Path): void {
  const { succeededCount: count, succeededIndexes: indexes } = rule;
  if (count === undefined && indexes === undefined) {
    out.required(at, 'at least one of succeededCount or succeededIndexes must be specified');
  }
  let total = 0;
  if (indexes !== undefined) {
    const indexesAt = at.child('succeededIndexes');
    if (indexes.length > MAX_INDEXES_LENGTH) out.tooLong(indexesAt, MAX_INDEXES_LENGTH);
    const parsed = countIndexes(indexes, completions);
    if (typeof parsed === 'string') out.invalid(indexesAt, indexes, `error parsing succeededIndexes: ${parsed}`);
    else total = parsed;
  }
  if (count === undefined) return;
  const countAt = at.child('succeededCount');
  checkNonnegative(out, count, countAt);
  if (count > completions) {
    out.invalid(countAt, count, `must be less than or equal to ${completions} (the number of specified completions)`);
  }
  if (indexes !== undefined && count > total) {
    const what = 'the number of indexes in the specified succeededIndexes field';
    out.invalid(countAt, count, `must be less than or equal to ${total} (${what})`);
  }
}
