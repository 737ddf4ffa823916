import { isTerminal, phaseOf } from '../../../../api/kruntimes.io/v1alpha1/run-state.ts';
import type { Run } from '../../../../api/kruntimes.io/v1alpha1/run.ts';
import { PLACED_FROM_LABEL } from '../../../../api/tenantry.dev/v1alpha1/cluster-names.ts';

/**
 * The copy of a Run of the host, as it was before it ended. Out of a backup it must not come: it would be executed again, whatever became of the Run since.
 * The host knows that better: a Run that has not begun gets a copy again, one that had begun fails, and one that has ended stays so.
 */
export function isUnfinishedCopy(run: Run): boolean {
  return run.metadata.labels?.[PLACED_FROM_LABEL] !== undefined && !isTerminal(phaseOf(run));
}
