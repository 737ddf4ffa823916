import { ClusterReason } from '../../../api/tenantry.dev/v1alpha1/cluster-names.ts';
import { stalled, waiting, type Outcome } from '../../../runtime/steps/outcome.ts';
import { ControlPlaneError } from '../control-plane/control-planes.ts';

/** What a provider could not do is a condition, not a failure of ours. */
export async function orWaiting(work: () => Promise<Outcome>): Promise<Outcome> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof ControlPlaneError)) throw error;
    const reason = ClusterReason[error.reason];
    return error.afterMs === undefined ? stalled(reason, error.message) : waiting(reason, error.message, error.afterMs);
  }
}
