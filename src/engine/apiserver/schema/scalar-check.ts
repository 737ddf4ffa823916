import { printNumber } from '../../../kube/go-text.ts';
import type { Json } from '../../../kube/object.ts';
import { formatCheck } from './formats.ts';
import type { SchemaNode } from './schema-node.ts';
import { runToEnd, type Pace, type Sliced } from './slices.ts';
import { boundText, tooLong, wrongType, wrongValue, type ValueFindings, type ValuePath } from './value-findings.ts';

/** Go holds a JSON number without fraction as int64 when it fits, else as float64. */
export function isIntegral(value: number): boolean {
  return Number.isInteger(value) && value >= -(2 ** 63) && value < 2 ** 63;
}

const LARGEST_EXACT = Number.MAX_SAFE_INTEGER;

/** swag.IsFloat64AJSONInteger: within rounding of a whole number that JSON carries exactly. */
function isNearlyInteger(value: number): boolean {
  if (!Number.isFinite(value) || Math.abs(value) > LARGEST_EXACT) return false;
  const whole = Math.trunc(value);
  if (whole === value) return true;
  return whole !== 0 && Math.abs(value - whole) / (Math.abs(value) + Math.abs(whole)) < 1e-9;
}

function jsonType(value: Json): { type: string; format: string } {
  if (typeof value === 'number') return isIntegral(value) ? { type: 'integer', format: 'int64' } : { type: 'number', format: 'float64' };
  if (typeof value === 'object') return { type: Array.isArray(value) ? 'array' : 'object', format: '' };
  return { type: typeof value, format: '' };
}

/** @returns 1 when the type fits, 0 after a finding: what kube-openapi adds to its count of matches */
export function checkType(path: ValuePath, findings: ValueFindings, node: SchemaNode, value: Json): number {
  const { types, format } = node;
  if (value === null) {
    if (types.length === 0 || node.nullable) return 1;
    wrongType(path, findings, types.join(','), 'null');
    return 0;
  }
  const actual = jsonType(value);
  const fits =
    types.includes(actual.type) ||
    (actual.type === 'number' && types.includes('integer') && isNearlyInteger(value)) ||
    (actual.type === 'integer' && types.includes('number'));
  const isText = actual.type === 'string' || actual.type === 'array';
  if (format !== '' && !isText && !fits && actual.format !== format) {
    wrongType(path, findings, format, actual.format);
    return 0;
  }
  // Upstream trusts a format to check the type of texts and lists.
  if (format !== '' && isText && !types.includes('number') && !types.includes('integer')) return 1;
  if (fits) return 1;
  wrongType(path, findings, types.join(','), actual.type);
  return 0;
}

/** Characters times instructions of a pattern, beyond which matching pauses. */
const LONG_MATCH = 20_000;

/** True when the value is a string that its pattern should be matched with in slices, with `matchPattern`. */
export function needsLongMatch(node: SchemaNode, value: Json, pace: Pace): value is string {
  if (typeof value !== 'string' || !node.schema.pattern || value.length < 64) return false;
  const { maxLength } = node.schema;
  if (typeof maxLength === 'number' && exceedsLength(value, maxLength)) return false;
  return value.length * (node.pattern(pace)?.size ?? 0) > LONG_MATCH;
}

export function* matchPattern(node: SchemaNode, value: string, pace: Pace): Sliced<boolean> {
  const pattern = node.pattern(pace);
  return pattern === undefined || (yield* pattern.test(value, pace));
}

/**
 * @param matches whether the value matches the pattern, when that is known
 * @returns the matches that kube-openapi counts for the checks of strings or numbers that applied
 */
export function checkScalar(
  path: ValuePath,
  findings: ValueFindings,
  node: SchemaNode,
  value: Json,
  pace: Pace,
  matches?: boolean,
): number {
  if (typeof value === 'string') return checkString(path, findings, node, value, pace, matches);
  if (typeof value === 'number') {
    checkNumber(path, findings, node, value);
    return 2;
  }
  return 0;
}

function checkString(
  path: ValuePath,
  findings: ValueFindings,
  node: SchemaNode,
  value: string,
  pace: Pace,
  matches: boolean | undefined,
): number {
  const { maxLength, minLength, pattern } = node.schema;
  if (typeof maxLength === 'number' && exceedsLength(value, maxLength)) tooLong(path, findings, maxLength);
  else if (typeof minLength === 'number' && (value.length < minLength || runeCount(value) < minLength)) {
    wrongValue(path, findings, value, `should be at least ${minLength} chars long`);
  } else if (pattern && !(matches ?? runToEnd(matchPattern(node, value, pace))))
    wrongValue(path, findings, value, `should match '${pattern}'`);
  if (node.format === '') return 1;
  if (!formatCheck(node.format)?.(value)) wrongType(path, findings, node.format, value);
  return 2;
}

function exceedsLength(value: string, max: number): boolean {
  // A rune is one or two code units, so most texts need no counting.
  if (value.length <= max) return false;
  return value.length > max * 2 || runeCount(value) > max;
}

export function runeCount(value: string): number {
  let count = value.length;
  for (let position = 0; position < value.length - 1; position++) {
    const unit = value.charCodeAt(position);
    if (unit < 0xd800 || unit > 0xdbff) continue;
    const next = value.charCodeAt(position + 1);
    if (next >= 0xdc00 && next <= 0xdfff) {
      count--;
      position++;
    }
  }
  return count;
}

function checkNumber(path: ValuePath, findings: ValueFindings, node: SchemaNode, value: number): void {
  const { multipleOf, minimum, maximum, exclusiveMinimum, exclusiveMaximum } = node.schema;
  const integer = isIntegral(value);
  if (typeof multipleOf === 'number') checkMultiple(path, findings, value, multipleOf, integer);
  if (typeof minimum === 'number') {
    const bound = integer ? Math.trunc(minimum) : minimum;
    if (exclusiveMinimum ? value <= bound : value < bound) {
      wrongValue(path, findings, value, `should be greater than ${exclusiveMinimum ? '' : 'or equal to '}${boundText(bound, integer)}`);
    }
  }
  if (typeof maximum === 'number') {
    const bound = integer ? Math.trunc(maximum) : maximum;
    if (exclusiveMaximum ? value >= bound : value > bound) {
      wrongValue(path, findings, value, `should be less than ${exclusiveMaximum ? '' : 'or equal to '}${boundText(bound, integer)}`);
    }
  }
}

function checkMultiple(path: ValuePath, findings: ValueFindings, value: number, multipleOf: number, integer: boolean): void {
  const factor = integer ? Math.trunc(multipleOf) : multipleOf;
  if (factor <= 0) {
    const text = `factor MultipleOf declared for ${path.text} must be positive: ${printNumber(factor)}`;
    findings.add(text, {
      type: 'FieldValueInvalid',
      field: path.field || '<nil>',
      message: `Invalid value: ${printNumber(factor)}: ${text}`,
    });
    return;
  }
  const quotient = !integer && factor < 1 ? (1 / factor) * value : value / factor;
  const divides = integer ? value % factor === 0 : isNearlyInteger(quotient);
  if (!divides) wrongValue(path, findings, value, `should be a multiple of ${boundText(factor, integer)}`);
}
