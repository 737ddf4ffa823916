import { NEVER_RETRIED, type FailureReason } from '../../../api/kruntimes.io/v1alpha1/reasons.ts';
import type { Run } from '../../../api/kruntimes.io/v1alpha1/run.ts';
import { parseGoDuration } from '../../../kube/go-duration.ts';
import { attemptOf } from '../../../api/kruntimes.io/v1alpha1/run-state.ts';

const DEFAULT_BACKOFF_MS = 1000;
const LONGEST_BACKOFF_MS = 60_000;

export type RetryDecision = { retry: true; nextAttempt: number; backoffMs: number } | { retry: false };

/** The one answer to "and now?" when an attempt did not succeed, for runtimed and for the reaper. */
export function decideRetry(run: Run, reason: FailureReason): RetryDecision {
  const policy = run.spec.retryPolicy ?? {};
  const attempt = attemptOf(run);
  const retryable = !NEVER_RETRIED.has(reason) && (!policy.retryableReasons?.length || policy.retryableReasons.includes(reason));
  if (!retryable || run.spec.cancelRequested || run.metadata.deletionTimestamp || attempt >= (policy.maxAttempts ?? 1)) {
    return { retry: false };
  }
  return { retry: true, nextAttempt: attempt + 1, backoffMs: backoffBefore(run, attempt + 1) };
}

/** How long the given attempt waits after the failure of the one before: doubled each time. */
export function backoffBefore(run: Run, attempt: number): number {
  const backoff = run.spec.retryPolicy?.backoff;
  const base = (backoff === undefined ? undefined : parseGoDuration(backoff)) ?? DEFAULT_BACKOFF_MS;
  return Math.min(LONGEST_BACKOFF_MS, base * 2 ** Math.max(0, attempt - 2));
}
