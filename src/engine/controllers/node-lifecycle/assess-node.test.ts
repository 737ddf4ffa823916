import { expect, test } from 'vitest';
import { silentConditions, taintsFor, type NodeObject } from './assess-node.ts';

const NOW = Date.parse('2026-01-01T00:01:00Z');
const node = (conditions?: Record<string, string>, spec: NodeObject['spec'] = {}): NodeObject => ({
  apiVersion: 'v1',
  kind: 'Node',
  metadata: { name: 'n', creationTimestamp: '2026-01-01T00:00:00Z' },
  spec,
  status: { conditions: conditions && Object.entries(conditions).map(([type, status]) => ({ type, status }) as never) },
});

test.each<[string, NodeObject, string[] | undefined]>([
  ['said nothing yet', node(), undefined],
  [
    'said nothing yet and was tainted by admission',
    node(undefined, {
      taints: [
        { key: 'node.kubernetes.io/not-ready', effect: 'NoSchedule' },
        { key: 'node.kubernetes.io/unreachable', effect: 'NoExecute' },
      ],
    }),
    ['node.kubernetes.io/unreachable:NoExecute'],
  ],
  ['is ready', node({ Ready: 'True' }), undefined],
  ['is not ready', node({ Ready: 'False' }), ['node.kubernetes.io/not-ready:NoSchedule', 'node.kubernetes.io/not-ready:NoExecute']],
  ['is silent', node({ Ready: 'Unknown' }), ['node.kubernetes.io/unreachable:NoSchedule', 'node.kubernetes.io/unreachable:NoExecute']],
  ['is short of memory', node({ Ready: 'True', MemoryPressure: 'True' }), ['node.kubernetes.io/memory-pressure:NoSchedule']],
  ['is cordoned', node({ Ready: 'True' }, { unschedulable: true }), ['node.kubernetes.io/unschedulable:NoSchedule']],
  [
    'is ready again',
    node(
      { Ready: 'True' },
      {
        taints: [
          { key: 'node.kubernetes.io/unreachable', effect: 'NoExecute' },
          { key: 'mine', effect: 'NoExecute' },
        ],
      },
    ),
    ['mine:NoExecute'],
  ],
  [
    'is tainted already',
    node({ Ready: 'True' }, { unschedulable: true, taints: [{ key: 'node.kubernetes.io/unschedulable', effect: 'NoSchedule' }] }),
    undefined,
  ],
])('a node that %s is tainted accordingly', (_name, object, expected) => {
  expect(taintsFor(object, NOW)?.map(({ key, effect }) => `${key}:${effect}`)).toEqual(expected);
});

test('only NoExecute taints say since when', () => {
  expect(taintsFor(node({ Ready: 'False' }), NOW)?.map(({ timeAdded }) => timeAdded)).toEqual([undefined, '2026-01-01T00:01:00Z']);
});

test('what a silent node last said becomes unknown, in the words of Kubernetes, once', () => {
  const conditions = silentConditions(node({ Ready: 'True', NetworkUnavailable: 'False' }), NOW)!;
  expect(conditions.map(({ type, status, reason, message }) => [type, status, reason, message])).toEqual([
    ['Ready', 'Unknown', 'NodeStatusUnknown', 'Kubelet stopped posting node status.'],
    ['NetworkUnavailable', 'False', undefined, undefined],
    ['MemoryPressure', 'Unknown', 'NodeStatusNeverUpdated', 'Kubelet never posted node status.'],
    ['DiskPressure', 'Unknown', 'NodeStatusNeverUpdated', 'Kubelet never posted node status.'],
    ['PIDPressure', 'Unknown', 'NodeStatusNeverUpdated', 'Kubelet never posted node status.'],
  ]);
  expect(silentConditions({ ...node(), status: { conditions } }, NOW)).toBeUndefined();
});
