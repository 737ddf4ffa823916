import type { Json, KubeObject } from '../../../../kube/object.ts';
import { conditionOf, withCondition, withoutCondition, type WorkloadCondition } from '../../workload/model/workload-conditions.ts';
import { maxUnavailable, replicasOf, totalReplicas, totalStatus } from './sizes.ts';

const NO_DEADLINE = 2 ** 31 - 1;
const UPDATE_TIME = { updateTime: true };

export function hasDeadline(deployment: KubeObject): boolean {
  const seconds: number | undefined = deployment.spec.progressDeadlineSeconds;
  return seconds !== undefined && seconds !== NO_DEADLINE;
}

/** Counts and the condition Available; the other conditions stay. */
export function deploymentStatus(deployment: KubeObject, newSet: KubeObject | undefined, old: readonly KubeObject[], now: number): Json {
  const all = newSet ? [...old, newSet] : old;
  const available = totalStatus(all, 'availableReplicas');
  const enough = available >= replicasOf(deployment) - maxUnavailable(deployment);
  const condition = enough
    ? { status: 'True', reason: 'MinimumReplicasAvailable', message: 'Deployment has minimum availability.' }
    : { status: 'False', reason: 'MinimumReplicasUnavailable', message: 'Deployment does not have minimum availability.' };
  return {
    observedGeneration: deployment.metadata.generation,
    replicas: totalStatus(all, 'replicas') || undefined,
    updatedReplicas: totalStatus(newSet ? [newSet] : [], 'replicas') || undefined,
    readyReplicas: totalStatus(all, 'readyReplicas') || undefined,
    availableReplicas: available || undefined,
    unavailableReplicas: Math.max(0, totalReplicas(all) - available) || undefined,
    terminatingReplicas: totalStatus(all, 'terminatingReplicas'),
    collisionCount: deployment.status?.collisionCount,
    conditions: withCondition(deployment.status?.conditions, { type: 'Available', ...condition }, now, UPDATE_TIME),
  };
}

/** The same during a rollout: also how it goes on (Progressing) and what the sets fail at (ReplicaFailure). */
export function rolloutStatus(deployment: KubeObject, newSet: KubeObject | undefined, old: readonly KubeObject[], now: number): Json {
  const status = deploymentStatus(deployment, newSet, old, now);
  if (!hasDeadline(deployment)) status.conditions = withoutCondition(status.conditions, 'Progressing');
  const current = conditionOf(deployment.status, 'Progressing');
  const wasComplete = (status.replicas ?? 0) === (status.updatedReplicas ?? 0) && current?.reason === 'NewReplicaSetAvailable';
  if (hasDeadline(deployment) && !wasComplete) status.conditions = progressConditions(deployment, newSet, status, current, now);
  const failure = replicaFailure(newSet, old);
  status.conditions = failure ? withFailure(status.conditions, failure, now) : withoutCondition(status.conditions, 'ReplicaFailure');
  return status;
}

function progressConditions(
  deployment: KubeObject,
  newSet: KubeObject | undefined,
  status: Json,
  current: WorkloadCondition | undefined,
  now: number,
): WorkloadCondition[] {
  const subject = newSet ? `ReplicaSet "${newSet.metadata.name}"` : `Deployment "${deployment.metadata.name}"`;
  const progressing = (value: string, reason: string, words: string) => ({
    type: 'Progressing',
    status: value,
    reason,
    message: `${subject} ${words}.`,
  });
  if (isComplete(deployment, status)) {
    return withCondition(status.conditions, progressing('True', 'NewReplicaSetAvailable', 'has successfully progressed'), now, UPDATE_TIME);
  }
  if (hasProgressed(deployment.status ?? {}, status)) {
    const others = withoutCondition(status.conditions, 'Progressing');
    const moved = withCondition(others, progressing('True', 'ReplicaSetUpdated', 'is progressing'), now, UPDATE_TIME);
    if (current?.status === 'True') moved[moved.length - 1].lastTransitionTime = current.lastTransitionTime;
    return moved;
  }
  if (hasTimedOut(deployment, current, now)) {
    return withCondition(
      status.conditions,
      progressing('False', 'ProgressDeadlineExceeded', 'has timed out progressing'),
      now,
      UPDATE_TIME,
    );
  }
  return status.conditions;
}

export function isComplete(deployment: KubeObject, status: Json): boolean {
  const wanted = replicasOf(deployment);
  const counts = [status?.updatedReplicas, status?.replicas, status?.availableReplicas];
  return counts.every((count) => (count ?? 0) === wanted) && (status?.observedGeneration ?? 0) >= (deployment.metadata.generation ?? 0);
}

function hasProgressed(before: Json, after: Json): boolean {
  const count = (status: Json, field: string): number => status[field] ?? 0;
  const old = (status: Json): number => count(status, 'replicas') - count(status, 'updatedReplicas');
  return (
    count(after, 'updatedReplicas') > count(before, 'updatedReplicas') ||
    old(after) < old(before) ||
    count(after, 'readyReplicas') > count(before, 'readyReplicas') ||
    count(after, 'availableReplicas') > count(before, 'availableReplicas')
  );
}

function hasTimedOut(deployment: KubeObject, current: WorkloadCondition | undefined, now: number): boolean {
  if (!current || current.reason === 'NewReplicaSetAvailable') return false;
  if (current.reason === 'ProgressDeadlineExceeded') return true;
  return deadlineOf(deployment, current) < now;
}

function deadlineOf(deployment: KubeObject, current: WorkloadCondition): number {
  return Date.parse(current.lastUpdateTime ?? '') + deployment.spec.progressDeadlineSeconds * 1000;
}

/** Milliseconds after which a rollout that shows no progress has to be looked at again; undefined when that cannot matter. */
export function nextProgressCheck(deployment: KubeObject, status: Json, now: number): number | undefined {
  const current = conditionOf(status, 'Progressing');
  if (!hasDeadline(deployment) || !current || deployment.spec.paused) return undefined;
  if (isComplete(deployment, status) || current.reason === 'ProgressDeadlineExceeded') return undefined;
  // Times are written to the second: one more, so that it has passed for sure.
  return Math.max(0, deadlineOf(deployment, current) - now) + 1000;
}

/** Pausing stops the clock of the deadline, resuming starts it anew. Undefined when nothing changes. */
export function pausedConditions(deployment: KubeObject, now: number): WorkloadCondition[] | undefined {
  if (!hasDeadline(deployment)) return undefined;
  const current = conditionOf(deployment.status, 'Progressing');
  if (current?.reason === 'ProgressDeadlineExceeded') return undefined;
  const saysPaused = current?.reason === 'DeploymentPaused';
  const paused = deployment.spec.paused === true;
  if (paused === saysPaused) return undefined;
  const next = paused
    ? { reason: 'DeploymentPaused', message: 'Deployment is paused' }
    : { reason: 'DeploymentResumed', message: 'Deployment is resumed' };
  return withCondition(deployment.status?.conditions, { type: 'Progressing', status: 'Unknown', ...next }, now, UPDATE_TIME);
}

function replicaFailure(newSet: KubeObject | undefined, old: readonly KubeObject[]): WorkloadCondition | undefined {
  for (const set of newSet ? [newSet, ...old] : old) {
    const failure = conditionOf(set.status, 'ReplicaFailure');
    if (failure) return failure;
  }
  return undefined;
}

function withFailure(conditions: WorkloadCondition[], failure: WorkloadCondition, now: number): WorkloadCondition[] {
  const { type, status, reason, message } = failure;
  return withCondition(conditions, { type, status, reason, message }, now, UPDATE_TIME);
}
