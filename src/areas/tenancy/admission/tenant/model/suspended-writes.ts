import { RunKind } from '../../../../../api/kruntimes.io/v1alpha1/run.ts';
import { Pod } from '../../../../../client/kinds.ts';
import { applyMergePatch } from '../../../../../kube/merge-patch.ts';
import type { Json, KubeObject } from '../../../../../kube/object.ts';
import { mergeDifference } from '../../../../../runtime/steps/merge-difference.ts';
import { SUSPENDABLE } from '../../../tenant/model/suspension.ts';

export interface Write {
  group: string;
  resource: string;
  subResource?: string;
  object: KubeObject;
  oldObject?: KubeObject | null;
}

/** What exists only as long as something runs. */
const RUNNING = [Pod, RunKind];

/** Whether the write would make something run in a tenant in which nothing does. */
export function startsSomething({ group, resource, subResource, object, oldObject }: Write): boolean {
  const isKind = (kind: { group: string; plural: string }): boolean => kind.group === group && kind.plural === resource;
  if (subResource === 'scale') return (object.spec?.replicas ?? 0) > (oldObject?.spec?.replicas ?? 0);
  if (subResource) return false;
  if (RUNNING.some(isKind)) return !oldObject;
  const suspendable = SUSPENDABLE.find(({ kind }) => isKind(kind));
  if (!suspendable || suspendable.skips?.(object)) return false;
  return runs(object, suspendable.suspended) && !(oldObject && runs(oldObject, suspendable.suspended));
}

function runs({ spec }: KubeObject, suspended: Json): boolean {
  const now = spec ?? {};
  return mergeDifference(applyMergePatch(now, suspended), now) !== undefined;
}
