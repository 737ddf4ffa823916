import { expect, test } from 'vitest';
import { testingKinds } from './testing-kinds.ts';

const { find } = testingKinds();

test('a resource knows what discovery says about it', () => {
  const { kind, listKind, singular, shortNames, categories, namespaced, subresources } = find('deployments', 'apps');
  expect({ kind, listKind, singular, shortNames, categories, namespaced }).toEqual({
    kind: 'Deployment',
    listKind: 'DeploymentList',
    singular: 'deployment',
    shortNames: ['deploy'],
    categories: ['all'],
    namespaced: true,
  });
  expect(subresources.map((subresource) => `${subresource.name} ${subresource.kind.kind}`)).toEqual(['scale Scale', 'status Deployment']);
});

test('schemas lead to each other', () => {
  const { schema, resolve } = find('pods');
  const containers = resolve(resolve(schema.properties!['spec']).properties!['containers']);
  expect(containers['x-kubernetes-patch-merge-key']).toBe('name');
  expect(resolve(containers.items!).properties).toHaveProperty('image');
});

test('events of both groups are stored as one, autoscalers in their newest form', () => {
  expect(find('events', 'events.k8s.io').storage).toEqual(find('events').storage);
  expect(find('horizontalpodautoscalers', 'autoscaling', 'v1').storage.version).toBe('v2');
});

test('field selectors read the stored object', () => {
  const pod = { spec: { nodeName: 'n', hostNetwork: undefined }, status: { phase: 'Running' } } as never;
  const { selectableFields } = find('pods');
  expect(selectableFields['spec.nodeName'](pod)).toBe('n');
  expect(selectableFields['spec.hostNetwork'](pod)).toBe('false');
  expect(selectableFields['status.podIP'](pod)).toBe('');
  expect(find('events', 'events.k8s.io').selectableFields['regarding.kind']({ involvedObject: { kind: 'Pod' } } as never)).toBe('Pod');
});

test('scale reads and writes replicas', () => {
  const scale = find('deployments', 'apps').scale!;
  const object = { spec: { replicas: 2, selector: { matchLabels: { a: 'b' } } }, status: { replicas: 1 } } as never;
  expect([scale.specReplicas(object), scale.statusReplicas(object), scale.selector(object)]).toEqual([2, 1, 'a=b']);
  scale.setSpecReplicas(object, 5);
  expect(scale.specReplicas(object)).toBe(5);
});
