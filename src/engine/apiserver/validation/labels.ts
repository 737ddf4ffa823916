import { byteLength } from '../../../kube/go-text.ts';
import { getField } from '../../../kube/json-value.ts';
import { isLabelValue, isQualifiedName } from '../../../kube/names.ts';
import type { Json } from '../../../kube/object.ts';
import type { Findings } from './findings.ts';
import type { Path } from './path.ts';

const ANNOTATIONS_MAX_BYTES = 256 * 1024;

export function checkLabelName(out: Findings, name: string, at: Path): void {
  out.invalidEach(at, name, isQualifiedName(name));
}

export function checkLabels(out: Findings, labels: Record<string, string> | undefined, at: Path): void {
  for (const key in labels) {
    checkLabelName(out, key, at);
    out.invalidEach(at, labels[key], isLabelValue(labels[key]));
  }
}

export function checkAnnotations(out: Findings, annotations: Record<string, string> | undefined, at: Path): void {
  let size = 0;
  for (const key in annotations) {
    out.invalidEach(at, key, isQualifiedName(key.toLowerCase()));
    size += byteLength(key) + byteLength(annotations[key]);
  }
  if (size > ANNOTATIONS_MAX_BYTES) out.tooLong(at, ANNOTATIONS_MAX_BYTES);
}

export interface SelectorOptions {
  /** Values that older versions stored and that would not be accepted today. */
  allowInvalidValues?: boolean;
}

export function checkLabelSelector(out: Findings, selector: Json, at: Path, options: SelectorOptions = {}): void {
  if (selector === undefined) return;
  if (selector.matchLabels !== undefined) checkLabels(out, selector.matchLabels, at.child('matchLabels'));
  const expressions: Json[] = selector.matchExpressions ?? [];
  for (let i = 0; i < expressions.length; i++) {
    checkRequirement(out, expressions[i], at.child('matchExpressions').index(i), options);
  }
}

function checkRequirement(out: Findings, requirement: Json, at: Path, options: SelectorOptions): void {
  const values: string[] = requirement.values ?? [];
  switch (requirement.operator) {
    case 'In':
    case 'NotIn':
      if (values.length === 0) out.required(at.child('values'), "must be specified when `operator` is 'In' or 'NotIn'");
      break;
    case 'Exists':
    case 'DoesNotExist':
      if (values.length > 0) out.forbidden(at.child('values'), "may not be specified when `operator` is 'Exists' or 'DoesNotExist'");
      break;
    default:
      out.invalid(at.child('operator'), requirement.operator ?? '', 'not a valid selector operator');
  }
  checkLabelName(out, requirement.key ?? '', at.child('key'));
  if (options.allowInvalidValues) return;
  values.forEach((value, i) => out.invalidEach(at.child('values').index(i), value, isLabelValue(value)));
}

export function selectorIsEmpty(selector: Json): boolean {
  return Object.keys(selector.matchLabels ?? {}).length + (selector.matchExpressions ?? []).length === 0;
}

export function hasInvalidSelectorValue(selector: Json): boolean {
  return (selector?.matchExpressions ?? []).some((e: Json) => (e.values ?? []).some((v: string) => isLabelValue(v).length > 0));
}

/** Whether it can be turned into a selector at all (metav1.LabelSelectorAsSelector). */
export function selectorIsUsable(selector: Json): boolean {
  if (selector === undefined) return true;
  for (const [key, value] of Object.entries<string>(selector.matchLabels ?? {})) {
    if (isQualifiedName(key).length > 0 || isLabelValue(value).length > 0) return false;
  }
  return (selector.matchExpressions ?? []).every((e: Json) => requirementIsUsable(e));
}

function requirementIsUsable(requirement: Json): boolean {
  const values: string[] = requirement.values ?? [];
  if (isQualifiedName(requirement.key ?? '').length > 0) return false;
  if (values.some((value) => isLabelValue(value).length > 0)) return false;
  switch (requirement.operator) {
    case 'In':
    case 'NotIn':
      return values.length > 0;
    case 'Exists':
    case 'DoesNotExist':
      return values.length === 0;
    default:
      return false;
  }
}

/** No selector matches nothing, an empty one everything. */
export function selectorMatches(selector: Json, labels: Record<string, string> = {}): boolean {
  if (selector === undefined) return false;
  const { matchLabels } = selector;
  for (const key in matchLabels) if (getField(labels, key) !== matchLabels[key]) return false;
  return (selector.matchExpressions ?? []).every((e: Json) => requirementMatches(e, labels));
}

function requirementMatches({ key, operator, values }: Json, labels: Record<string, string>): boolean {
  const present = Object.hasOwn(labels, key);
  switch (operator) {
    case 'In':
      return present && values.includes(labels[key]);
    case 'NotIn':
      return !present || !values.includes(labels[key]);
    case 'Exists':
      return present;
    default:
      return !present;
  }
}
