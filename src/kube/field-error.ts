import { marshal, printNumber, quote } from './go-text.ts';

/**
 * Validation findings in the words of Kubernetes' field.ErrorList, so that a refusal reads the same on both engines.
 * A finding's text is `<field>: <what>: <value>: <detail>`; the Status cause carries reason, field and the text without the field.
 */
export type FieldErrorType =
  | 'FieldValueNotFound'
  | 'FieldValueRequired'
  | 'FieldValueDuplicate'
  | 'FieldValueInvalid'
  | 'FieldValueNotSupported'
  | 'FieldValueForbidden'
  | 'FieldValueTooLong'
  | 'FieldValueTooMany'
  | 'InternalError'
  | 'FieldValueTypeInvalid';

export interface FieldError {
  type: FieldErrorType;
  field: string;
  /** The text without the field, as in a Status cause. */
  message: string;
}

/** The whole text of a finding, as it appears in a Status message. */
export function fieldErrorText(error: FieldError): string {
  return `${error.field}: ${error.message}`;
}

/** How Kubernetes prints the offending value: strings quoted as Go's %q does, numbers and booleans bare, the rest as JSON. */
export function printValue(value: unknown): string {
  if (value === undefined || value === null) return 'null';
  if (typeof value === 'string') return quote(value);
  if (typeof value === 'number') return printNumber(value);
  return typeof value === 'boolean' ? String(value) : marshal(value);
}

function withDetail(what: string, detail: string): string {
  return detail === '' ? what : `${what}: ${detail}`;
}

export function invalid(field: string, value: unknown, detail: string): FieldError {
  return { type: 'FieldValueInvalid', field, message: withDetail(`Invalid value: ${printValue(value)}`, detail) };
}

export function required(field: string, detail = ''): FieldError {
  return { type: 'FieldValueRequired', field, message: withDetail('Required value', detail) };
}

export function forbidden(field: string, detail: string): FieldError {
  return { type: 'FieldValueForbidden', field, message: withDetail('Forbidden', detail) };
}

export function duplicate(field: string, value: unknown): FieldError {
  return { type: 'FieldValueDuplicate', field, message: `Duplicate value: ${printValue(value)}` };
}

export function notFound(field: string, value: unknown): FieldError {
  return { type: 'FieldValueNotFound', field, message: `Not found: ${printValue(value)}` };
}

/** Values are listed in the order given: pass them as Kubernetes does (most of its lists are sorted sets). */
export function notSupported(field: string, value: unknown, supported: readonly string[]): FieldError {
  const detail = supported.length > 0 ? `supported values: ${supported.map(quote).join(', ')}` : '';
  return { type: 'FieldValueNotSupported', field, message: withDetail(`Unsupported value: ${printValue(value)}`, detail) };
}

/** A negative length says "too long" without saying how long it may be. */
export function tooLong(field: string, maxLength: number): FieldError {
  const unit = maxLength === 1 ? 'byte' : 'bytes';
  const detail = maxLength < 0 ? 'value is too long' : `may not be more than ${maxLength} ${unit}`;
  return { type: 'FieldValueTooLong', field, message: `Too long: ${detail}` };
}

export function tooMany(field: string, actual: number, max: number): FieldError {
  const unit = max === 1 ? 'item' : 'items';
  const detail = max < 0 ? 'has too many items' : `must have at most ${max} ${unit}`;
  return { type: 'FieldValueTooMany', field, message: withDetail(actual < 0 ? 'Too many' : `Too many: ${actual}`, detail) };
}

export function typeInvalid(field: string, value: unknown, detail: string): FieldError {
  return { type: 'FieldValueTypeInvalid', field, message: withDetail(`Invalid value: ${printValue(value)}`, detail) };
}

export function internalError(field: string, detail: string): FieldError {
  return { type: 'InternalError', field, message: `Internal error: ${detail}` };
}
