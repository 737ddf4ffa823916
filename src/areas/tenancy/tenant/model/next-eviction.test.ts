import { describe, expect, test } from 'vitest';
import { planFor, type PodFact } from '../../../../api/tenantry.dev/v1alpha1/plan.ts';
import type { Tenant } from '../../../../api/tenantry.dev/v1alpha1/tenant.ts';
import { nextEviction, REPLACEMENT_MS, type Eviction } from './next-eviction.ts';

const tenant = { apiVersion: 'tenantry.dev/v1alpha1', kind: 'Tenant', metadata: { name: 'acme' }, spec: {} } as Tenant;
const nodes = ['own', 'shared'].map((name) => ({ name, labels: {}, ready: true, cpu: '8', memory: '8Gi' }));
const NOW = 10 * REPLACEMENT_MS;

const leaving = (name: string, more: Partial<PodFact> = {}): PodFact => ({
  namespace: 'acme',
  name,
  uid: name,
  node: 'shared',
  tenant: 'acme',
  controller: { kind: 'ReplicaSet', name: 'web' },
  pinned: false,
  stays: false,
  ready: true,
  createdAt: 0,
  terminating: false,
  cpu: '0',
  memory: '0',
  ...more,
});
const moved = (name: string, more: Partial<PodFact> = {}): PodFact => leaving(name, { node: 'own', pinned: true, ...more });

function choice(pods: PodFact[], last?: Eviction) {
  const facts = { nodes, pods };
  const plan = planFor(tenant, { isolation: 'DedicatedNodes', nodePool: { names: ['own'] } }, facts);
  const evictions = new Map(last ? [['acme/ReplicaSet/web', last]] : []);
  const { candidates, waitsFor } = nextEviction(plan, facts, evictions, NOW);
  return waitsFor?.why ?? candidates.map(({ pod }) => pod.name).join(' ');
}

const STARTS = 'a Pod that takes over is starting';
const last = (at: number): Eviction => ({
  workload: { namespace: 'acme', kind: 'ReplicaSet', name: 'web' },
  tenant: 'acme',
  uid: 'gone',
  pods: 2,
  at,
});

describe('the next Pod to go', () => {
  test.each<[string, PodFact[], Eviction | undefined, string]>([
    [
      'is the first of each workload',
      [leaving('a'), leaving('b'), leaving('x', { controller: { kind: 'ReplicaSet', name: 'y' } })],
      undefined,
      'a x',
    ],
    ['is one that is not ready, before one that is', [leaving('a'), leaving('b', { ready: false })], undefined, 'b'],
    ['waits for one that ends', [leaving('a'), leaving('b', { terminating: true })], undefined, 'a Pod of it is ending'],
    ['waits for a successor that starts', [leaving('a'), moved('n', { ready: false, createdAt: NOW - 1000 })], undefined, STARTS],
    ['does not wait for one that never becomes ready', [leaving('a'), moved('n', { ready: false, createdAt: 0 })], undefined, 'a'],
    ['waits for a successor that is not there yet', [leaving('a')], last(NOW - 1000), STARTS],
    ['waits, while the cache still shows the one that went', [leaving('a'), leaving('gone')], last(NOW - 1000), STARTS],
    ['goes, when the successor is ready', [leaving('a'), moved('n')], last(NOW - 1000), 'a'],
    ['goes, when none comes', [leaving('a')], last(NOW - REPLACEMENT_MS), 'a'],
    ['is none, and the end is not there, while the last successor starts', [moved('n')], last(NOW - 1000), STARTS],
    ['is none, when all are in place', [moved('m'), moved('n')], last(NOW - 1000), ''],
    ['is never one that nothing makes again', [leaving('a', { controller: undefined })], undefined, ''],
  ])('%s', (_what, pods, before, expected) => {
    expect(choice(pods, before)).toBe(expected);
  });
});
