import type { Findings } from './findings.ts';
import type { Path } from './path.ts';

/** Paths inside volumes, which must not lead out of them. */
export function hasBacksteps(target: string): boolean {
  return target.includes('..') && target.split('/').includes('..');
}

export function checkNoBacksteps(out: Findings, target: string, at: Path): void {
  if (hasBacksteps(target)) out.invalid(at, target, "must not contain '..'");
}

export function checkLocalDescending(out: Findings, target: string, at: Path): void {
  if (target.startsWith('/')) out.invalid(at, target, 'must be a relative path');
  checkNoBacksteps(out, target, at);
}

/** Names starting with two dots belong to the kubelet's atomic writer. */
export function checkLocalNonReserved(out: Findings, target: string, at: Path): void {
  checkLocalDescending(out, target, at);
  if (target.startsWith('..') && !target.startsWith('../')) out.invalid(at, target, "must not start with '..'");
}
