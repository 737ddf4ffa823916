import type { FieldError, FieldErrorType } from '../../../kube/field-error.ts';
import { printNumber, quote } from '../../../kube/go-text.ts';
import { cut, goJsonCut } from './go-print.ts';

/**
 * Findings whose text shows a value the way Go prints it. A path is plain text built with `child`, `key` and `index`;
 * the empty path is Go's nil path, which prints as `<nil>`.
 */
export function child(path: string, name: string): string {
  return path === '' ? shortName(name) : `${path}.${shortName(name)}`;
}

export function key(path: string, name: string): string {
  return `${path}[${shortName(name)}]`;
}

const LONGEST_NAME = 1000;

/** Names of fields are as long as the client likes, and each finding repeats them. */
export function shortName(name: string): string {
  return cut(name, LONGEST_NAME);
}

export function index(path: string, position: number): string {
  return `${path}[${position}]`;
}

/** A value standing for a Go struct: its fields are printed in the order they are listed. */
export class GoStruct {
  readonly fields: Record<string, unknown>;

  constructor(fields: Record<string, unknown>) {
    this.fields = fields;
  }
}

const LONGEST_PATH = 4096;
const LONGEST_MESSAGE = 65_536;
/** Enough to show what is wrong; a hostile object cannot make the answer larger than itself. */
export const MOST_FINDINGS = 1000;
const MOST_TEXT = 512 * 1024;

/** As many findings as fit into an answer. */
export function fitAnswer(found: FieldError[]): FieldError[] {
  let text = 0;
  const end = found.findIndex((each) => (text += each.field.length + each.message.length) > MOST_TEXT);
  return found.slice(0, Math.max(1, Math.min(end < 0 ? found.length : end, MOST_FINDINGS)));
}

function printBadValue(value: unknown): string {
  if (typeof value === 'string') return quote(cut(value));
  if (typeof value === 'number') return printNumber(value);
  return value instanceof GoStruct ? goJsonCut(value.fields, false) : goJsonCut(value);
}

function finding(type: FieldErrorType, path: string, message: string): FieldError {
  return { type, field: path === '' ? '<nil>' : cut(path, LONGEST_PATH), message: cut(message, LONGEST_MESSAGE) };
}

export function invalidValue(path: string, value: unknown, detail: string): FieldError {
  return finding('FieldValueInvalid', path, `Invalid value: ${printBadValue(value)}: ${detail}`);
}

export function invalidType(path: string, value: unknown, detail: string): FieldError {
  return finding('FieldValueTypeInvalid', path, `Invalid value: ${printBadValue(value)}: ${detail}`);
}

export function requiredValue(path: string, detail = ''): FieldError {
  return finding('FieldValueRequired', path, detail === '' ? 'Required value' : `Required value: ${detail}`);
}

export function forbiddenValue(path: string, detail: string): FieldError {
  return finding('FieldValueForbidden', path, `Forbidden: ${detail}`);
}

export function duplicateValue(path: string, value: unknown): FieldError {
  return finding('FieldValueDuplicate', path, `Duplicate value: ${printBadValue(value)}`);
}

export function unsupportedValue(path: string, value: unknown, supported: readonly string[]): FieldError {
  const list = supported.length === 0 ? '' : `: supported values: ${supported.map(quote).join(', ')}`;
  return finding('FieldValueNotSupported', path, `Unsupported value: ${printBadValue(value)}${list}`);
}

export function tooLongValue(path: string, max: number): FieldError {
  return finding('FieldValueTooLong', path, `Too long: may not be more than ${max} ${max === 1 ? 'byte' : 'bytes'}`);
}

export function tooManyValues(path: string, actual: number, max: number): FieldError {
  return finding('FieldValueTooMany', path, `Too many: ${actual}: must have at most ${max} ${max === 1 ? 'item' : 'items'}`);
}

export function internalFinding(path: string, detail: string): FieldError {
  return finding('InternalError', path, `Internal error: ${detail}`);
}

/** The text of several findings as Go's aggregate error prints them. */
export function aggregateText(texts: readonly string[]): string {
  const unique = [...new Set(texts)];
  return unique.length === 1 ? unique[0] : `[${unique.join(', ')}]`;
}
