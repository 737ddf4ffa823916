import type { FieldError } from '../../../kube/field-error.ts';
import { printNumber, quote } from '../../../kube/go-text.ts';
import {
  child,
  invalidType,
  invalidValue,
  MOST_FINDINGS,
  requiredValue,
  shortName,
  tooLongValue,
  tooManyValues,
  unsupportedValue,
} from './findings.ts';
import { cut, goJsonCut } from './go-print.ts';

const MOST_TEXT = 256 * 1024;

/**
 * What a value check found so far, in the words of kube-openapi. The same text counts once, as there. Paths are kept as segments
 * and put into words only for a finding.
 */
export class ValueFindings {
  private readonly list: { text: string; finding: FieldError }[] = [];
  private seen?: Set<string>;
  private textLength = 0;

  get length(): number {
    return this.list.length;
  }

  /** What is found from now on is not told: do not put it into words. */
  get full(): boolean {
    return this.list.length >= MOST_FINDINGS || this.textLength > MOST_TEXT;
  }

  get all(): FieldError[] {
    return this.list.map((entry) => entry.finding);
  }

  add(text: string, finding: FieldError): void {
    this.seen ??= new Set();
    if (this.full || this.seen.has(text)) return;
    this.seen.add(text);
    this.textLength += text.length;
    this.list.push({ text, finding });
  }

  addAll(other: ValueFindings): void {
    for (const { text, finding } of other.list) this.add(text, finding);
  }

  /** Forgets what was added since the length was `mark`. */
  truncate(mark: number): void {
    for (const { text } of this.list.splice(mark)) {
      this.seen?.delete(text);
      this.textLength -= text.length;
    }
  }
}

const LONGEST_PATH = 4096;

/** Where in the value the check stands. */
export class ValuePath {
  private readonly base: string;
  readonly segments: (string | number)[] = [];

  /** @param base the field that the checked value is in, as in `status` for the status alone; '' for the whole object */
  constructor(base: string) {
    this.base = base;
  }

  /** As kube-openapi writes it, from the checked value on. */
  get text(): string {
    let out = '';
    for (const [position, segment] of this.segments.entries()) {
      if (typeof segment === 'number') out += `[${segment}]`;
      else out += position === 0 ? shortName(segment) : `.${shortName(segment)}`;
    }
    return cut(out, LONGEST_PATH);
  }

  get field(): string {
    return this.fieldOf(this.text);
  }

  get root(): string {
    return this.base;
  }

  fieldOf(text: string): string {
    const name = text.startsWith('.') ? text.slice(1) : text;
    return name === '' ? this.base : child(this.base, name);
  }
}

export function wrongType(path: ValuePath, findings: ValueFindings, expected: string, actual: string): void {
  if (findings.full) return;
  const text = `${path.text} in body must be of type ${expected}: ${quote(cut(actual))}`;
  findings.add(text, invalidType(path.field, actual, text));
}

export function wrongValue(path: ValuePath, findings: ValueFindings, value: unknown, complaint: string): void {
  if (findings.full) return;
  const text = `${path.text} in body ${complaint}`;
  findings.add(text, invalidValue(path.field, value, text));
}

export function missing(path: ValuePath, findings: ValueFindings, name: string): void {
  if (findings.full) return;
  const full = `${path.text}.${shortName(name)}`;
  findings.add(`${full} in body is required`, requiredValue(path.fieldOf(full)));
}

/** Values that are named as allowed. */
const MOST_NAMED = 1000;

export function notInEnum(path: ValuePath, findings: ValueFindings, value: unknown, allowed: readonly unknown[]): void {
  if (findings.full) return;
  const names = allowed.slice(0, MOST_NAMED).map((item) => (typeof item === 'string' ? cut(item) : goJsonCut(item)));
  findings.add(`${path.text} in body should be one of ${names.join(' ')}`, unsupportedValue(path.field, value, names));
}

export function tooLong(path: ValuePath, findings: ValueFindings, max: number): void {
  if (findings.full) return;
  findings.add(`${path.text} in body should be at most ${max} chars long`, tooLongValue(path.field, max));
}

export function tooMany(path: ValuePath, findings: ValueFindings, what: 'items' | 'properties', actual: number, max: number): void {
  if (findings.full) return;
  findings.add(`${path.text} in body should have at most ${max} ${what}`, tooManyValues(path.field, actual, max));
}

export function forbiddenProperty(path: ValuePath, findings: ValueFindings, name: string): void {
  if (findings.full) return;
  const text = `${path.text}.${shortName(name)} in body is a forbidden property`;
  findings.add(text, invalidValue(path.field, name, text));
}

/** A complaint about a junctor: kube-openapi gives it no field of its own. */
export function junctorFailed(path: ValuePath, findings: ValueFindings, complaint: string): void {
  if (findings.full) return;
  const text = `${quote(path.text)} ${complaint}`;
  findings.add(text, invalidValue(path.root, '', text));
}

export function boundText(bound: number, integer: boolean): string {
  return integer ? String(Math.trunc(bound)) : printNumber(bound);
}
