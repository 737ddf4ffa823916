import { deepEqual } from '../../../../kube/json-value.ts';
import type { Json, KubeObject } from '../../../../kube/object.ts';
import { missingRules } from '../rbac/rule-cover.ts';
import type { PolicyRule } from '../user.ts';

/** An administrator's way of saying: leave this one as it is. */
const AUTO_UPDATE = 'rbac.authorization.kubernetes.io/autoupdate';

export function isProtected(existing: KubeObject): boolean {
  return existing.metadata.annotations?.[AUTO_UPDATE] === 'false';
}

/** Adds to `draft` what the expected role has and it lacks; what was added to it by others stays. False when nothing is lacking. */
export function completeRole(draft: KubeObject, expected: KubeObject): boolean {
  const changes = [completeMetadata(draft, expected), completeRules(draft, expected), completeAggregation(draft, expected)];
  return changes.includes(true);
}

/** Likewise for a binding. Its role cannot be changed: see `bindsAnother`. */
export function completeBinding(draft: KubeObject, expected: KubeObject): boolean {
  const changed = completeMetadata(draft, expected);
  const present: Json[] = draft.subjects ?? [];
  const missing = ((expected.subjects as Json[] | undefined) ?? []).filter(
    (subject) => !present.some((known) => deepEqual(known, subject)),
  );
  if (missing.length > 0) draft.subjects = [...present, ...missing];
  return changed || missing.length > 0;
}

/** The binding must be made anew, since a roleRef is for life. */
export function bindsAnother(existing: KubeObject, expected: KubeObject): boolean {
  return !deepEqual(existing.roleRef, expected.roleRef);
}

function completeMetadata(draft: KubeObject, expected: KubeObject): boolean {
  let changed = false;
  for (const field of ['annotations', 'labels'] as const) {
    const merged = { ...expected.metadata[field], ...draft.metadata[field] };
    if (Object.keys(merged).length === Object.keys(draft.metadata[field] ?? {}).length) continue;
    draft.metadata[field] = merged;
    changed = true;
  }
  return changed;
}

function completeRules(draft: KubeObject, expected: KubeObject): boolean {
  // The rules of an aggregated role are the aggregation's.
  if (expected.aggregationRule) return false;
  const present: PolicyRule[] = draft.rules ?? [];
  const wanted: PolicyRule[] = expected.rules ?? [];
  if (deepEqual(present, wanted)) return false;
  const missing = missingRules(present, wanted);
  if (missing.length > 0) draft.rules = [...present, ...missing];
  return missing.length > 0;
}

function completeAggregation(draft: KubeObject, expected: KubeObject): boolean {
  if (!expected.aggregationRule) {
    if (!draft.aggregationRule) return false;
    delete draft.aggregationRule;
    return true;
  }
  const present: Json[] = draft.aggregationRule?.clusterRoleSelectors ?? [];
  const wanted: Json[] = expected.aggregationRule.clusterRoleSelectors;
  const missing = wanted.filter((selector) => !present.some((known) => deepEqual(known, selector)));
  if (missing.length > 0) draft.aggregationRule = { ...draft.aggregationRule, clusterRoleSelectors: [...present, ...missing] };
  return missing.length > 0;
}
