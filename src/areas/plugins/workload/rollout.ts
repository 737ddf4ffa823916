import { InstallationReason } from '../../../api/plugins.tenantry.dev/v1alpha1/reasons.ts';
import { findCondition } from '../../../kube/conditions.ts';
import type { KubeObject } from '../../../kube/object.ts';
import { done, stalled, waiting, type Outcome } from '../../../runtime/steps/outcome.ts';

/** What has become of a Deployment: all of it new and answering, under way, or stuck. */
export function rolloutOf(deployment: KubeObject | undefined): Outcome {
  if (!deployment || (deployment.status?.observedGeneration ?? 0) < (deployment.metadata.generation ?? 1))
    return waiting(InstallationReason.RollingOut, 'waits for the Deployment to be seen');
  const { spec, status } = deployment;
  const wanted: number = spec.replicas ?? 1;
  const { updatedReplicas = 0, availableReplicas = 0, replicas = 0 } = status;
  if (updatedReplicas >= wanted && availableReplicas >= wanted && replicas <= updatedReplicas) {
    return wanted === 0 ? done('ScaledToZero') : done('Available', `${availableReplicas} of ${wanted} answer`);
  }
  const refused = findCondition<{ type: string; status: string; message?: string }>(status.conditions, 'ReplicaFailure');
  if (refused?.status === 'True') return stalled(InstallationReason.NotStarting, `its Pods are refused: ${refused.message ?? ''}`);
  const progress = findCondition<{ type: string; status: string; reason?: string }>(status.conditions, 'Progressing');
  if (progress?.status === 'False' && progress.reason === 'ProgressDeadlineExceeded') {
    return stalled(InstallationReason.NotStarting, `${availableReplicas} of ${wanted} answer, and no more in time; look at its logs`);
  }
  return waiting(InstallationReason.RollingOut, `${Math.min(availableReplicas, updatedReplicas)} of ${wanted} answer`);
}
