import { expect, test } from 'vitest';
import type { Json, KubeObject } from '../../../../kube/object.ts';
import { daemonTolerations, eligibility } from './eligibility.ts';

const aSet = (spec: Json): KubeObject => ({
  apiVersion: 'apps/v1',
  kind: 'DaemonSet',
  metadata: { name: 's' },
  spec: { template: { spec } },
});
const aNode = (labels: Record<string, string>, taints: Json[] = []): KubeObject => ({
  apiVersion: 'v1',
  kind: 'Node',
  metadata: { name: 'n', labels },
  spec: { taints },
});
const requiring = (...nodeSelectorTerms: Json[]): Json => ({
  affinity: { nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms } } },
});
const expression = (operator: string, ...values: string[]): Json => requiring({ matchExpressions: [{ key: 'k', operator, values }] });
const taint = (effect: string, key = 't'): Json => ({ key, value: 'v', effect });

test.each<[string, Json, KubeObject, string]>([
  ['any node', {}, aNode({}), 'runs'],
  ['another node by name', { nodeName: 'm' }, aNode({}), 'goes'],
  ['a node without the label', { nodeSelector: { k: 'v' } }, aNode({}), 'goes'],
  ['a node with the label', { nodeSelector: { k: 'v' } }, aNode({ k: 'v' }), 'runs'],
  ['In', expression('In', 'a', 'v'), aNode({ k: 'v' }), 'runs'],
  ['NotIn', expression('NotIn', 'v'), aNode({ k: 'v' }), 'goes'],
  ['NotIn without the label', expression('NotIn', 'v'), aNode({}), 'runs'],
  ['Exists', expression('Exists'), aNode({}), 'goes'],
  ['DoesNotExist', expression('DoesNotExist'), aNode({}), 'runs'],
  ['Gt', expression('Gt', '3'), aNode({ k: '12' }), 'runs'],
  ['Lt of no number', expression('Lt', '3'), aNode({ k: 'x' }), 'goes'],
  ['a field', requiring({ matchFields: [{ key: 'metadata.name', operator: 'In', values: ['n'] }] }), aNode({}), 'runs'],
  ['an empty term', requiring({}), aNode({}), 'goes'],
  ['one of two terms', requiring({}, { matchExpressions: [{ key: 'k', operator: 'Exists' }] }), aNode({ k: '' }), 'runs'],
  ['a NoSchedule taint', {}, aNode({}, [taint('NoSchedule')]), 'stays'],
  ['a NoExecute taint', {}, aNode({}, [taint('NoExecute')]), 'goes'],
  ['a PreferNoSchedule taint', {}, aNode({}, [taint('PreferNoSchedule')]), 'runs'],
  ['a tolerated taint', { tolerations: [{ key: 't', value: 'v' }] }, aNode({}, [taint('NoExecute')]), 'runs'],
  ['a taint of another value', { tolerations: [{ key: 't', value: 'w' }] }, aNode({}, [taint('NoExecute')]), 'goes'],
  ['everything tolerated', { tolerations: [{ operator: 'Exists' }] }, aNode({}, [taint('NoExecute')]), 'runs'],
  ['an unschedulable node', {}, aNode({}, [taint('NoSchedule', 'node.kubernetes.io/unschedulable')]), 'runs'],
  ['a node without network', {}, aNode({}, [taint('NoSchedule', 'node.kubernetes.io/network-unavailable')]), 'stays'],
  [
    'the same on the host network',
    { hostNetwork: true },
    aNode({}, [taint('NoSchedule', 'node.kubernetes.io/network-unavailable')]),
    'runs',
  ],
])('eligibility: %s', (_name, spec, node, expected) => {
  const { shouldRun, mayStay } = eligibility(aSet(spec), node);
  expect(shouldRun ? 'runs' : mayStay ? 'stays' : 'goes').toBe(expected);
});

test('daemonTolerations adds each once', () => {
  const once = daemonTolerations({ tolerations: [{ key: 'mine', operator: 'Exists' }] });
  expect(once).toHaveLength(7);
  expect(daemonTolerations({ tolerations: once })).toEqual(once);
});
