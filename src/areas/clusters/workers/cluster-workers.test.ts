import { expect, it } from 'vitest';
import type { TenantCluster } from '../../../api/tenantry.dev/v1alpha1/tenant-cluster.ts';
import type { Machines } from '../machines/machines.ts';
import { removeOrphans, removeWorkers, sleepWorkers } from './cluster-workers.ts';
import { machineId } from './model/pool-plan.ts';
import { WorkerMachines } from './worker-machines.ts';

const NOW = Date.parse('2026-11-15T00:00:00Z');

function aCluster(uid: string, phases: Record<string, string>): TenantCluster {
  const workers = Object.entries(phases).map(([name, phase]) => ({ name, pool: 'a', address: '', mac: '', provider: 'tcg', phase }));
  return {
    apiVersion: 'tenantry.dev/v1alpha1',
    kind: 'TenantCluster',
    metadata: { name: 'dev', namespace: 'acme', uid },
    spec: { nodePools: [{ name: 'a', replicas: 1 }] },
    status: { workers },
  };
}

function someMachines(left: { id: string; cluster: string }[]): { machines: WorkerMachines; asked: string[] } {
  const asked: string[] = [];
  const tcg = {
    provider: 'tcg',
    isolation: 'Kernel',
    onEnd: () => () => {},
    list: () => Promise.resolve(left.map((each) => ({ ...each, isRunning: true }))),
    stop: (id: string) => (asked.push(`stop ${id}`), Promise.resolve()),
    remove: (id: string) => (asked.push(`remove ${id}`), Promise.resolve()),
  } as unknown as Machines;
  return { machines: new WorkerMachines([{ name: 'tcg', isolation: 'Kernel' }], () => Promise.resolve([tcg])), asked };
}

it('sleep ends machines, and those that were ready say so', async () => {
  const { machines, asked } = someMachines([]);
  const cluster = aCluster('u1', { w1: 'Ready', w2: 'Leaving' });
  await sleepWorkers(cluster, machines, { now: () => NOW });
  expect(asked).toEqual([`stop ${machineId('u1', 'w1')}`, `stop ${machineId('u1', 'w2')}`]);
  expect(cluster.status!.workers!.map(({ phase }) => phase)).toEqual(['Asleep', 'Leaving']);
});

it('sleep ends machines that were waking up', async () => {
  const { machines, asked } = someMachines([]);
  const cluster = aCluster('u1', { w1: 'Asleep' });
  await sleepWorkers(cluster, machines, { now: () => NOW });
  expect(asked).toEqual([]);
  cluster.status!.workers![0].waking = '2026-11-14T00:00:00Z';
  await sleepWorkers(cluster, machines, { now: () => NOW });
  expect(asked).toEqual([`stop ${machineId('u1', 'w1')}`]);
  expect(cluster.status!.workers![0]).toMatchObject({ phase: 'Asleep', since: '2026-11-15T00:00:00Z' });
  expect(cluster.status!.workers![0].waking).toBeUndefined();
});

it('deletion leaves nothing, also of machines that nobody wrote down', async () => {
  const { machines, asked } = someMachines([
    { id: 'lost', cluster: 'u1' },
    { id: 'other', cluster: 'u2' },
  ]);
  await removeWorkers(aCluster('u1', { w1: 'Ready' }), machines);
  expect(asked).toEqual(['remove lost', `remove ${machineId('u1', 'w1')}`]);
});

it('machines that no cluster has are removed', async () => {
  const { machines, asked } = someMachines([
    { id: machineId('u1', 'w1'), cluster: 'u1' },
    { id: 'lost', cluster: 'gone' },
  ]);
  await removeOrphans([aCluster('u1', { w1: 'Ready' })], machines);
  expect(asked).toEqual(['remove lost']);
});

it('a cluster that never had workers opens no machines', async () => {
  const machines = new WorkerMachines([], () => Promise.reject(new Error('opened')));
  const cluster = { ...aCluster('u1', {}), spec: {} };
  await sleepWorkers(cluster, machines, { now: () => NOW });
  await removeWorkers(cluster, machines);
});
