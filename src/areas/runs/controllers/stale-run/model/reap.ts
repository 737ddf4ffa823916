import { RunMessage } from '../../../../../api/kruntimes.io/v1alpha1/reasons.ts';
import type { Run, RunStatus } from '../../../../../api/kruntimes.io/v1alpha1/run.ts';
import { isTerminal } from '../../../../../api/kruntimes.io/v1alpha1/run-state.ts';
import type { EventDetails } from '../../../../../runtime/event-recorder.ts';
import { afterLostAttempt, failed, released } from '../../../model/transitions.ts';
import type { Judgement } from './judge-run.ts';

/** What becomes of a Run that its Pod will not bring to its end. */
export function reap(run: Run, judged: Exclude<Judgement, { verdict: 'well' }>, now: Date): { status: RunStatus; event: EventDetails } {
  const status = next(run, judged, now);
  const reason = isTerminal(status.phase) ? 'StaleRunFailed' : 'StaleRunRetrying';
  return { status, event: { type: 'Warning', reason, message: `${judged.reason}: ${judged.message}` } };
}

function next(run: Run, judged: Exclude<Judgement, { verdict: 'well' }>, now: Date): RunStatus {
  // What was asked for has come to pass, if not in the way it was meant to.
  if (run.spec.cancelRequested) return failed(run, { reason: 'Cancelled', message: RunMessage.cancelled }, now);
  if (judged.verdict === 'unclaimed') return released(run, judged, now);
  return afterLostAttempt(run, judged, now).status;
}
