import { RunCondition, RunMessage, RunReason, type FailureReason } from '../../../api/kruntimes.io/v1alpha1/reasons.ts';
import type { Run, RunPhase, RunStatus } from '../../../api/kruntimes.io/v1alpha1/run.ts';
import { setCondition, type Condition, type ConditionStatus } from '../../../kube/conditions.ts';
import { formatTime } from '../../../kube/time.ts';
import { decideRetry } from './retry.ts';
import { attemptOf } from '../../../api/kruntimes.io/v1alpha1/run-state.ts';

/** Every way a Run's status changes, for all who write one. Each returns a whole new status and leaves the Run alone. */

const MAX_MESSAGE = 1024;

/** Only what changes in place is copied: conditions. The rest is replaced as a whole, if at all. */
function draft(run: Run, phase: RunPhase): RunStatus & { conditions: Condition[] } {
  return { ...run.status, phase, conditions: (run.status?.conditions ?? []).map((condition) => ({ ...condition })) };
}

function say(status: { conditions: Condition[] }, type: string, value: ConditionStatus, reason: string, message: string, now: Date): void {
  setCondition(status.conditions, { type, status: value, reason, message }, now);
}

export function assigned(run: Run, pod: { name: string; uid: string }, now: Date): RunStatus {
  const status = draft(run, 'Scheduled');
  status.assignedPod = pod.name;
  status.assignedPodUID = pod.uid;
  delete status.message;
  // A Run that comes back to be placed again has this condition already: its time is that of this placement.
  status.conditions = status.conditions.filter(({ type }) => type !== RunCondition.Scheduled);
  say(status, RunCondition.Scheduled, 'True', RunReason.Assigned, RunMessage.assigned(pod.name), now);
  return status;
}

export function waitingForPod(run: Run, message: string): RunStatus {
  return { ...draft(run, 'Pending'), message };
}

export function claimed(run: Run, now: Date): RunStatus {
  const status = draft(run, 'Running');
  status.startTime = formatTime(now);
  const again = attemptOf(run) > 1;
  say(
    status,
    RunCondition.Running,
    'True',
    again ? RunReason.Retrying : RunReason.Claimed,
    again ? RunMessage.retrying : RunMessage.claimed,
    now,
  );
  return status;
}

export interface Success {
  outputs?: Record<string, string>;
  exitCode?: number;
  log?: RunStatus['log'];
  artifactRefs?: RunStatus['artifactRefs'];
  start?: RunStatus['start'];
}

export function succeeded(run: Run, result: Success, now: Date): RunStatus {
  const status = draft(run, 'Succeeded');
  Object.assign(status, definedOnly(result));
  status.attempt = attemptOf(run);
  status.message = RunMessage.succeeded;
  status.completionTime = formatTime(now);
  say(status, RunCondition.Running, 'False', RunReason.Completed, '', now);
  say(status, RunCondition.Completed, 'True', RunReason.RunCompleted, RunMessage.completed, now);
  return status;
}

export interface Failure {
  reason: FailureReason;
  message: string;
  exitCode?: number;
  log?: RunStatus['log'];
  /** How the program was started; absent: it was not. */
  start?: RunStatus['start'];
}

/** The end of a Run that did not succeed. */
export function failed(run: Run, failure: Failure, now: Date): RunStatus {
  const status = draft(run, failure.reason === 'Timeout' || failure.reason === 'Cancelled' ? failure.reason : 'Failed');
  const message = failure.message.slice(0, MAX_MESSAGE);
  Object.assign(status, definedOnly({ exitCode: failure.exitCode, log: failure.log, start: failure.start }));
  status.attempt = attemptOf(run);
  status.message = message;
  status.completionTime = formatTime(now);
  say(status, RunCondition.Running, 'False', failure.reason, message, now);
  say(status, RunCondition.Completed, 'False', failure.reason, message, now);
  return status;
}

export type AfterFailure = { status: RunStatus; retryAt?: Date };

/** What follows when the Run's place is lost with the attempt: another place, if the policy allows one more attempt, or the end. */
export function afterLostAttempt(run: Run, failure: Failure, now: Date): AfterFailure {
  const decision = decideRetry(run, failure.reason);
  if (!decision.retry) return { status: failed(run, failure, now) };
  const status = draft(run, 'Pending');
  delete status.assignedPod;
  delete status.assignedPodUID;
  delete status.startTime;
  delete status.exitCode;
  return { status: betweenAttempts(status, decision.nextAttempt, failure, now), retryAt: new Date(now.getTime() + decision.backoffMs) };
}

/** Back to the queue, for a Run that nobody claimed: no program of it has run, so that no attempt is counted. */
export function released(run: Run, why: { reason: string; message: string }, now: Date): RunStatus {
  const status = draft(run, 'Pending');
  delete status.assignedPod;
  delete status.assignedPodUID;
  status.message = why.message.slice(0, MAX_MESSAGE);
  say(status, RunCondition.Scheduled, 'False', why.reason, status.message, now);
  return status;
}

/** What follows when the next attempt can be made in the same place: the Run keeps it. */
export function afterFailedAttempt(run: Run, failure: Failure, now: Date): AfterFailure {
  const decision = decideRetry(run, failure.reason);
  if (!decision.retry) return { status: failed(run, failure, now) };
  const status = draft(run, 'Running');
  return { status: betweenAttempts(status, decision.nextAttempt, failure, now), retryAt: new Date(now.getTime() + decision.backoffMs) };
}

function betweenAttempts(status: RunStatus & { conditions: Condition[] }, attempt: number, failure: Failure, now: Date): RunStatus {
  status.attempt = attempt;
  status.message = failure.message.slice(0, MAX_MESSAGE);
  // The back-off counts from here, whatever the condition said before.
  status.conditions = status.conditions.filter(({ type }) => type !== RunCondition.Running);
  say(status, RunCondition.Running, 'False', failure.reason, status.message, now);
  return status;
}

function definedOnly(fields: object): object {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));
}
