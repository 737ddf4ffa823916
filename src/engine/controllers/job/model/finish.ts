import type { Json, KubeObject } from '../../../../kube/object.ts';
import { formatTime } from '../../../../kube/time.ts';
import { conditionOf, type WorkloadCondition } from '../../workload/model/workload-conditions.ts';
import { Indexes } from './indexes.ts';
import { isFailed, type IndexedView, type JobView } from './job-view.ts';
import { failureVerdict } from './pod-failure-policy.ts';

/** Why the Job ends: FailureTarget or SuccessCriteriaMet, which become Failed and Complete when every Pod is counted and gone. */
export function finishOf(view: JobView, startTime: string | undefined, now: number): WorkloadCondition | undefined {
  const { job } = view;
  const met = conditionOf(job.status, 'SuccessCriteriaMet') ?? conditionOf(job.status, 'FailureTarget');
  if (met?.status === 'True') return met;
  const failing = (reason: string, message: string): WorkloadCondition => newCondition('FailureTarget', reason, message, now);
  const policyMessage = failJobMessage(view);
  if (policyMessage !== undefined) return failing('PodFailurePolicy', policyMessage);
  if (view.failed > (job.spec.backoffLimit ?? 6) || restartsExceedLimit(view)) {
    return failing('BackoffLimitExceeded', 'Job has reached the specified backoff limit');
  }
  const left = deadlineLeft(job, startTime, now);
  if (left !== undefined && left <= 0) return failing('DeadlineExceeded', 'Job was active longer than specified deadline');
  return view.indexed && indexedFinish(job, view.indexed, now);
}

function indexedFinish(job: KubeObject, { completions, succeeded, failed }: IndexedView, now: number): WorkloadCondition | undefined {
  if (failed) {
    const { maxFailedIndexes } = job.spec;
    if (maxFailedIndexes !== undefined && failed.size > maxFailedIndexes) {
      const message = 'Job has exceeded the specified maximal number of failed indexes';
      return newCondition('FailureTarget', 'MaxFailedIndexesExceeded', message, now);
    }
    if (failed.size > 0 && failed.size + succeeded.size >= completions) {
      return newCondition('FailureTarget', 'FailedIndexes', 'Job has failed indexes', now);
    }
  }
  const rule = matchingSuccessRule(job.spec.successPolicy, completions, succeeded);
  return rule === undefined ? undefined : newCondition('SuccessCriteriaMet', 'SuccessPolicy', `Matched rules at index ${rule}`, now);
}

export function matchingSuccessRule(policy: Json, completions: number, succeeded: Indexes): number | undefined {
  if (!policy || succeeded.size === 0) return undefined;
  const index = (policy.rules ?? []).findIndex(({ succeededIndexes, succeededCount }: Json) => {
    if (succeededIndexes === undefined) return succeededCount !== undefined && succeeded.size >= succeededCount;
    const required = Indexes.parse(succeededIndexes, completions);
    const found = required.overlap(succeeded);
    return required.size > 0 && (found === required.size || (succeededCount !== undefined && found >= succeededCount));
  });
  return index < 0 ? undefined : index;
}

/** Enough succeeded and none runs. */
export function isComplete(job: KubeObject, succeeded: number, active: number): boolean {
  const { completions } = job.spec;
  return active === 0 && (completions === undefined ? succeeded > 0 : succeeded >= completions);
}

export function completed(now: number): WorkloadCondition {
  return newCondition('SuccessCriteriaMet', 'CompletionsReached', 'Reached expected number of succeeded pods', now);
}

/** The condition that ends the Job for good. */
export function terminalCondition({ type, reason, message }: WorkloadCondition, now: number): WorkloadCondition {
  return newCondition(type === 'FailureTarget' ? 'Failed' : 'Complete', reason ?? '', message ?? '', now);
}

export function newCondition(type: string, reason: string, message: string, now: number, status = 'True'): WorkloadCondition {
  const time = formatTime(new Date(now));
  return { type, status, lastProbeTime: time, lastTransitionTime: time, reason, message };
}

/** Milliseconds until activeDeadlineSeconds; undefined when there is none, or when the Job rests. */
export function deadlineLeft(job: KubeObject, startTime: string | undefined, now: number): number | undefined {
  const seconds: number | undefined = job.spec.activeDeadlineSeconds;
  if (seconds === undefined || startTime === undefined || job.spec.suspend) return undefined;
  return Date.parse(startTime) + seconds * 1000 - now;
}

function failJobMessage({ job, pods }: JobView): string | undefined {
  if (job.spec.podFailurePolicy === undefined) return undefined;
  for (const pod of pods) {
    const { message } = isFailed(job, pod) ? failureVerdict(job.spec.podFailurePolicy, pod) : {};
    if (message !== undefined) return message;
  }
  return undefined;
}

/** With restartPolicy OnFailure the restarts inside running Pods are the failures. */
function restartsExceedLimit({ job, pods }: JobView): boolean {
  if (job.spec.template.spec.restartPolicy !== 'OnFailure') return false;
  const limit: number = job.spec.backoffLimit ?? 6;
  let restarts = 0;
  for (const { status } of pods) {
    if (status?.phase !== 'Running' && status?.phase !== 'Pending') continue;
    for (const { restartCount = 0 } of [...(status.initContainerStatuses ?? []), ...(status.containerStatuses ?? [])])
      restarts += restartCount;
  }
  return limit === 0 ? restarts > 0 : restarts >= limit;
}
