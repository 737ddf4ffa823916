import type { Run } from '../../../../api/kruntimes.io/v1alpha1/run.ts';
import { phaseOf } from '../../../../api/kruntimes.io/v1alpha1/run-state.ts';
import type { Client } from '../../../../client/client.ts';
import { isStatusError } from '../../../../kube/status.ts';
import { failed, type Failure } from '../../model/transitions.ts';
import { writeRunStatus } from '../../write-run-status.ts';

/** Ends the Runs that wait for what will not come. One that has changed meanwhile is left to the next look. */
export async function failWaitingRuns(client: Client, runs: readonly Run[], failure: Failure, now: Date): Promise<void> {
  const waiting = runs.filter((run) => phaseOf(run) === 'Pending' && run.metadata.deletionTimestamp === undefined);
  for (const run of waiting) {
    try {
      await writeRunStatus(client, run, failed(run, failure, now));
    } catch (error) {
      if (!isStatusError(error, 'Conflict') && !isStatusError(error, 'NotFound')) throw error;
    }
  }
}
