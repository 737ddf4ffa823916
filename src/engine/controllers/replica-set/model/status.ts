import { labelSetSelector } from '../../../../kube/label-selector.ts';
import type { Json, KubeObject } from '../../../../kube/object.ts';
import { isAvailable, isReady } from '../../workload/model/pod-state.ts';
import { conditionOf, withCondition, withoutCondition } from '../../workload/model/workload-conditions.ts';

export interface Replicas {
  active: readonly KubeObject[];
  /** Absent for kinds that do not count them. */
  terminating?: number;
  /** Why Pods could not be created or deleted. */
  failure?: string;
}

/** The status of a ReplicaSet or ReplicationController with these Pods. */
export function replicaStatus(set: KubeObject, { active, terminating, failure }: Replicas, now: number): Json {
  const template = labelSetSelector(set.spec.template?.metadata?.labels);
  const minReadySeconds: number = set.spec.minReadySeconds ?? 0;
  const counts = { labeled: 0, ready: 0, available: 0 };
  for (const pod of active) {
    if (template.matches(pod.metadata.labels)) counts.labeled++;
    if (isReady(pod)) counts.ready++;
    if (isAvailable(pod, minReadySeconds, now)) counts.available++;
  }
  let conditions = set.status?.conditions;
  const failing = conditionOf(set.status, 'ReplicaFailure');
  if (failure !== undefined && !failing) {
    const reason = active.length < set.spec.replicas ? 'FailedCreate' : 'FailedDelete';
    conditions = withCondition(conditions, { type: 'ReplicaFailure', status: 'True', reason, message: failure }, now);
  } else if (failure === undefined && failing) conditions = withoutCondition(conditions, 'ReplicaFailure');
  return {
    replicas: active.length,
    fullyLabeledReplicas: counts.labeled || undefined,
    readyReplicas: counts.ready || undefined,
    availableReplicas: counts.available || undefined,
    terminatingReplicas: terminating,
    observedGeneration: set.metadata.generation,
    conditions: conditions?.length ? conditions : undefined,
  };
}
