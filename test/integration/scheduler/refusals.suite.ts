import { beforeAll, describe, expect, test } from 'vitest';
import type { Client } from '../../../src/client/client.ts';
import { Namespace, Node, PersistentVolumeClaim, Pod, PriorityClass } from '../../../src/client/kinds.ts';
import type { Json, KubeObject } from '../../../src/kube/object.ts';
import { eventually } from '../controllers/eventually.ts';

const CONTAINER = { name: 'c', image: 'i' };
const requesting = (requests: Record<string, string>): Json => ({
  containers: [{ ...CONTAINER, resources: { requests, limits: requests } }],
});
const onNode = (name: string): Json => ({ nodeSelector: { 'kubernetes.io/hostname': name } });
const near = (kind: 'podAffinity' | 'podAntiAffinity', app: string): Json => ({
  affinity: {
    [kind]: {
      requiredDuringSchedulingIgnoredDuringExecution: [{ topologyKey: 'kubernetes.io/hostname', labelSelector: { matchLabels: { app } } }],
    },
  },
});
const spread = (topologyKey: string): Json => ({
  topologySpreadConstraints: [
    { maxSkew: 1, topologyKey, whenUnsatisfiable: 'DoNotSchedule', labelSelector: { matchLabels: { app: 'held' } } },
  ],
});

/** Four nodes: one that is full of `held`, one tainted, one cordoned, one small. What a Pod that fits none of them is told, to the letter. */
export function refusalsSuite(name: string, connect: () => Promise<{ client: Client }>): void {
  describe(`refusals of the scheduler on ${name}`, () => {
    let client: Client;
    const NAMESPACE = 'refused';
    const pods = () => client.resource<KubeObject>(Pod, NAMESPACE);

    beforeAll(async () => {
      ({ client } = await connect());
      await client.resource(Namespace).create({ metadata: { name: NAMESPACE } });
      await addNode('full', { cpu: '4', pods: '1' }, {});
      await addNode('tainted', { cpu: '4', pods: '10' }, { taints: [{ key: 'team', value: 'blue', effect: 'NoSchedule' }] });
      await addNode('closed', { cpu: '4', pods: '10' }, { unschedulable: true });
      await addNode('small', { cpu: '1', pods: '10' }, {}, { zone: 'z' });
      await client.resource(PriorityClass).create({ metadata: { name: 'polite' }, value: 1000, preemptionPolicy: 'Never' });
      await client.resource(PriorityClass).create({ metadata: { name: 'high' }, value: 1000 });
      await eventually(
        () =>
          pods()
            .create({
              metadata: { name: 'held', labels: { app: 'held' } },
              spec: { ...onNode('full'), containers: [{ ...CONTAINER, ports: [{ containerPort: 80, hostPort: 80 }] }] },
            })
            .catch(() => undefined),
        (pod) => pod !== undefined,
      );
      await eventually(
        () => pods().get('held'),
        ({ spec }) => Boolean(spec.nodeName),
      );
    });

    async function addNode(node: string, amounts: Record<string, string>, spec: Json, labels: Record<string, string> = {}): Promise<void> {
      const allocatable = { memory: '1Gi', ...amounts };
      const at = new Date().toISOString();
      const conditions = [{ type: 'Ready', status: 'True', reason: 'R', message: '', lastHeartbeatTime: at, lastTransitionTime: at }];
      const nodes = client.resource<KubeObject>(Node);
      await nodes.create({
        metadata: { name: node, labels: { 'kubernetes.io/hostname': node, ...labels } },
        spec,
        status: { capacity: allocatable, allocatable, conditions },
      });
      await eventually(
        () => nodes.get(node),
        (one) => !(one.spec?.taints ?? []).some(({ key }: Json) => key === 'node.kubernetes.io/not-ready'),
      );
    }

    test.each<[string, Json, string]>(CASES)('%s', async (short, spec, message) => {
      if (short === 'pvc-unbound') {
        const claim = { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } }, storageClassName: '' };
        await client.resource<KubeObject>(PersistentVolumeClaim, NAMESPACE).create({ metadata: { name: 'claim' }, spec: claim });
      }
      await pods().create({ metadata: { name: short }, spec: { containers: [CONTAINER], terminationGracePeriodSeconds: 0, ...spec } });
      const pod = await eventually(
        () => pods().get(short),
        ({ status }) => (status.conditions ?? []).some((one: Json) => one.type === 'PodScheduled' && one.status === 'False'),
      );
      const found = pod.status.conditions.find((one: Json) => one.type === 'PodScheduled');
      await pods().delete(short, { gracePeriodSeconds: 0 });
      expect(`${found.reason}: ${found.message}`).toBe(message);
    });
  });
}

/** `room` is what preemption could do: so many nodes and why, or one sentence for all. */
const refused = (why: string, room = '4 Preemption is not helpful for scheduling'): string => {
  const preemption = room.endsWith('.') ? room : `0/4 nodes are available: ${room}.`;
  return `Unschedulable: 0/4 nodes are available: ${why}. no new claims to deallocate, preemption: ${preemption}`;
};

const CASES: [string, Json, string][] = [
  [
    'too-much',
    requesting({ cpu: '100' }),
    refused('1 Too many pods, 1 node(s) had untolerated taint(s), 1 node(s) were unschedulable, 2 Insufficient cpu'),
  ],
  [
    'memory',
    requesting({ memory: '10Gi' }),
    refused('1 Too many pods, 1 node(s) had untolerated taint(s), 1 node(s) were unschedulable, 2 Insufficient memory'),
  ],
  [
    'both',
    requesting({ cpu: '100', memory: '10Gi' }),
    refused('1 Too many pods, 1 node(s) had untolerated taint(s), 1 node(s) were unschedulable, 2 Insufficient cpu, 2 Insufficient memory'),
  ],
  [
    'gpu',
    requesting({ 'example.com/gpu': '1' }),
    refused('1 Too many pods, 1 node(s) had untolerated taint(s), 1 node(s) were unschedulable, 2 Insufficient example.com/gpu'),
  ],
  [
    'nowhere',
    onNode('elsewhere'),
    refused("1 node(s) had untolerated taint(s), 1 node(s) were unschedulable, 2 node(s) didn't match Pod's node affinity/selector"),
  ],
  [
    'on-full',
    onNode('full'),
    refused(
      "1 Too many pods, 1 node(s) didn't match Pod's node affinity/selector, 1 node(s) had untolerated taint(s), 1 node(s) were unschedulable",
      '1 No preemption victims found for incoming pod, 3 Preemption is not helpful for scheduling',
    ),
  ],
  [
    'on-tainted',
    onNode('tainted'),
    refused("1 node(s) had untolerated taint(s), 1 node(s) were unschedulable, 2 node(s) didn't match Pod's node affinity/selector"),
  ],
  [
    'on-closed',
    onNode('closed'),
    refused("1 node(s) had untolerated taint(s), 1 node(s) were unschedulable, 2 node(s) didn't match Pod's node affinity/selector"),
  ],
  [
    'port',
    { ...onNode('full'), containers: [{ ...CONTAINER, ports: [{ containerPort: 80, hostPort: 80 }] }] },
    refused(
      "1 node(s) didn't have free ports for the requested pod ports, 1 node(s) didn't match Pod's node affinity/selector, 1 node(s) had untolerated taint(s), 1 node(s) were unschedulable",
      '1 No preemption victims found for incoming pod, 3 Preemption is not helpful for scheduling',
    ),
  ],
  [
    'lonely',
    near('podAffinity', 'nobody'),
    refused(
      "1 Too many pods, 1 node(s) didn't match pod affinity rules, 1 node(s) had untolerated taint(s), 1 node(s) were unschedulable",
      '1 No preemption victims found for incoming pod, 3 Preemption is not helpful for scheduling',
    ),
  ],
  [
    'beside-held',
    near('podAffinity', 'held'),
    refused(
      "1 Too many pods, 1 node(s) didn't match pod affinity rules, 1 node(s) had untolerated taint(s), 1 node(s) were unschedulable",
      '1 No preemption victims found for incoming pod, 3 Preemption is not helpful for scheduling',
    ),
  ],
  [
    'away',
    { ...near('podAntiAffinity', 'held'), ...onNode('full') },
    refused(
      "1 Too many pods, 1 node(s) didn't match Pod's node affinity/selector, 1 node(s) had untolerated taint(s), 1 node(s) were unschedulable",
      '1 No preemption victims found for incoming pod, 3 Preemption is not helpful for scheduling',
    ),
  ],
  [
    'spread-unlabelled',
    { ...spread('rack'), ...onNode('small') },
    refused(
      "1 node(s) didn't match Pod's node affinity/selector, 1 node(s) didn't match pod topology spread constraints (missing required label), 1 node(s) had untolerated taint(s), 1 node(s) were unschedulable",
    ),
  ],
  [
    'spread',
    { ...spread('kubernetes.io/hostname'), ...onNode('full') },
    refused(
      "1 Too many pods, 1 node(s) didn't match Pod's node affinity/selector, 1 node(s) had untolerated taint(s), 1 node(s) were unschedulable",
      '1 No preemption victims found for incoming pod, 3 Preemption is not helpful for scheduling',
    ),
  ],
  [
    'polite',
    { ...onNode('full'), priorityClassName: 'polite' },
    refused(
      "1 Too many pods, 1 node(s) didn't match Pod's node affinity/selector, 1 node(s) had untolerated taint(s), 1 node(s) were unschedulable",
      'not eligible due to preemptionPolicy=Never.',
    ),
  ],
  [
    'important',
    { ...requesting({ cpu: '100' }), priorityClassName: 'high' },
    refused('1 Too many pods, 1 node(s) had untolerated taint(s), 1 node(s) were unschedulable, 2 Insufficient cpu'),
  ],
  [
    'gated',
    { schedulingGates: [{ name: 'example.com/wait' }] },
    'SchedulingGated: Scheduling is blocked due to non-empty scheduling gates',
  ],
  [
    'pvc-missing',
    { volumes: [{ name: 'v', persistentVolumeClaim: { claimName: 'absent' } }] },
    'Unschedulable: 0/4 nodes are available: persistentvolumeclaim "absent" not found. not found',
  ],
  [
    'pvc-unbound',
    { volumes: [{ name: 'v', persistentVolumeClaim: { claimName: 'claim' } }] },
    'Unschedulable: 0/4 nodes are available: pod has unbound immediate PersistentVolumeClaims. not found',
  ],
  [
    'affinity',
    {
      affinity: {
        nodeAffinity: {
          requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms: [{ matchExpressions: [{ key: 'x', operator: 'Exists' }] }] },
        },
      },
    },
    refused("1 node(s) had untolerated taint(s), 1 node(s) were unschedulable, 2 node(s) didn't match Pod's node affinity/selector"),
  ],
];
