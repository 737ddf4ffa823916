import { describe, expect, it } from 'vitest';
import type { TenantCluster } from '../../../../api/tenantry.dev/v1alpha1/tenant-cluster.ts';
import { machineId, poolPlan, sizeOf, workerName, type NodePool, type Worker } from './pool-plan.ts';

const pool = (name: string, replicas: number, more: Partial<NodePool> = {}): NodePool => ({ name, replicas, ...more });

function worker(name: string, more: Partial<Worker> = {}): Worker {
  const [of] = name.split('-');
  return { name, pool: of, address: '10.0.1.2', mac: '', phase: 'Ready', version: '1.35.4', size: sizeOf(pool(of, 0)), ...more };
}

function cluster(pools: NodePool[], workers: Worker[]): TenantCluster {
  return {
    apiVersion: 'tenantry.dev/v1alpha1',
    kind: 'TenantCluster',
    metadata: { name: 'dev', namespace: 'acme' },
    spec: { nodePools: pools },
    status: { version: '1.35.4', workers },
  };
}

describe('poolPlan', () => {
  it.each<[string, NodePool[], Worker[], { missing: string[]; leaving: string[] }]>([
    ['makes what is missing', [pool('a', 2), pool('b', 1)], [worker('a-1')], { missing: ['a', 'b'], leaving: [] }],
    ['has nothing to do', [pool('a', 1)], [worker('a-1')], { missing: [], leaving: [] }],
    [
      'takes those first that do not work, then the newest',
      [pool('a', 1)],
      [worker('a-1', { phase: 'Joining' }), worker('a-2'), worker('a-3')],
      { missing: [], leaving: ['a-3', 'a-1'] },
    ],
    ['takes all of a pool that is gone', [], [worker('a-1'), worker('a-2')], { missing: [], leaving: ['a-1', 'a-2'] }],
    ['takes all when scaled to none', [pool('a', 0)], [worker('a-1')], { missing: [], leaving: ['a-1'] }],
    ['does not count those that go', [pool('a', 1)], [worker('a-1', { phase: 'Leaving' })], { missing: ['a'], leaving: [] }],
    [
      'replaces one of an older version at a time',
      [pool('a', 2)],
      [worker('a-1', { version: '1.34.1' }), worker('a-2', { version: '1.34.1' })],
      { missing: [], leaving: ['a-1'] },
    ],
    [
      'waits with the next until the last one is ready',
      [pool('a', 2)],
      [worker('a-2', { version: '1.34.1' }), worker('a-3', { phase: 'Joining' })],
      { missing: [], leaving: [] },
    ],
    ['replaces those of another size', [pool('a', 1, { memory: '2Gi' })], [worker('a-1')], { missing: [], leaving: ['a-1'] }],
  ])('%s', (_name, pools, workers, expected) => {
    const { missing, leaving } = poolPlan(cluster(pools, workers));
    expect({ missing: missing.map(({ name }) => name), leaving }).toEqual(expected);
  });
});

describe('workerName', () => {
  const letters = (length: number) => 'x'.repeat(length);
  it('says cluster and pool', () => {
    expect(workerName('dev', 'workers', letters)).toBe('dev-workers-xxxxx');
  });

  it('fits into a label, and differs where the shortened would not', () => {
    const [one, two] = ['a', 'b'].map((end) => workerName('c'.repeat(52), `${'p'.repeat(40)}${end}`, letters));
    expect(one.length).toBe(63);
    expect(one).not.toBe(two);
  });
});

it('machines of two clusters never have one id', () => {
  expect(machineId('u1', 'dev-a-xxxxx')).not.toBe(machineId('u2', 'dev-a-xxxxx'));
  expect(machineId('u1', 'dev-a-xxxxx')).toMatch(/^w[0-9a-f]{15}$/);
});
