import { InstallationReason } from '../../../api/plugins.tenantry.dev/v1alpha1/reasons.ts';
import { findCondition, type Condition } from '../../../kube/conditions.ts';
import type { KubeObject } from '../../../kube/object.ts';
import { done, stalled, waiting, type Outcome } from '../../../runtime/steps/outcome.ts';

/** So many starts of one container, one after the other, and it is broken. */
const TOO_MANY_RESTARTS = 5;
/** One that ran for so long, or runs so long now, begins anew: the kubelet's own measure. */
const STABLE_MS = 600_000;
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
  if (refused?.status === 'True' && isDenial(refused.message ?? '')) {
    const message = `its Pods are refused: ${refused.message ?? ''}`;
    const left = Date.parse(refused.lastTransitionTime ?? '') + QUOTA_PATIENCE_MS - now;
    if (refused.message?.includes('exceeded quota') && left > 0) return waiting(InstallationReason.RollingOut, message, left);
    return stalled(InstallationReason.AdmissionDenied, message);
  }
  const progressing = findCondition(conditions, 'Progressing');
  if (progressing?.status === 'False' && progressing.reason === 'ProgressDeadlineExceeded') {
    const why = refused?.status === 'True' ? `: ${refused.message}` : '; look at its logs';
    return stalled(InstallationReason.NotStarting, `not enough of it answers, and no more came in time${why}`);
  }
  return undefined;
}

/** Somebody said no, as opposed to somebody who could not be asked: Pods are tried again, and only the answer of the former will not change. */
function isDenial(message: string): boolean {
  const isUnanswered = /failed calling webhook|error looking up service account|internal error|timeout|timed out|deadline exceeded/i.test(
    message,
  );
  return !isUnanswered && /denied|forbidden|exceeded quota|is invalid/i.test(message);
}

interface ContainerStatus {
  restartCount?: number;
  ready?: boolean;
  state?: { running?: { startedAt?: string } };
  lastState?: { terminated?: { startedAt?: string; finishedAt?: string } };
}

/** How often the container of these Pods was started again, one time after the other, that was started most often. */
export function restartsOf(pods: readonly KubeObject[], now: number): number {
  return Math.max(0, ...pods.flatMap(containersOf).map((container) => consecutiveRestarts(container, now)));
}

/** In the whole life of a Pod: when that changes, it is worth a look. */
export function startsOf(pod: KubeObject): number {
  return Math.max(0, ...containersOf(pod).map(({ restartCount = 0 }) => restartCount));
}

function containersOf({ status }: KubeObject): ContainerStatus[] {
  return (status?.containerStatuses ?? []) as ContainerStatus[];
}

/** A Pod remembers its last two runs and the number of all; one that lasted ends a row of those that did not. */
function consecutiveRestarts({ restartCount = 0, ready, state, lastState }: ContainerStatus, now: number): number {
  if (ready === true || lasted(state?.running?.startedAt, now)) return 0;
  const { startedAt, finishedAt } = lastState?.terminated ?? {};
  return lasted(startedAt, Date.parse(finishedAt ?? '')) ? Math.min(restartCount, 1) : restartCount;
}

function lasted(startedAt: string | undefined, until: number): boolean {
  return startedAt !== undefined && until - Date.parse(startedAt) >= STABLE_MS;
}
