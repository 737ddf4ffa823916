import { isPercent } from '../../../kube/names.ts';
import type { Findings } from './findings.ts';
import { checkNonnegative } from './formats.ts';
import type { Path } from './path.ts';

/** `maxUnavailable: 25%` or `1`; absent is 0. */
export type IntOrPercent = number | string | undefined;

export function checkPositiveIntOrPercent(out: Findings, value: IntOrPercent, at: Path): void {
  if (typeof value === 'string') out.invalidEach(at, value, isPercent(value));
  else checkNonnegative(out, value, at);
}

function percentOf(value: IntOrPercent): number | undefined {
  return typeof value === 'string' && isPercent(value).length === 0 ? Number(value.slice(0, -1)) : undefined;
}

export function isZero(value: IntOrPercent): boolean {
  const number = percentOf(value) ?? (typeof value === 'string' ? Number.parseInt(value, 10) || 0 : (value ?? 0));
  return number === 0;
}

export function checkAtMost100Percent(out: Findings, value: IntOrPercent, at: Path): void {
  if ((percentOf(value) ?? 0) > 100) out.invalid(at, value, 'must not be greater than 100%');
}
