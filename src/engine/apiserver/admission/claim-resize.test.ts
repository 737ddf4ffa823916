import { describe, expect, it } from 'vitest';
import type { KubeObject } from '../../../kube/object.ts';
import { persistentVolumeClaimResize } from './claim-resize.ts';
import { aRequest, refusalOf } from './testing/a-request.ts';
import { ObjectsInMemory } from './testing/objects-in-memory.ts';

function aClaim(storage: string, phase = 'Bound', storageClassName = 'grows'): KubeObject {
  return {
    apiVersion: 'v1',
    kind: 'PersistentVolumeClaim',
    metadata: { name: 'c', namespace: 'team' },
    spec: { storageClassName, resources: { requests: { storage } } },
    status: { phase },
  };
}

describe('persistentVolumeClaimResize', () => {
  const NOT_RESIZABLE =
    'persistentvolumeclaims "c" is forbidden: only dynamically provisioned pvc can be resized and the storageclass that provisions the pvc must support resize';

  it.each([
    ['admits growth the class allows', aClaim('2Gi'), aClaim('1Gi'), ''],
    ['admits what stays the same', aClaim('1Gi', 'Pending'), aClaim('1024Mi', 'Pending'), ''],
    [
      'refuses growth of a claim that is not bound',
      aClaim('2Gi', 'Pending'),
      aClaim('1Gi', 'Pending'),
      'persistentvolumeclaims "c" is forbidden: Only bound persistent volume claims can be expanded',
    ],
    ['refuses growth the class does not allow', aClaim('2Gi', 'Bound', 'fixed'), aClaim('1Gi', 'Bound', 'fixed'), NOT_RESIZABLE],
    ['refuses growth without a class', aClaim('2Gi', 'Bound', ''), aClaim('1Gi', 'Bound', ''), NOT_RESIZABLE],
  ])('%s', async (_name, object, oldObject, expected) => {
    const objects = new ObjectsInMemory();
    for (const [name, allowVolumeExpansion] of Object.entries({ grows: true, fixed: false })) {
      const storageClass = { apiVersion: 'storage.k8s.io/v1', kind: 'StorageClass', metadata: { name }, allowVolumeExpansion };
      objects.put({ group: 'storage.k8s.io', resource: 'storageclasses' }, storageClass);
    }
    const request = aRequest('persistentvolumeclaims', object, { operation: 'UPDATE', oldObject });
    expect(await refusalOf(() => persistentVolumeClaimResize(objects).validate!(request))).toBe(expected);
  });
});
