import { VERSION_TRANSITIONS, type VersionState } from '../../../../../api/plugins.tenantry.dev/v1alpha1/states.ts';
import { VersionReason } from '../../../../../api/plugins.tenantry.dev/v1alpha1/version-reasons.ts';
import { findCondition, isConditionTrue, type Condition } from '../../../../../kube/conditions.ts';
import { VersionCondition } from '../version-conditions.ts';

/** The state that the conditions of a version mean. What was verified once and is not any more is revoked, whatever the reason. */
export function versionPhase(before: VersionState | undefined, conditions: readonly Condition[]): VersionState {
  if (isConditionTrue(conditions, 'Ready')) return 'VERIFIED';
  if (before === 'VERIFIED' || before === 'REVOKED') return 'REVOKED';
  const signature = findCondition(conditions, VersionCondition.SignatureVerified);
  const isSigned = signature?.status === 'True' || (signature !== undefined && SIGNED_REASONS.has(signature.reason));
  return isSigned ? 'SIGNED' : 'DRAFT';
}

/** There is a signature, though not a good one. */
const SIGNED_REASONS = new Set<string>([
  VersionReason.SignatureInvalid,
  VersionReason.KeyRevoked,
  VersionReason.KeyNotValid,
  VersionReason.NoUsableKey,
]);

/** The states passed on the way, by the table: a version that is signed and good when it is first seen was SIGNED in between. */
export function statesPassed(from: VersionState | undefined, to: VersionState): VersionState[] {
  if (from === to) return [];
  const start = from ?? 'DRAFT';
  const paths: VersionState[][] = [[start]];
  for (const path of paths) {
    const last = path.at(-1)!;
    if (last === to) return from === undefined ? path : path.slice(1);
    for (const next of VERSION_TRANSITIONS[last]) if (!path.includes(next)) paths.push([...path, next]);
  }
  throw new Error(`Cannot change the state of a plugin version from "${start}" to "${to}": no transition leads there`);
}
