import type { Run } from '../api/kruntimes.io/v1alpha1/run.ts';
import { phaseOf } from '../api/kruntimes.io/v1alpha1/run-state.ts';

/** What `timeout` exits with. */
const TIMED_OUT = 124;
/** What `docker run` exits with when the program never ran. */
const NOT_RUN = 125;
/** What a shell reports of a program that Ctrl-C ended. */
const CANCELLED = 130;

/** The exit code that stands for how a Run ended. */
export function exitCodeOf(run: Run): number {
  const phase = phaseOf(run);
  if (phase === 'Timeout') return TIMED_OUT;
  if (phase === 'Cancelled') return CANCELLED;
  if (phase === 'Succeeded') return run.status?.exitCode ?? 0;
  // A failure is never a success, whatever the program said: its outputs may have been refused.
  const { exitCode = 0 } = run.status ?? {};
  return exitCode > 0 && exitCode < 256 ? exitCode : NOT_RUN;
}
