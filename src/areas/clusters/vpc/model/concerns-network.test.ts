import { expect, it } from 'vitest';
import type { TenantCluster } from '../../../../api/tenantry.dev/v1alpha1/tenant-cluster.ts';
import { aResident, aWorker } from '../testing/some-objects.ts';
import { concernsNetwork } from './concerns-network.ts';

const resident = aResident('acme', 'dev');
const fresh: TenantCluster = { ...resident, spec: { nodePools: [{ name: 'a', replicas: 1 }] }, status: undefined };
const deleted = (cluster: TenantCluster): TenantCluster => ({
  ...cluster,
  metadata: { ...cluster.metadata, deletionTimestamp: '2026-01-01T00:00:00Z' },
});

it.each<[string, TenantCluster, TenantCluster, boolean]>([
  ['a place that it gets', fresh, { ...fresh, status: resident.status }, true],
  ['a worker that it gets', resident, aResident('acme', 'dev', { workers: [aWorker('dev-a', '10.0.1.10')] }), true],
  ['a phase', resident, { ...resident, status: { ...resident.status, phase: 'Ready' } }, false],
  ['its deletion before it had a place', fresh, deleted(fresh), true],
  ['its deletion while it has its place', resident, deleted(resident), false],
  ['anything of one without a network', { ...fresh, spec: {} }, deleted({ ...fresh, spec: {} }), false],
])('concernsNetwork: %s', (_name, before, after, expected) => {
  expect(concernsNetwork(before, after)).toBe(expected);
});
