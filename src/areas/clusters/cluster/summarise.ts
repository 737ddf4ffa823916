import { ClusterCondition, ClusterPhase, ClusterReason } from '../../../api/tenantry.dev/v1alpha1/cluster-names.ts';
import type { TenantCluster } from '../../../api/tenantry.dev/v1alpha1/tenant-cluster.ts';
import { findCondition, isConditionTrue, setCondition, type ConditionStatus } from '../../../kube/conditions.ts';
import type { Outcome } from '../../../runtime/steps/outcome.ts';
import type { RunningControlPlane } from '../control-plane/control-planes.ts';
import { certificatesCondition } from './model/certificates.ts';
import type { Bounds } from '../policy/model/bounds.ts';
import { demandOf, type Violation } from '../policy/model/violations.ts';
import { isUpgrading, upgradeText } from './model/upgrade.ts';

export interface ClusterFacts {
  bounds: Bounds | undefined;
  /** All clusters of the tenant, this one included. */
  clusters: readonly TenantCluster[];
  violations: readonly Violation[];
  versions: readonly string[];
  running: RunningControlPlane | undefined;
}

/** Phase, progress, bounds, and the conditions that tell without stopping anything. */
export function summarise(cluster: TenantCluster, outcome: Outcome, facts: ClusterFacts, now: number): void {
  const status = (cluster.status ??= {});
  status.phase = phaseOf(cluster, outcome);
  const isBusy =
    status.phase === ClusterPhase.Creating ||
    status.phase === ClusterPhase.Changing ||
    status.phase === ClusterPhase.Restoring ||
    status.phase === ClusterPhase.Deleting;
  if (isBusy) status.progress = outcome.message;
  else delete status.progress;
  if (facts.bounds) status.bounds = boundsText(facts.bounds, facts);
  const tell = (type: string, value: ConditionStatus, reason: string, message: string) =>
    setCondition(
      (status.conditions ??= []),
      { type, status: value, reason, message, observedGeneration: cluster.metadata.generation },
      new Date(now),
    );
  const beyond = facts.violations.map(({ message }) => message).join('; ');
  tell(
    ClusterCondition.WithinBounds,
    beyond === '' ? 'True' : 'False',
    beyond === '' ? ClusterReason.Within : ClusterReason.Beyond,
    beyond === '' ? '' : `${beyond}. Nothing is stopped because of that.`,
  );
  const upgrade = upgradeText(status);
  if (upgrade !== undefined) {
    tell(ClusterCondition.Upgraded, 'False', isUpgrading(status) ? ClusterReason.Upgrading : ClusterReason.UpgradeFailed, upgrade);
  } else if (findCondition(status.conditions, ClusterCondition.Upgraded)) {
    tell(ClusterCondition.Upgraded, 'True', ClusterReason.Upgraded, `it has version ${status.version}`);
  }
  if (facts.running === undefined) return;
  const { sharedUser } = facts.running;
  tell(
    ClusterCondition.ProcessIsolated,
    sharedUser === undefined ? 'True' : 'False',
    sharedUser === undefined ? ClusterReason.OwnUser : ClusterReason.SharedUser,
    sharedUser === undefined ? 'its processes have a user of their own' : sharedUser,
  );
  const certificates = certificatesCondition(facts.running, now);
  tell(ClusterCondition.CertificatesValid, certificates.status, certificates.reason, certificates.message);
}

function phaseOf(cluster: TenantCluster, outcome: Outcome): string {
  const { metadata, status, spec } = cluster;
  if (metadata.deletionTimestamp !== undefined) return ClusterPhase.Deleting;
  if (outcome.type === 'done') return ClusterPhase.Ready;
  if (outcome.reason === ClusterReason.Asleep) return ClusterPhase.Asleep;
  if (!isConditionTrue(status?.conditions, ClusterCondition.Accepted)) return ClusterPhase.Pending;
  if (spec.restore !== undefined && !isConditionTrue(status?.conditions, ClusterCondition.Restored)) {
    return outcome.type === 'stalled' ? ClusterPhase.Failed : ClusterPhase.Restoring;
  }
  if (outcome.reason === ClusterReason.WorkersJoining || outcome.reason === ClusterReason.WorkersLeaving) return ClusterPhase.Changing;
  if (outcome.reason === ClusterReason.AddOnsInstalling) return ClusterPhase.Changing;
  const wasReady = findCondition(status?.conditions, ClusterCondition.AccessGranted)?.status === 'True';
  return outcome.type === 'stalled' || wasReady ? ClusterPhase.Failed : ClusterPhase.Creating;
}

function boundsText(bounds: Bounds, { clusters, versions }: ClusterFacts): NonNullable<NonNullable<TenantCluster['status']>['bounds']> {
  const demand = demandOf(clusters);
  const of = (used: { toString(): string }, limit: { value: { toString(): string } } | undefined) =>
    limit === undefined ? undefined : `${used.toString()}/${limit.value.toString()}`;
  const texts = {
    clusters: of(demand.clusters, bounds.clusters),
    workers: of(demand.workers, bounds.workers),
    cpu: of(demand.cpu, bounds.cpu),
    memory: of(demand.memory, bounds.memory),
    disk: of(demand.disk, bounds.disk),
  };
  return {
    policies: bounds.policies,
    versions: [...versions],
    ...Object.fromEntries(Object.entries(texts).filter(([, text]) => text !== undefined)),
  };
}
