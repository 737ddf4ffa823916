import { RuntimeKind } from '../../../../api/kruntimes.io/v1alpha1/runtime.ts';
import { SUSPENDED_ANNOTATION, SUSPENDED_REPLICAS_ANNOTATION } from '../../../../api/tenantry.dev/v1alpha1/names.ts';
import { CronJob, DaemonSet, Deployment, Job, ReplicaSet, ReplicationController, StatefulSet } from '../../../../client/kinds.ts';
import { isConditionTrue } from '../../../../kube/conditions.ts';
import type { Kind } from '../../../../kube/kind.ts';
import { applyMergePatch } from '../../../../kube/merge-patch.ts';
import type { Json, KubeObject } from '../../../../kube/object.ts';
import { controllerOf } from '../../../../kube/ownership.ts';
import { mergeDifference } from '../../../../runtime/steps/merge-difference.ts';

/** A kind of workload, and what its spec says when it is to have no Pods. */
export interface SuspendableKind {
  kind: Kind;
  /** A merge patch of the spec. */
  suspended: Json;
  /** Objects that are not suspended themselves: what owns them is, or they have ended. */
  skips?(object: KubeObject): boolean;
}

const isOwned = (object: KubeObject): boolean => controllerOf(object) !== undefined;
const hasEnded = ({ status }: KubeObject): boolean =>
  isConditionTrue(status?.conditions, 'Complete') || isConditionTrue(status?.conditions, 'Failed');

/** In this order: what makes others comes before them. */
export const SUSPENDABLE: readonly SuspendableKind[] = [
  { kind: RuntimeKind, suspended: { replicas: 0, autoscaling: null } },
  { kind: CronJob, suspended: { suspend: true } },
  { kind: Deployment, suspended: { replicas: 0 }, skips: (object) => controllerOf(object)?.kind === 'Runtime' },
  { kind: StatefulSet, suspended: { replicas: 0 } },
  { kind: ReplicaSet, suspended: { replicas: 0 }, skips: isOwned },
  { kind: ReplicationController, suspended: { replicas: 0 }, skips: isOwned },
  { kind: Job, suspended: { suspend: true }, skips: hasEnded },
  // They have no number of replicas: no node has this label.
  { kind: DaemonSet, suspended: { template: { spec: { nodeSelector: { [SUSPENDED_ANNOTATION]: 'true' } } } } },
];

/** The merge patch that suspends, and remembers in an annotation how to undo exactly that; undefined when there is nothing to do. */
export function suspendPatch({ suspended, skips }: SuspendableKind, object: KubeObject): Json {
  if (skips?.(object) || object.metadata.deletionTimestamp) return undefined;
  const spec = object.spec ?? {};
  const next = applyMergePatch(spec, suspended);
  const undo = mergeDifference(next, spec);
  if (undo === undefined) return undefined;
  // Scaled up again by somebody while suspended: what was there before the suspension is what counts.
  const remembered = object.metadata.annotations?.[SUSPENDED_REPLICAS_ANNOTATION] ?? JSON.stringify(undo);
  const { resourceVersion } = object.metadata;
  return { metadata: { resourceVersion, annotations: { [SUSPENDED_REPLICAS_ANNOTATION]: remembered } }, spec: suspended };
}

/** The merge patch that undoes it; undefined for what was not suspended by us. */
export function resumePatch(object: KubeObject): Json {
  const remembered = object.metadata.annotations?.[SUSPENDED_REPLICAS_ANNOTATION];
  if (remembered === undefined) return undefined;
  const { resourceVersion } = object.metadata;
  return { metadata: { resourceVersion, annotations: { [SUSPENDED_REPLICAS_ANNOTATION]: null } }, spec: undoOf(remembered) };
}

function undoOf(remembered: string): Json {
  try {
    return JSON.parse(remembered);
  } catch {
    // Somebody with the platform's rights wrote something else there; the workload stays as it is.
    return {};
  }
}
