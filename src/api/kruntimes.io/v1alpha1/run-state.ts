import type { Run, RunPhase } from './run.ts';

/** A fresh Run has no status at all: that is Pending. */
export function phaseOf(run: Run): RunPhase {
  return run.status?.phase ?? 'Pending';
}

const TERMINAL: ReadonlySet<RunPhase> = new Set(['Succeeded', 'Failed', 'Timeout', 'Cancelled']);

/** The field selector of Runs that have not ended: however many have, they cost nothing to whoever watches by it. */
export const UNFINISHED = [...TERMINAL].map((phase) => `status.phase!=${phase}`).join(',');

/** The field selector of Runs that are this API server's own controllers' business: not those that work in a cluster of their tenant. */
export const HERE = 'status.placedIn=';
export const UNFINISHED_HERE = `${UNFINISHED},${HERE}`;

export function isTerminal(phase: RunPhase): boolean {
  return TERMINAL.has(phase);
}

/** Whether the Run takes a place on its Pod. */
export function holdsCapacity(run: Run): boolean {
  const phase = phaseOf(run);
  return (phase === 'Scheduled' || phase === 'Running' || phase === 'Ready') && !!run.status?.assignedPod;
}

/** From which phase a Run may go to which. Nothing leaves a terminal one. */
export const NEXT_PHASES: Readonly<Record<RunPhase, readonly RunPhase[]>> = {
  Pending: ['Scheduled', 'Failed', 'Cancelled'],
  Scheduled: ['Running', 'Pending', 'Failed', 'Cancelled'],
  Running: ['Succeeded', 'Failed', 'Timeout', 'Cancelled', 'Pending', 'Ready'],
  Ready: ['Succeeded', 'Failed', 'Timeout', 'Cancelled', 'Pending'],
  Succeeded: [],
  Failed: [],
  Timeout: [],
  Cancelled: [],
};

/** Runs start to count at one. Absent until the first attempt has ended. */
export function attemptOf(run: Run): number {
  return Math.max(1, run.status?.attempt ?? 1);
}

/** No attempt has begun, and none is about to: it can still begin anywhere. */
export function isUntouched(run: Run): boolean {
  return phaseOf(run) === 'Pending' && attemptOf(run) === 1;
}
