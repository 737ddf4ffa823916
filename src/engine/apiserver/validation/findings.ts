import * as fieldError from '../../../kube/field-error.ts';
import type { FieldError } from '../../../kube/field-error.ts';
import type { Path } from './path.ts';

/** Collects findings in the order they are made, which is part of what clients see. */
export class Findings {
  readonly list: FieldError[] = [];

  get count(): number {
    return this.list.length;
  }

  invalid(at: Path, value: unknown, detail: string): void {
    this.list.push(fieldError.invalid(at.toString(), value, detail));
  }

  /** One finding per message, all about the same value. */
  invalidEach(at: Path, value: unknown, messages: readonly string[]): void {
    for (const message of messages) this.invalid(at, value, message);
  }

  /** An invalid whole whose value would be too much to print. */
  invalidOmitted(at: Path, detail: string): void {
    this.list.push({ type: 'FieldValueInvalid', field: at.toString(), message: `Invalid value: ${detail}` });
  }

  required(at: Path, detail = ''): void {
    this.list.push(fieldError.required(at.toString(), detail));
  }

  forbidden(at: Path, detail: string): void {
    this.list.push(fieldError.forbidden(at.toString(), detail));
  }

  duplicate(at: Path, value: unknown, detail = ''): void {
    const finding = fieldError.duplicate(at.toString(), value);
    if (detail !== '') finding.message += `: ${detail}`;
    this.list.push(finding);
  }

  notFound(at: Path, value: unknown, detail = ''): void {
    const finding = fieldError.notFound(at.toString(), value);
    if (detail !== '') finding.message += `: ${detail}`;
    this.list.push(finding);
  }

  notSupported(at: Path, value: unknown, supported: readonly string[]): void {
    this.list.push(fieldError.notSupported(at.toString(), value, supported));
  }

  tooLong(at: Path, maxLength: number): void {
    this.list.push(fieldError.tooLong(at.toString(), maxLength));
  }

  tooMany(at: Path, actual: number, max: number): void {
    this.list.push(fieldError.tooMany(at.toString(), actual, max));
  }

  internal(at: Path, detail: string): void {
    this.list.push(fieldError.internalError(at.toString(), detail));
  }
}
