import type { FailureReason } from '../../../../../api/kruntimes.io/v1alpha1/reasons.ts';
import { RunMessage } from '../../../../../api/kruntimes.io/v1alpha1/reasons.ts';
import type { Run } from '../../../../../api/kruntimes.io/v1alpha1/run.ts';
import { phaseOf } from '../../../../../api/kruntimes.io/v1alpha1/run-state.ts';

/** What is known of the Pod that a Run was given. Durations are by our own watch: the clocks of two machines are never compared. */
export interface AssignedPod {
  uid: string;
  /** Being deleted. It drains: its Runs may end well. */
  isGoing: boolean;
  /** How long ago its grace was over. */
  overdueMs?: number;
  /** All its containers have ended, and none will start again. */
  hasEnded: boolean;
  notReadyForMs?: number;
  silentForMs?: number;
}

export interface StaleThresholds {
  /** How long a Pod may be not ready, or runtimed silent, or a Pod outlive its grace. */
  staleMs: number;
  /** How long a Pod that is well may leave a Run unclaimed. */
  unclaimedMs: number;
}

export const DEFAULT_THRESHOLDS: StaleThresholds = { staleMs: 30_000, unclaimedMs: 60_000 };

/** Why nobody claimed a Run in time. */
export const UNCLAIMED = 'Unclaimed';
const UNCLAIMED_MESSAGE = 'assigned pod did not claim the run';

export type Judgement =
  | { verdict: 'well' }
  /** Its program may have run, and nobody will tell how it ended. */
  | { verdict: 'lost'; reason: FailureReason; message: string }
  /** No program of it has run: a claim comes before the program, and there was none. */
  | { verdict: 'unclaimed'; reason: string; message: string };

/** Whether a Run can still be brought to its end by the Pod that has it. @param pod undefined: there is none of that name */
export function judgeRun(run: Run, pod: AssignedPod | undefined, scheduledForMs: number, thresholds: StaleThresholds): Judgement {
  const phase = phaseOf(run);
  if (phase !== 'Scheduled' && phase !== 'Running' && phase !== 'Ready') return { verdict: 'well' };
  const isUnclaimed = phase === 'Scheduled';
  const complaint = complaintAbout(run, pod, isUnclaimed, thresholds);
  if (complaint !== undefined) return isUnclaimed ? { verdict: 'unclaimed', ...complaint } : { verdict: 'lost', ...complaint };
  if (isUnclaimed && scheduledForMs > thresholds.unclaimedMs) {
    return { verdict: 'unclaimed', reason: UNCLAIMED, message: UNCLAIMED_MESSAGE };
  }
  return { verdict: 'well' };
}

/** When to look again at Runs of a Pod of which nothing is heard meanwhile. */
export function nextLook(pod: AssignedPod, { staleMs }: StaleThresholds): number {
  const ages = [pod.silentForMs, pod.isGoing ? pod.overdueMs : pod.notReadyForMs].filter((age) => age !== undefined);
  const rest = ages.map((age) => staleMs + 1 - age).filter((left) => left > 0);
  return Math.min(staleMs + 1, ...rest);
}

function complaintAbout(
  run: Run,
  pod: AssignedPod | undefined,
  isUnclaimed: boolean,
  { staleMs }: StaleThresholds,
): { reason: FailureReason; message: string } | undefined {
  if (pod === undefined || !run.status?.assignedPod) return { reason: 'PodGone', message: RunMessage.podGone };
  const uid = run.status.assignedPodUID;
  if (uid && uid !== pod.uid) return { reason: 'PodGone', message: RunMessage.podReplaced };
  if (pod.hasEnded) return { reason: 'PodUnhealthy', message: RunMessage.podNotReady };
  // A Pod that is going takes no new Runs: those that it has not begun need not wait for its end.
  if (pod.isGoing && (isUnclaimed || (pod.overdueMs ?? 0) > staleMs))
    return { reason: 'PodTerminating', message: RunMessage.podTerminating };
  // While it drains it says it is not ready, and that is no illness.
  if (!pod.isGoing && (pod.notReadyForMs ?? 0) > staleMs) return { reason: 'PodUnhealthy', message: RunMessage.podNotReady };
  if ((pod.silentForMs ?? 0) > staleMs) return { reason: 'PodUnhealthy', message: RunMessage.heartbeatStale };
  return undefined;
}
