import type { Json, KubeObject } from '../../../../kube/object.ts';
import { isAvailable, isReady } from '../../workload/model/pod-state.ts';
import { revisionOf } from './identity.ts';

export interface Revisions {
  current: string;
  update: string;
  collisionCount: number | undefined;
}

export function statefulStatus(
  set: KubeObject,
  pods: readonly KubeObject[],
  { current, update, collisionCount }: Revisions,
  now: number,
): Json {
  const replicas: number = set.spec.replicas ?? 1;
  const counts = { ready: 0, available: 0, current: 0, updated: 0 };
  for (const pod of pods) {
    if (pod.status?.phase === 'Running' && isReady(pod)) {
      counts.ready++;
      if (isAvailable(pod, set.spec.minReadySeconds ?? 0, now)) counts.available++;
    }
    if (pod.metadata.deletionTimestamp !== undefined) continue;
    if (revisionOf(pod) === current) counts.current++;
    if (revisionOf(pod) === update) counts.updated++;
  }
  const rolling = set.spec.updateStrategy?.type !== 'OnDelete';
  const through = rolling && counts.updated === replicas && counts.ready === replicas && pods.length === replicas;
  return {
    observedGeneration: set.metadata.generation,
    replicas: pods.length,
    readyReplicas: counts.ready || undefined,
    currentReplicas: (through ? counts.updated : counts.current) || undefined,
    updatedReplicas: counts.updated || undefined,
    availableReplicas: counts.available,
    currentRevision: through ? update : current,
    updateRevision: update,
    collisionCount: collisionCount ?? 0,
    conditions: set.status?.conditions,
  };
}
