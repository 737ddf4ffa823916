import { InstallationReason } from '../../../api/plugins.tenantry.dev/v1alpha1/reasons.ts';
import { findCondition, type Condition } from '../../../kube/conditions.ts';
import type { KubeObject } from '../../../kube/object.ts';
import { done, stalled, waiting, type Outcome } from '../../../runtime/steps/outcome.ts';

/** So many starts of one container, one after the other, and it is broken. */
const TOO_MANY_RESTARTS = 5;
/** A quota that was made larger a moment ago counts a moment later. */
const QUOTA_PATIENCE_MS = 20_000;

/** What has become of a Deployment: all of it answers, under way, or stuck. */
export function workloadHealth(deployment: KubeObject | undefined, restarts: number, now: number): Outcome {
  if (!deployment || (deployment.status?.observedGeneration ?? 0) < (deployment.metadata.generation ?? 1))
    return waiting(InstallationReason.RollingOut, 'waits for the Deployment to be seen');
  const { spec, status } = deployment;
  const wanted: number = spec.replicas ?? 1;
  const { updatedReplicas = 0, availableReplicas = 0, replicas = 0 } = status;
  if (updatedReplicas >= wanted && availableReplicas >= wanted && replicas <= updatedReplicas) {
    return wanted === 0 ? done('ScaledToZero') : done('Available', `${availableReplicas} of ${wanted} answer`);
  }
  if (restarts >= TOO_MANY_RESTARTS) {
    return stalled(InstallationReason.CrashLooping, `a container of it was started ${restarts + 1} times; look at its logs`);
  }
  return stuck(status.conditions, now) ?? waiting(InstallationReason.RollingOut, progress(availableReplicas, updatedReplicas, wanted));
}

function progress(available: number, updated: number, wanted: number): string {
  return `${Math.min(available, updated)} of ${wanted} answer`;
}

function stuck(conditions: Condition[] | undefined, now: number): Outcome | undefined {
  const refused = findCondition(conditions, 'ReplicaFailure');
  if (refused?.status === 'True') {
    const message = `its Pods are refused: ${refused.message ?? ''}`;
    const left = Date.parse(refused.lastTransitionTime ?? '') + QUOTA_PATIENCE_MS - now;
    if (refused.message?.includes('exceeded quota') && left > 0) return waiting(InstallationReason.RollingOut, message, left);
    return stalled(InstallationReason.AdmissionDenied, message);
  }
  const progressing = findCondition(conditions, 'Progressing');
  if (progressing?.status === 'False' && progressing.reason === 'ProgressDeadlineExceeded') {
    return stalled(InstallationReason.NotStarting, 'not enough of it answers, and no more came in time; look at its logs');
  }
  return undefined;
}

/** How often the container of these Pods was started again that was started most often. */
export function restartsOf(pods: readonly KubeObject[]): number {
  const counts = pods.flatMap(({ status }) => (status?.containerStatuses ?? []).map(({ restartCount = 0 }) => restartCount));
  return Math.max(0, ...counts);
}
