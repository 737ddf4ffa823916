import { isDeepStrictEqual } from 'node:util';
import type { PodCondition, PodStatus } from '../../../../kube/generated/core-v1.ts';
import type { Json } from '../../../../kube/object.ts';

/** Fields that only others write. */
const FOREIGN = new Set(['nominatedNodeName', 'resize', 'resourceClaimStatuses', 'extendedResourceClaimStatus', 'qosClass']);

/**
 * The strategic merge patch that leads from one status to the other; undefined when there is nothing to say. Conditions that others own
 * are left out: a write of ours must not undo theirs.
 */
export function statusPatch(before: PodStatus, after: PodStatus): Json {
  const patch: Json = {};
  for (const field of new Set([...Object.keys(before), ...Object.keys(after)]) as Set<keyof PodStatus>) {
    if (FOREIGN.has(field) || field === 'conditions' || isDeepStrictEqual(before[field], after[field])) continue;
    patch[field] = after[field] ?? null;
  }
  const conditions = changedConditions(before.conditions ?? [], after.conditions ?? []);
  if (conditions.length > 0) patch.conditions = conditions;
  // Lists that are merged by address: they are meant to be replaced as a whole.
  for (const field of ['podIPs', 'hostIPs']) if (Array.isArray(patch[field])) patch[field] = [{ $patch: 'replace' }, ...patch[field]];
  return Object.keys(patch).length > 0 ? patch : undefined;
}

function changedConditions(before: readonly PodCondition[], after: readonly PodCondition[]): Json[] {
  return after.flatMap((condition) => {
    const old = before.find(({ type }) => type === condition.type);
    const changed = FIELDS.filter((field) => old?.[field] !== condition[field]);
    if (changed.length === 0) return [];
    // A condition is merged into the one that is there: what it no longer says has to be taken away.
    return [{ type: condition.type, ...Object.fromEntries(changed.map((field) => [field, condition[field] ?? null])) }];
  });
}

const FIELDS = ['status', 'reason', 'message', 'lastTransitionTime', 'observedGeneration'] as const;
