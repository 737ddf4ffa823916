import * as fieldError from '../../../kube/field-error.ts';
import type { FieldError } from '../../../kube/field-error.ts';
import type { Sliced } from '../schema/slices.ts';
import type { Path } from './path.ts';

/** More than anybody reads. A body can hold a hundred thousand mistakes, and each finding may print the list it stands in. */
const MAX_FINDINGS = 1000;
const MAX_TEXT = 1024 * 1024;

/** Ends a validation that has found enough; `Findings.list` holds what it found. */
export class EnoughFound extends Error {}

/** Collects findings in the order they are made, which is part of what clients see. */
export class Findings {
  readonly list: FieldError[] = [];
  /** What is left to do when the validator is done, in this order. */
  readonly rest: (() => Sliced<void>)[] = [];
  private text = 0;

  /** For the end of a validation that takes long on a large object: others get their turn before it, and wherever it yields. */
  later(step: () => Sliced<void>): void {
    this.rest.push(step);
  }

  /** @throws EnoughFound */
  add(finding: FieldError): void {
    this.list.push(finding);
    this.text += finding.message.length + finding.field.length;
    if (this.list.length >= MAX_FINDINGS || this.text >= MAX_TEXT) throw new EnoughFound();
  }

  addAll(findings: readonly FieldError[]): void {
    for (const finding of findings) this.add(finding);
  }

  get count(): number {
    return this.list.length;
  }

  invalid(at: Path, value: unknown, detail: string): void {
    this.add(fieldError.invalid(at.toString(), value, detail));
  }

  /** One finding per message, all about the same value. */
  invalidEach(at: Path, value: unknown, messages: readonly string[]): void {
    for (const message of messages) this.invalid(at, value, message);
  }

  /** An invalid whole whose value would be too much to print. */
  invalidOmitted(at: Path, detail: string): void {
    this.add({ type: 'FieldValueInvalid', field: at.toString(), message: `Invalid value: ${detail}` });
  }

  required(at: Path, detail = ''): void {
    this.add(fieldError.required(at.toString(), detail));
  }

  forbidden(at: Path, detail: string): void {
    this.add(fieldError.forbidden(at.toString(), detail));
  }

  duplicate(at: Path, value: unknown, detail = ''): void {
    const finding = fieldError.duplicate(at.toString(), value);
    if (detail !== '') finding.message += `: ${detail}`;
    this.add(finding);
  }

  notFound(at: Path, value: unknown, detail = ''): void {
    const finding = fieldError.notFound(at.toString(), value);
    if (detail !== '') finding.message += `: ${detail}`;
    this.add(finding);
  }

  notSupported(at: Path, value: unknown, supported: readonly string[]): void {
    this.add(fieldError.notSupported(at.toString(), value, supported));
  }

  tooLong(at: Path, maxLength: number): void {
    this.add(fieldError.tooLong(at.toString(), maxLength));
  }

  tooMany(at: Path, actual: number, max: number): void {
    this.add(fieldError.tooMany(at.toString(), actual, max));
  }

  internal(at: Path, detail: string): void {
    this.add(fieldError.internalError(at.toString(), detail));
  }
}
