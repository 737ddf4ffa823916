import { forbidden, invalid, fieldErrorText, notSupported, required, type FieldError } from './field-error.ts';
import { compareText, quote } from './go-text.ts';
import { parseLabelRequirements } from './label-selector-parser.ts';
import { validateLabels } from './metadata-validation.ts';
import { isLabelValue, isQualifiedName } from './names.ts';
import { badRequestError } from './status.ts';

export type Labels = Readonly<Record<string, string>> | undefined;

export type LabelOperator = 'in' | 'notin' | '=' | '==' | '!=' | 'gt' | 'lt' | 'exists' | '!';

export interface LabelRequirement {
  key: string;
  operator: LabelOperator;
  values: string[];
}

/** A selector as it stands in objects (`spec.selector` of a Deployment). */
export interface LabelSelector {
  matchLabels?: Record<string, string>;
  matchExpressions?: LabelExpression[];
}

export interface LabelExpression {
  key: string;
  operator: string;
  values?: string[];
}

/** A selector ready to be used. */
export interface LabelMatcher {
  readonly requirements: readonly LabelRequirement[];
  /** Selects everything. */
  readonly empty: boolean;
  matches(labels: Labels): boolean;
  /** The query syntax, requirements ordered by key. */
  toString(): string;
}

const NOTHING: LabelMatcher = { requirements: [], empty: false, matches: () => false, toString: () => '' };

function integer(text: string): bigint | undefined {
  if (!/^[+-]?\d{1,19}$/.test(text)) return undefined;
  const value = BigInt(text.startsWith('+') ? text.slice(1) : text);
  return BigInt.asIntN(64, value) === value ? value : undefined;
}

/** Labels come from JSON, where a key such as `constructor` is inherited: only strings are labels. */
function compile({ key, operator, values }: LabelRequirement): (labels: Record<string, unknown>) => boolean {
  const [first] = values;
  switch (operator) {
    case '=':
    case '==':
      return (labels) => labels[key] === first;
    case '!=':
      return (labels) => labels[key] !== first;
    case 'in':
      return (labels) => typeof labels[key] === 'string' && values.includes(labels[key]);
    case 'notin':
      return (labels) => !(typeof labels[key] === 'string' && values.includes(labels[key]));
    case 'exists':
      return (labels) => typeof labels[key] === 'string';
    case '!':
      return (labels) => typeof labels[key] !== 'string';
    case 'gt':
    case 'lt': {
      const limit = integer(first);
      return (labels) => {
        const value = typeof labels[key] === 'string' ? integer(labels[key]) : undefined;
        if (value === undefined || limit === undefined) return false;
        return operator === 'gt' ? value > limit : value < limit;
      };
    }
    default: {
      const impossible: never = operator;
      throw new Error(`Cannot compile the selector operator "${String(impossible)}": it does not exist`);
    }
  }
}

function printRequirement({ key, operator, values }: LabelRequirement): string {
  if (operator === 'exists') return key;
  if (operator === '!') return `!${key}`;
  const sorted = values.length > 1 ? [...values].sort(compareText).join(',') : (values[0] ?? '');
  if (operator === 'in' || operator === 'notin') return `${key} ${operator} (${sorted})`;
  return `${key}${operator === 'gt' ? '>' : operator === 'lt' ? '<' : operator}${sorted}`;
}

const NO_LABELS: Record<string, string> = Object.freeze({});

function matcherOf(unsorted: LabelRequirement[]): LabelMatcher {
  const requirements = unsorted.sort((a, b) => compareText(a.key, b.key));
  const checks = requirements.map(compile);
  const [only] = checks;
  const matches =
    checks.length === 0
      ? () => true
      : checks.length === 1
        ? (labels: Labels) => only(labels ?? NO_LABELS)
        : (labels: Labels) => checks.every((check) => check(labels ?? NO_LABELS));
  return { requirements, empty: checks.length === 0, matches, toString: () => requirements.map(printRequirement).join(',') };
}

const VALUE_COUNTS: Record<LabelOperator, { fits(count: number): boolean; message: string }> = (() => {
  const set = { fits: (n: number) => n > 0, message: "for 'in', 'notin' operators, values set can't be empty" };
  const exact = { fits: (n: number) => n === 1, message: 'exact-match compatibility requires one single value' };
  const none = { fits: (n: number) => n === 0, message: 'values set must be empty for exists and does not exist' };
  const number = { fits: (n: number) => n === 1, message: "for 'Gt', 'Lt' operators, exactly one value is required" };
  return { in: set, notin: set, '=': exact, '==': exact, '!=': exact, exists: none, '!': none, gt: number, lt: number };
})();

const OPERATORS: LabelOperator[] = ['in', 'notin', '=', '==', '!=', 'gt', 'lt', 'exists', '!'];

/** What is wrong with a requirement of the query syntax. */
export function validateLabelRequirement({ key, operator, values }: LabelRequirement): FieldError[] {
  const errors: FieldError[] = [];
  const keyMessages = isQualifiedName(key);
  if (keyMessages.length > 0) errors.push(invalid('key', key, keyMessages.join('; ')));
  const count = VALUE_COUNTS[operator];
  if (!count) errors.push(notSupported('operator', operator, OPERATORS));
  else if (!count.fits(values.length)) errors.push(invalid('values', values, count.message));
  values.forEach((value, i) => {
    if ((operator === 'gt' || operator === 'lt') && integer(value) === undefined) {
      errors.push(invalid(`values[${i}]`, value, "for 'Gt', 'Lt' operators, the value must be an integer"));
    }
  });
  values.forEach((value, i) => {
    const messages = isLabelValue(value);
    if (messages.length > 0) errors.push(invalid(`values[${i}][${key}]`, value, messages.join('; ')));
  });
  return errors;
}

function checked(requirement: LabelRequirement): LabelRequirement {
  const errors = validateLabelRequirement(requirement);
  if (errors.length === 0) return requirement;
  const texts = [...new Set(errors.map(fieldErrorText))];
  throw badRequestError(texts.length === 1 ? texts[0] : `[${texts.join(', ')}]`);
}

/** Reads the `labelSelector` query syntax. @throws StatusError BadRequest in Kubernetes' words. */
export function parseLabelSelector(text: string): LabelMatcher {
  return matcherOf(text === '' ? [] : parseLabelRequirements(text, checked));
}

/** All labels must have exactly these values; an empty set selects everything (Services and ReplicationControllers decide otherwise themselves). */
export function labelSetSelector(labels: Record<string, string> | undefined): LabelMatcher {
  return matcherOf(Object.entries(labels ?? {}).map(([key, value]) => ({ key, operator: '=', values: [value] })));
}

const EXPRESSION_OPERATORS: Record<string, LabelOperator> = { In: 'in', NotIn: 'notin', Exists: 'exists', DoesNotExist: '!' };

/** No selector selects nothing, an empty one everything. @throws StatusError BadRequest when it is not valid. */
export function labelSelectorMatcher(selector: LabelSelector | undefined): LabelMatcher {
  if (!selector) return NOTHING;
  const requirements: LabelRequirement[] = [];
  for (const [key, value] of Object.entries(selector.matchLabels ?? {})) {
    requirements.push(checked({ key, operator: '=', values: [value] }));
  }
  for (const { key, operator, values } of selector.matchExpressions ?? []) {
    const known = Object.hasOwn(EXPRESSION_OPERATORS, operator) ? EXPRESSION_OPERATORS[operator] : undefined;
    if (!known) throw badRequestError(`${quote(operator)} is not a valid label selector operator`);
    requirements.push(checked({ key, operator: known, values: values ?? [] }));
  }
  return matcherOf(requirements);
}

/** For columns and `describe`: `<none>` when nothing is said, `<error>` when it cannot be read. */
export function formatLabelSelector(selector: LabelSelector | undefined): string {
  try {
    return labelSelectorMatcher(selector).toString() || '<none>';
  } catch {
    return '<error>';
  }
}

/** `allowInvalidValues` for updates of objects that were stored with invalid values before they were refused. */
export function validateLabelSelector(
  selector: LabelSelector | undefined,
  field: string,
  options: { allowInvalidValues?: boolean } = {},
): FieldError[] {
  if (!selector) return [];
  const errors = validateLabels(selector.matchLabels, `${field}.matchLabels`);
  (selector.matchExpressions ?? []).forEach((expression, i) => {
    errors.push(...validateExpression(expression, `${field}.matchExpressions[${i}]`, options.allowInvalidValues ?? false));
  });
  return errors;
}

function validateExpression({ key, operator, values = [] }: LabelExpression, field: string, anyValue: boolean): FieldError[] {
  const errors: FieldError[] = [];
  if (operator === 'In' || operator === 'NotIn') {
    if (values.length === 0) errors.push(required(`${field}.values`, "must be specified when `operator` is 'In' or 'NotIn'"));
  } else if (operator === 'Exists' || operator === 'DoesNotExist') {
    const detail = "may not be specified when `operator` is 'Exists' or 'DoesNotExist'";
    if (values.length > 0) errors.push(forbidden(`${field}.values`, detail));
  } else errors.push(invalid(`${field}.operator`, operator, 'not a valid selector operator'));
  errors.push(...isQualifiedName(key).map((message) => invalid(`${field}.key`, key, message)));
  if (!anyValue) {
    values.forEach((value, i) => errors.push(...isLabelValue(value).map((message) => invalid(`${field}.values[${i}]`, value, message))));
  }
  return errors;
}
