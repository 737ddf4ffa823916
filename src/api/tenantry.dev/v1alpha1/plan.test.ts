import { describe, expect, test } from 'vitest';
import { planFacts } from './plan-facts.ts';
import { planFor, type NodeFact, type PlanFacts, type PodFact, type Wanted } from './plan.ts';
import type { Tenant } from './tenant.ts';

const acme = (isolation?: string): Tenant => ({
  apiVersion: 'tenantry.dev/v1alpha1',
  kind: 'Tenant',
  metadata: { name: 'acme' },
  spec: {},
  status: { isolation },
});

const aNode = (name: string, more: Partial<NodeFact> = {}): NodeFact => ({
  name,
  labels: { pool: name[0] },
  ready: true,
  cpu: '4',
  memory: '8Gi',
  ...more,
});

const aPod = (name: string, more: Partial<PodFact> = {}): PodFact => ({
  namespace: 'acme',
  name,
  uid: name,
  node: 's1',
  tenant: 'acme',
  controller: { kind: 'ReplicaSet', name: 'web' },
  pinned: false,
  stays: false,
  ready: true,
  createdAt: 0,
  terminating: false,
  cpu: '500m',
  memory: '256Mi',
  ...more,
});

const TO_POOL: Wanted = { isolation: 'DedicatedNodes', nodePool: { matchLabels: { pool: 'a' } } };
const NODES = [aNode('s1'), aNode('a1'), aNode('a2')];

describe('planFor', () => {
  test('takes the free nodes of the pool and moves what runs elsewhere, workload by workload, Jobs last', () => {
    const pods = [
      aPod('job-1', { controller: { kind: 'Job', name: 'a-job' } }),
      aPod('web-1'),
      aPod('web-2', { node: 'a1', pinned: true }),
      aPod('db-0', { controller: { kind: 'StatefulSet', name: 'db' }, namespace: 'acme--data' }),
    ];
    const plan = planFor(acme('Namespace'), TO_POOL, { nodes: NODES, pods });
    expect(plan).toMatchObject({ from: 'Namespace', to: 'DedicatedNodes', pods: 4, obstacles: [] });
    expect(plan.nodes).toEqual({ take: ['a1', 'a2'], keep: [], release: [] });
    expect(plan.moves.map(({ kind, name, pods: moved }) => `${kind}/${name} ${moved.length}`)).toEqual([
      'StatefulSet/db 1',
      'ReplicaSet/web 1',
      'Job/a-job 1',
    ]);
    expect(plan.requests).toEqual({ cpu: '2', memory: '1Gi' });
    expect(plan.capacity).toEqual({ cpu: '8', memory: '16Gi' });
  });

  test('moves others off the nodes, but not what belongs on every node', () => {
    const others = { tenant: 'beta', namespace: 'beta', node: 'a1' };
    const pods = [aPod('x', others), aPod('agent', { ...others, stays: true }), aPod('far', { ...others, node: 's1' })];
    const { displaced, warnings } = planFor(acme('Namespace'), TO_POOL, { nodes: NODES, pods });
    expect(displaced.map(({ pods: moved }) => moved.map(({ name }) => name))).toEqual([['x']]);
    expect(warnings).toEqual(['one workload of others leave the nodes first']);
  });

  test('gives nodes back that left the pool, and moves what is on them', () => {
    const nodes = [aNode('a1', { tenant: 'acme' }), aNode('b1', { tenant: 'acme' })];
    const plan = planFor(acme('DedicatedNodes'), TO_POOL, { nodes, pods: [aPod('p', { node: 'b1', pinned: true })] });
    expect(plan.nodes).toEqual({ take: [], keep: ['a1'], release: ['b1'] });
    expect(plan.moves).toHaveLength(1);
  });

  test('on the way back moves what is pinned and gives all nodes back', () => {
    const nodes = [aNode('a1', { tenant: 'acme' }), aNode('s1')];
    const pods = [aPod('p', { node: 'a1', pinned: true }), aPod('q')];
    const plan = planFor(acme('DedicatedNodes'), { isolation: 'Namespace' }, { nodes, pods });
    expect(plan.nodes.release).toEqual(['a1']);
    expect(plan.moves.flatMap(({ pods: moved }) => moved.map(({ name }) => name))).toEqual(['p']);
  });

  test.each<[string, Wanted, Partial<PlanFacts>, string]>([
    ['no node matches', { ...TO_POOL, nodePool: { names: ['zz'] } }, {}, 'no free node matches spec.nodePool'],
    [
      'nodes are another tenant’s',
      TO_POOL,
      { nodes: [aNode('a1', { tenant: 'beta' }), aNode('a2')] },
      'one node of spec.nodePool already belong to another tenant',
    ],
    ['the nodes are too small', TO_POOL, { pods: [aPod('big', { cpu: '9' })] }, 'ask for cpu 9, its nodes have 8; add nodes'],
    [
      'a Pod would not come back',
      TO_POOL,
      { pods: [aPod('alone', { controller: undefined })] },
      'nothing would make acme/alone again elsewhere; delete it',
    ],
    ['a Pod of others would not', TO_POOL, { pods: [aPod('x', { tenant: 'b', controller: undefined, node: 'a1' })] }, 'one Pod of others'],
    [
      'the cluster is refused',
      { isolation: 'Cluster' },
      { placement: { namespaces: [], runtimes: [], runs: [], workloads: [], claims: [], plugins: [], workers: 0, refused: 'no policy' } },
      'no policy',
    ],
  ])('is obstructed, when %s', (_when, wanted, facts, obstacle) => {
    const { obstacles } = planFor(acme('Namespace'), wanted, { nodes: NODES, pods: [], ...facts });
    expect(obstacles).toEqual([expect.stringContaining(obstacle)]);
    expect(obstacles.join()).not.toContain('beta');
  });
});

describe('planFacts', () => {
  const object = (metadata: object, rest: object) => ({ apiVersion: 'v1', kind: 'X', metadata, ...rest });
  const facts = (pod: { metadata?: object; spec?: object; status?: object }, tenant?: string) =>
    planFacts({
      nodes: [],
      pods: [object({ name: 'p', namespace: 'n', uid: 'u', ...pod.metadata }, { spec: pod.spec ?? {}, status: pod.status })],
      disruptionBudgets: [
        object({ name: 'b', namespace: 'n' }, { spec: { selector: { matchLabels: { a: '1' } } }, status: { disruptionsAllowed: 0 } }),
      ],
      tenantOf: () => tenant,
      isPlatform: () => false,
    }).pods;
  const owner = (kind: string) => ({ ownerReferences: [{ apiVersion: 'v1', kind, name: 'o', uid: 'o', controller: true }] });

  test.each<[string, Parameters<typeof facts>, object]>([
    ['that is pinned', [{ spec: { nodeSelector: { 'tenantry.dev/tenant': 'a' } } }], { pinned: true, stays: false }],
    ['of a DaemonSet', [{ metadata: owner('DaemonSet') }], { stays: true, controller: { kind: 'DaemonSet', name: 'o' } }],
    ['of the kubelet', [{ metadata: { annotations: { 'kubernetes.io/config.mirror': 'x' } } }], { stays: true }],
    ['of nobody that tolerates everything', [{ spec: { tolerations: [{ operator: 'Exists' }] } }], { stays: true }],
    ['of a tenant that tolerates everything', [{ spec: { tolerations: [{ operator: 'Exists' }] } }, 'acme'], { stays: false }],
    ['that a budget holds', [{ metadata: { labels: { a: '1' } } }], { heldBy: 'b' }],
    [
      'with requests',
      [{ spec: { containers: [{ resources: { requests: { cpu: '1' } } }, { resources: { requests: { cpu: '500m' } } }] } }],
      { cpu: '1500m' },
    ],
  ])('knows a Pod %s', (_what, args, expected) => {
    expect(facts(...args)[0]).toMatchObject(expected);
  });

  test('leaves Pods out that have ended', () => {
    expect(facts({ status: { phase: 'Succeeded' } })).toEqual([]);
  });
});
