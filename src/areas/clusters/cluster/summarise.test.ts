import { expect, it } from 'vitest';
import { ClusterCondition, ClusterReason } from '../../../api/tenantry.dev/v1alpha1/cluster-names.ts';
import type { TenantCluster } from '../../../api/tenantry.dev/v1alpha1/tenant-cluster.ts';
import { findCondition, type Condition } from '../../../kube/conditions.ts';
import { done, stalled, waiting, type Outcome } from '../../../runtime/steps/outcome.ts';
import { summarise, type ClusterFacts } from './summarise.ts';

const NOW = Date.parse('2026-11-15T00:00:00Z');
const FACTS: ClusterFacts = { bounds: undefined, clusters: [], violations: [], versions: [], running: undefined };

const isTrue = (type: string): Condition => ({
  type,
  status: 'True',
  reason: 'Done',
  message: '',
  lastTransitionTime: '2026-11-14T00:00:00Z',
});

function aCluster(conditions: string[], changes: { spec?: TenantCluster['spec']; isDeleted?: boolean } = {}): TenantCluster {
  const deletionTimestamp = changes.isDeleted ? '2026-11-15T00:00:00Z' : undefined;
  return {
    apiVersion: 'tenantry.dev/v1alpha1',
    kind: 'TenantCluster',
    metadata: { name: 'dev', namespace: 'acme', deletionTimestamp },
    spec: changes.spec ?? {},
    status: { conditions: conditions.map(isTrue) },
  };
}

const { Accepted, Restored, AccessGranted } = ClusterCondition;
const restore = { restore: { backup: 'monday' } };

it.each<[string, TenantCluster, Outcome, string]>([
  ['Ready when all steps are done', aCluster([Accepted]), done(), 'Ready'],
  ['Asleep', aCluster([Accepted]), stalled(ClusterReason.Asleep, ''), 'Asleep'],
  ['Pending before it is accepted', aCluster([]), stalled(ClusterReason.NoPolicy, ''), 'Pending'],
  ['Creating while it has never been ready', aCluster([Accepted]), waiting('Restarting', 'soon'), 'Creating'],
  ['Failed when something that worked does not', aCluster([Accepted, AccessGranted]), waiting('DiskFull', 'full'), 'Failed'],
  ['Changing while add-ons are put into many namespaces', aCluster([Accepted, AccessGranted]), waiting('AddOnsInstalling', ''), 'Changing'],
  ['Failed when nothing will happen by itself', aCluster([Accepted]), stalled('StartFailed', ''), 'Failed'],
  ['Restoring until the backup is back', aCluster([Accepted, AccessGranted], { spec: restore }), waiting('DiskFull', ''), 'Restoring'],
  ['Failed when there is no such backup', aCluster([Accepted], { spec: restore }), stalled('NoBackup', ''), 'Failed'],
  ['Creating after a restore', aCluster([Accepted, Restored], { spec: restore }), waiting('Restarting', ''), 'Creating'],
  ['Deleting', aCluster([Accepted], { isDeleted: true }), waiting('X', ''), 'Deleting'],
])('the phase of a cluster is %s', (_name, cluster, outcome, expected) => {
  summarise(cluster, outcome, FACTS, NOW);
  expect(cluster.status?.phase).toBe(expected);
});

it('what is beyond the bounds is told and changes nothing else', () => {
  const cluster = aCluster([Accepted]);
  summarise(cluster, done(), { ...FACTS, violations: [{ bound: 'clusters', amount: 2, message: 'two are one too many' }] }, NOW);
  expect(cluster.status?.phase).toBe('Ready');
  expect(findCondition(cluster.status?.conditions, ClusterCondition.WithinBounds)).toMatchObject({
    status: 'False',
    message: 'two are one too many. Nothing is stopped because of that.',
  });
});

it('progress is what a busy cluster waits for, and goes with it', () => {
  const cluster = aCluster([Accepted]);
  summarise(cluster, waiting('Restarting', 'is started again soon'), FACTS, NOW);
  expect(cluster.status?.progress).toBe('is started again soon');
  summarise(cluster, done(), FACTS, NOW);
  expect(cluster.status?.progress).toBeUndefined();
});

it('an upgrade is told while it lasts, when it failed and when it is done, and never of a cluster that had none', () => {
  const cluster = aCluster([Accepted]);
  const told = () => {
    summarise(cluster, done(), FACTS, NOW);
    return findCondition(cluster.status?.conditions, ClusterCondition.Upgraded);
  };
  expect(told()).toBeUndefined();
  cluster.status = { ...cluster.status, version: '1.34.4', upgrade: { version: '1.35.4' } };
  expect(told()).toMatchObject({ status: 'False', reason: 'Upgrading', message: 'it is taken from 1.34.4 to 1.35.4' });
  cluster.status.upgrade!.failed = 'it ended';
  expect(told()).toMatchObject({ status: 'False', reason: 'UpgradeFailed' });
  cluster.status = { ...cluster.status, version: '1.35.4', upgrade: undefined };
  expect(told()).toMatchObject({ status: 'True', message: 'it has version 1.35.4' });
});
