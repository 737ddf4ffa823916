import { quote } from '../../../../kube/go-text.ts';
import type { Json } from '../../../../kube/object.ts';
import type { Path } from '../path.ts';
import { milliValue } from '../quantities.ts';

/** Bytes come whole: `100m` of memory is a slip for `100M`. */
export function fractionWarnings(amounts: Record<string, string> | undefined, name: string, at: Path): string[] {
  const value = amounts?.[name];
  if (value === undefined || milliValue(value) % 1000n === 0n) return [];
  return [`${at.key(name).toString()}: fractional byte value ${quote(value)} is invalid, must be an integer`];
}

export function claimSpecWarnings(spec: Json, at: Path): string[] {
  const resourcesAt = at.child('resources');
  return [
    ...fractionWarnings(spec.resources?.requests, 'storage', resourcesAt.child('requests')),
    ...fractionWarnings(spec.resources?.limits, 'storage', resourcesAt.child('limits')),
  ];
}
