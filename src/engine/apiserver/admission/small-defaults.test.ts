import { describe, expect, it } from 'vitest';
import type { KubeObject } from '../../../kube/object.ts';
import { defaultIngressClass, defaultStorageClass } from './default-classes.ts';
import { defaultTolerationSeconds, podTopologyLabels, taintNodesByCondition } from './node-defaults.ts';
import { storageObjectInUseProtection } from './storage-protection.ts';
import { aPod, aRequest } from './testing/a-request.ts';
import { ObjectsInMemory } from './testing/objects-in-memory.ts';

const STORAGE_CLASSES = { group: 'storage.k8s.io', resource: 'storageclasses' };
const INGRESS_CLASSES = { group: 'networking.k8s.io', resource: 'ingressclasses' };
const NODES = { group: '', resource: 'nodes' };

function aClaim(spec: object = {}): KubeObject {
  return { apiVersion: 'v1', kind: 'PersistentVolumeClaim', metadata: { name: 'c', namespace: 'team' }, spec };
}

function aStorageClass(name: string, creationTimestamp: string, isDefault = 'true'): KubeObject {
  const annotations = { 'storageclass.kubernetes.io/is-default-class': isDefault };
  return { apiVersion: 'storage.k8s.io/v1', kind: 'StorageClass', metadata: { name, creationTimestamp, annotations } };
}

describe('defaultStorageClass', () => {
  function chosenFor(claim: KubeObject, ...classes: KubeObject[]): string | undefined {
    const objects = new ObjectsInMemory();
    for (const each of classes) objects.put(STORAGE_CLASSES, each);
    const request = aRequest('persistentvolumeclaims', claim);
    void defaultStorageClass(objects).mutate!(request);
    return request.object!.spec.storageClassName;
  }

  it('is the newest class marked as default', () => {
    const classes = [aStorageClass('old', '2026-01-01T00:00:00Z'), aStorageClass('new', '2026-02-01T00:00:00Z')];
    expect(chosenFor(aClaim(), ...classes, aStorageClass('other', '2026-03-01T00:00:00Z', 'false'))).toBe('new');
  });

  it('is the first by name of those made in the same second', () => {
    expect(chosenFor(aClaim(), aStorageClass('b', '2026-01-01T00:00:00Z'), aStorageClass('a', '2026-01-01T00:00:00Z'))).toBe('a');
  });

  it('leaves a claim alone that asks for a class, be it none', () => {
    expect(chosenFor(aClaim({ storageClassName: '' }), aStorageClass('a', '2026-01-01T00:00:00Z'))).toBe('');
  });

  it('follows classes that come and go', async () => {
    const objects = new ObjectsInMemory();
    const plugin = defaultStorageClass(objects);
    const chosen = () => {
      const request = aRequest('persistentvolumeclaims', aClaim());
      void plugin.mutate!(request);
      return request.object!.spec.storageClassName;
    };
    expect(chosen()).toBeUndefined();
    objects.put(STORAGE_CLASSES, aStorageClass('a', '2026-01-01T00:00:00Z'));
    expect(chosen()).toBe('a');
    await objects.delete(STORAGE_CLASSES, '', 'a');
    expect(chosen()).toBeUndefined();
  });
});

describe('defaultIngressClass', () => {
  it('is given to ingresses without a class', () => {
    const objects = new ObjectsInMemory();
    const annotations = { 'ingressclass.kubernetes.io/is-default-class': 'true' };
    objects.put(INGRESS_CLASSES, { apiVersion: 'networking.k8s.io/v1', kind: 'IngressClass', metadata: { name: 'nginx', annotations } });
    const ingress = { apiVersion: 'networking.k8s.io/v1', kind: 'Ingress', metadata: { name: 'i', namespace: 'team' }, spec: {} };
    const request = aRequest('ingresses', ingress);
    void defaultIngressClass(objects).mutate!(request);
    expect(request.object!.spec.ingressClassName).toBe('nginx');
  });
});

describe('storageObjectInUseProtection', () => {
  it('adds its finalizer to claims, once', () => {
    const request = aRequest('persistentvolumeclaims', aClaim());
    void storageObjectInUseProtection.mutate!(request);
    void storageObjectInUseProtection.mutate!(request);
    expect(request.object!.metadata.finalizers).toEqual(['kubernetes.io/pvc-protection']);
  });
});

describe('defaultTolerationSeconds', () => {
  const added = (key: string) => ({ key: `node.kubernetes.io/${key}`, operator: 'Exists', effect: 'NoExecute', tolerationSeconds: 300 });

  it.each<[string, object[], object[]]>([
    ['a pod without tolerations', [], [added('not-ready'), added('unreachable')]],
    ['a pod that tolerates one of them', [{ key: 'node.kubernetes.io/not-ready', operator: 'Exists' }], [added('unreachable')]],
    ['a pod that tolerates everything', [{ operator: 'Exists' }], []],
  ])('completes %s', (_name, tolerations, expected) => {
    const request = aRequest('pods', aPod({ tolerations }));
    void defaultTolerationSeconds.mutate!(request);
    expect(request.object!.spec.tolerations).toEqual([...tolerations, ...expected]);
  });
});

describe('taintNodesByCondition', () => {
  it('taints a new node as not ready', () => {
    const request = aRequest('nodes', { apiVersion: 'v1', kind: 'Node', metadata: { name: 'n' } });
    void taintNodesByCondition.mutate!(request);
    expect(request.object!.spec.taints).toEqual([{ key: 'node.kubernetes.io/not-ready', effect: 'NoSchedule' }]);
  });
});

describe('podTopologyLabels', () => {
  it('copies zone and region of the node to a binding', () => {
    const objects = new ObjectsInMemory();
    const labels = { 'topology.kubernetes.io/zone': 'z1', other: 'x' };
    objects.put(NODES, { apiVersion: 'v1', kind: 'Node', metadata: { name: 'n', labels } });
    const binding = { apiVersion: 'v1', kind: 'Binding', metadata: { name: 'p', namespace: 'team' }, target: { kind: 'Node', name: 'n' } };
    const request = aRequest('pods', binding, { subresource: 'binding' });
    void podTopologyLabels(objects).mutate!(request);
    expect(request.object!.metadata.labels).toEqual({ 'topology.kubernetes.io/zone': 'z1' });
  });
});
