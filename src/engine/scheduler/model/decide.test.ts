import { expect, test } from 'vitest';
import type { PodAffinityTerm, TopologySpreadConstraint } from '../../../kube/generated/core-v1.ts';
import type { PersistentVolume, PersistentVolumeClaim, StorageClass } from '../../../kube/volume-objects.ts';
import { aCluster, aNode, aPod, type ClusterParts, type NodeBuilder, type PodBuilder } from '../testing/builders.ts';
import { decide, enoughNodes } from './decide.ts';
import { fitErrorText } from './fit-error.ts';

const HOST = 'kubernetes.io/hostname';
const ZONE = 'topology.kubernetes.io/zone';
const app = (name: string) => ({ matchLabels: { app: name } });
const nearby = (name: string, topologyKey = ZONE): PodAffinityTerm => ({ topologyKey, labelSelector: app(name) });
const even = (topologyKey: string, more: Partial<TopologySpreadConstraint> = {}): TopologySpreadConstraint => ({
  maxSkew: 1,
  topologyKey,
  whenUnsatisfiable: 'DoNotSchedule',
  labelSelector: app('web'),
  ...more,
});
const web = (name = 'new'): PodBuilder => aPod(name).labelled({ app: 'web' });
const zoned = (name: string, zone: string): NodeBuilder => aNode(name).labelled({ [ZONE]: zone });

/** Where the Pod goes, or why it goes nowhere. */
function outcome(pod: PodBuilder, nodes: NodeBuilder[], parts?: ClusterParts): string {
  const decision = decide(pod.info(), aCluster(nodes, parts), 0, () => 1);
  return decision.node?.name ?? fitErrorText(decision.diagnosis!);
}

test.each<[string, PodBuilder, NodeBuilder[], string]>([
  ['cpu is short', aPod().requesting({ cpu: '5' }), [aNode('a')], '0/1 nodes are available: 1 Insufficient cpu.'],
  [
    'several resources are short',
    aPod().requesting({ cpu: '5', memory: '9Gi', 'example.com/gpu': '1' }),
    [aNode('a'), aNode('b').with({ cpu: '8' })],
    '0/2 nodes are available: 1 Insufficient cpu, 2 Insufficient example.com/gpu, 2 Insufficient memory.',
  ],
  [
    'what is there leaves too little',
    aPod('b').requesting({ cpu: '3' }),
    [aNode('a').holding(aPod('a').requesting({ cpu: '2' }))],
    '0/1 nodes are available: 1 Insufficient cpu.',
  ],
  ['the node is full of Pods', aPod('b'), [aNode('a').with({ pods: '1' }).holding(aPod('a'))], '0/1 nodes are available: 1 Too many pods.'],
  [
    'an extended resource is there',
    aPod().requesting({ 'example.com/gpu': '1' }),
    [aNode('a'), aNode('b').with({ 'example.com/gpu': '1' })],
    'b',
  ],
  ['nodes are cordoned', aPod(), [aNode('a').cordoned()], '0/1 nodes are available: 1 node(s) were unschedulable.'],
  ['it tolerates the cordon', aPod().tolerating({ operator: 'Exists' }), [aNode('a').cordoned()], 'a'],
  [
    'nodes are tainted',
    aPod(),
    [aNode('a').tainted({ key: 'k', value: 'v', effect: 'NoSchedule' }), aNode('b').tainted({ key: 'k', effect: 'NoExecute' })],
    '0/2 nodes are available: 2 node(s) had untolerated taint(s).',
  ],
  [
    'it tolerates one taint of two',
    aPod().tolerating({ key: 'k', value: 'v', effect: 'NoSchedule' }),
    [
      aNode('a').tainted({ key: 'k', value: 'w', effect: 'NoSchedule' }),
      aNode('b').tainted({ key: 'k', value: 'v', effect: 'NoSchedule' }),
    ],
    'b',
  ],
  ['a taint only asks', aPod(), [aNode('a').tainted({ key: 'k', effect: 'PreferNoSchedule' }), aNode('b')], 'b'],
  ['the selector fits one', aPod().with({ nodeSelector: { disk: 'ssd' } }), [aNode('a'), aNode('b').labelled({ disk: 'ssd' })], 'b'],
  [
    'the selector fits none',
    aPod().with({ nodeSelector: { disk: 'ssd' } }),
    [aNode('a')],
    "0/1 nodes are available: 1 node(s) didn't match Pod's node affinity/selector.",
  ],
  ['its host port is free on one', aPod('b').onHostPort(80), [aNode('a').holding(aPod('a').onHostPort(80)), aNode('b')], 'b'],
  [
    'its host port is taken',
    aPod('b').onHostPort(80, '10.0.0.1'),
    [aNode('a').holding(aPod('a').onHostPort(80))],
    "0/1 nodes are available: 1 node(s) didn't have free ports for the requested pod ports.",
  ],
  [
    'the port is taken on another address',
    aPod('b').onHostPort(80, '10.0.0.1'),
    [aNode('a').holding(aPod('a').onHostPort(80, '10.0.0.2'))],
    'a',
  ],
  [
    'it must be near what is nowhere',
    aPod().near(nearby('db')),
    [zoned('a', 'x')],
    "0/1 nodes are available: 1 node(s) didn't match pod affinity rules.",
  ],
  [
    'it must be near what is in one zone',
    aPod('p').near(nearby('db')),
    [zoned('a', 'x'), zoned('b', 'y').holding(aPod('db').labelled({ app: 'db' }))],
    'b',
  ],
  ['it is the first that wants to be near itself', web().near(nearby('web')), [zoned('a', 'x')], 'a'],
  [
    'it must be away from its like',
    web().awayFrom(nearby('web', HOST)),
    [aNode('a').holding(web('old'))],
    "0/1 nodes are available: 1 node(s) didn't match pod anti-affinity rules.",
  ],
  [
    'others do not want it',
    web(),
    [aNode('a').holding(aPod('shy').awayFrom(nearby('web', HOST)))],
    "0/1 nodes are available: 1 node(s) didn't satisfy existing pods anti-affinity rules.",
  ],
  ['others in another namespace do not mean it', web().in('other'), [aNode('a').holding(aPod('shy').awayFrom(nearby('web', HOST)))], 'a'],
  ['one zone has fewer', web().spreadOver(even(ZONE)), [zoned('a', 'x').holding(web('old')), zoned('b', 'y')], 'b'],
  [
    'the emptier zone is full',
    web().requesting({ cpu: '1' }).spreadOver(even(ZONE)),
    [zoned('a', 'x').holding(web('old')), zoned('b', 'y').with({ cpu: '0' })],
    "0/2 nodes are available: 1 Insufficient cpu, 1 node(s) didn't match pod topology spread constraints.",
  ],
  [
    'a node has no zone',
    web().spreadOver(even(ZONE)),
    [aNode('a')],
    "0/1 nodes are available: 1 node(s) didn't match pod topology spread constraints (missing required label).",
  ],
  [
    'there are fewer zones than it wants',
    web().spreadOver(even(ZONE, { minDomains: 2 })),
    [zoned('a', 'x').holding(web('old'))],
    "0/1 nodes are available: 1 node(s) didn't match pod topology spread constraints.",
  ],
  [
    'Pods that leave do not count',
    web().spreadOver(even(ZONE)),
    [zoned('a', 'x').holding(web('old').withMetadata({ deletionTimestamp: 'now' })), zoned('b', 'y').holding(web('o2'))],
    'a',
  ],
  [
    'nodes it cannot use do not count',
    web()
      .with({ nodeSelector: { [ZONE]: 'x' } })
      .spreadOver(even(ZONE)),
    [zoned('a', 'x').holding(web('old')), zoned('b', 'y')],
    'a',
  ],
  [
    'spreading is a wish',
    web().spreadOver(even(ZONE, { whenUnsatisfiable: 'ScheduleAnyway' })),
    [zoned('a', 'x').holding(web('old')), zoned('b', 'y')],
    'b',
  ],
  [
    'one node is emptier',
    aPod('new').requesting({ cpu: '1', memory: '1Gi' }),
    [aNode('a').holding(aPod('old').requesting({ cpu: '1', memory: '1Gi' })), aNode('b')],
    'b',
  ],
  [
    'one node would be out of balance',
    aPod('new').requesting({ cpu: '2', memory: '1Gi' }),
    [aNode('a').with({ cpu: '4', memory: '40Gi' }), aNode('b').with({ cpu: '40', memory: '16Gi' })],
    'b',
  ],
  [
    'an image is there',
    aPod().with({ containers: [{ name: 'c', image: 'big' }] }),
    [aNode('a'), aNode('b').havingImage('big:latest', 2e9)],
    'b',
  ],
  [
    'its like are spread over nodes',
    aPod('new').withMetadata({ ownerReferences: [{ apiVersion: 'v1', kind: 'R', name: 'r', uid: 'r', controller: true }] }),
    [
      aNode('a').holding(
        aPod('old').withMetadata({ ownerReferences: [{ apiVersion: 'v1', kind: 'R', name: 'r', uid: 'r', controller: true }] }),
      ),
      aNode('b').with({ cpu: '3500m' }).holding(aPod('other')),
    ],
    'b',
  ],
  [
    'preferred affinity weighs more than room',
    aPod('new').with({
      affinity: {
        podAffinity: { preferredDuringSchedulingIgnoredDuringExecution: [{ weight: 100, podAffinityTerm: nearby('db', HOST) }] },
      },
    }),
    [aNode('a').holding(aPod('db').labelled({ app: 'db' })), aNode('b')],
    'a',
  ],
  [
    'preferred nodes weigh more than room',
    aPod('new').with({
      affinity: {
        nodeAffinity: {
          preferredDuringSchedulingIgnoredDuringExecution: [
            { weight: 1, preference: { matchExpressions: [{ key: 'generation', operator: 'Gt', values: ['3'] }] } },
          ],
        },
      },
    }),
    [aNode('a'), aNode('b').labelled({ generation: '4' }).holding(aPod('old'))],
    'b',
  ],
])('a Pod is placed, or told why not, when %s', (_name, pod, nodes, expected) => {
  expect(outcome(pod, nodes)).toBe(expected);
});

test('a Pod that names its node is checked against that node only', () => {
  const named = (name: string): PodBuilder =>
    aPod()
      .requesting({ cpu: '9' })
      .with({
        affinity: {
          nodeAffinity: {
            requiredDuringSchedulingIgnoredDuringExecution: {
              nodeSelectorTerms: [{ matchFields: [{ key: 'metadata.name', operator: 'In', values: [name] }] }],
            },
          },
        },
      });
  const nodes = [aNode('a'), aNode('b').with({ cpu: '16' }), aNode('c')];
  expect(outcome(named('b'), nodes)).toBe('b');
  expect(outcome(named('a'), nodes)).toBe(
    "0/3 nodes are available: 1 Insufficient cpu, 2 node(s) didn't satisfy plugin(s) [NodeAffinity].",
  );
});

test('namespaceSelector means Pods of namespaces with those labels', () => {
  const pod = aPod('p').near({ topologyKey: HOST, labelSelector: app('db'), namespaceSelector: { matchLabels: { team: 'blue' } } });
  const nodes = [
    aNode('a').holding(aPod('x').in('red').labelled({ app: 'db' })),
    aNode('b').holding(aPod('y').in('blue').labelled({ app: 'db' })),
  ];
  expect(outcome(pod, nodes, { namespaces: { red: { team: 'red' }, blue: { team: 'blue' } } })).toBe('b');
});

test('room promised to a Pod of the same or a higher priority is not given away', () => {
  const nodes = [aNode('a').with({ cpu: '1' })];
  const nominated = { a: [aPod('first').ofPriority(5).requesting({ cpu: '1' })] };
  expect(outcome(aPod('p').ofPriority(5).requesting({ cpu: '1' }), nodes, { nominated })).toBe(
    '0/1 nodes are available: 1 Insufficient cpu.',
  );
  expect(outcome(aPod('p').ofPriority(6).requesting({ cpu: '1' }), nodes, { nominated })).toBe('a');
  expect(outcome(aPod('first').ofPriority(5).requesting({ cpu: '1' }), nodes, { nominated })).toBe('a');
});

const claim = (more: Partial<PersistentVolumeClaim> = {}): PersistentVolumeClaim => ({
  apiVersion: 'v1',
  kind: 'PersistentVolumeClaim',
  metadata: { name: 'data', namespace: 'default', uid: 'c' },
  spec: { storageClassName: 'local', accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } },
  ...more,
});
const bound = claim({
  metadata: { name: 'data', namespace: 'default', uid: 'c', annotations: { 'pv.kubernetes.io/bind-completed': 'yes' } },
  spec: { storageClassName: 'local', volumeName: 'pv' },
});
const volumeOn = (node: string, storage = '1Gi'): PersistentVolume => ({
  apiVersion: 'v1',
  kind: 'PersistentVolume',
  metadata: { name: 'pv' },
  spec: {
    storageClassName: 'local',
    capacity: { storage },
    accessModes: ['ReadWriteOnce'],
    nodeAffinity: { required: { nodeSelectorTerms: [{ matchExpressions: [{ key: HOST, operator: 'In', values: [node] }] }] } },
  },
  status: { phase: 'Available' },
});
const storageClass = (provisioner: string, volumeBindingMode: 'Immediate' | 'WaitForFirstConsumer'): StorageClass => ({
  apiVersion: 'storage.k8s.io/v1',
  kind: 'StorageClass',
  metadata: { name: 'local' },
  provisioner,
  volumeBindingMode,
});
const waiting = [storageClass('tenantry.dev/local', 'WaitForFirstConsumer')];
const byHand = [storageClass('kubernetes.io/no-provisioner', 'WaitForFirstConsumer')];

test.each<[string, ClusterParts, string]>([
  ['does not exist', {}, '0/2 nodes are available: persistentvolumeclaim "data" not found.'],
  [
    'should have been bound at once',
    { claims: [claim()], classes: [storageClass('x', 'Immediate')] },
    '0/2 nodes are available: pod has unbound immediate PersistentVolumeClaims.',
  ],
  ['has its volume on a node', { claims: [bound], volumes: [volumeOn('b')] }, 'b'],
  [
    'has its volume on no node',
    { claims: [bound], volumes: [volumeOn('z')] },
    "0/2 nodes are available: 2 node(s) didn't match PersistentVolume's node affinity.",
  ],
  [
    'lost its volume',
    { claims: [bound] },
    '0/2 nodes are available: 2 node(s) unavailable due to one or more pvc(s) bound to non-existent pv(s).',
  ],
  ['waits for a volume that can be made', { claims: [claim()], classes: waiting }, 'a'],
  ['waits for a volume that is there', { claims: [claim()], classes: byHand, volumes: [volumeOn('b', '2Gi')] }, 'b'],
  [
    'waits for a volume that is too small',
    { claims: [claim()], classes: byHand, volumes: [volumeOn('b', '1Mi')] },
    "0/2 nodes are available: 2 node(s) didn't find available persistent volumes to bind.",
  ],
  [
    'is being made on a node',
    {
      claims: [claim({ metadata: { name: 'data', namespace: 'default', annotations: { 'volume.kubernetes.io/selected-node': 'b' } } })],
      classes: waiting,
    },
    'b',
  ],
])('a Pod is placed, or told why not, when its claim %s', (_name, parts, expected) => {
  expect(outcome(aPod('p').claiming('data'), [aNode('a'), aNode('b')], parts)).toBe(expected);
});

test.each([
  [1, 1],
  [99, 99],
  [100, 100],
  [250, 120],
  [1000, 420],
  [6000, 300],
])('of %i nodes %i are enough', (nodes, enough) => {
  expect(enoughNodes(nodes)).toBe(enough);
});
