import { describe, expect, it } from 'vitest';
import type { Json, KubeObject, ObjectMeta } from '../../../kube/object.ts';
import { isToGo } from './reclaim-volumes.ts';

const FOLDER = '/data/volumes';

function aVolume(metadata: ObjectMeta = {}, spec: Json = {}): KubeObject {
  return {
    apiVersion: 'v1',
    kind: 'PersistentVolume',
    metadata: { name: 'pvc-1', deletionTimestamp: '2026-01-01T00:00:00Z', finalizers: ['tenantry.dev/local-volume'], ...metadata },
    spec: { local: { path: `${FOLDER}/pvc-1` }, ...spec },
  };
}

describe('isToGo', () => {
  const cases: [string, KubeObject, boolean][] = [
    ['a volume that is deleted and unused', aVolume(), true],
    ['one that is not deleted', aVolume({ deletionTimestamp: undefined }), false],
    ['one that a claim still uses', aVolume({ finalizers: ['tenantry.dev/local-volume', 'kubernetes.io/pv-protection'] }), false],
    ['one that was let go already', aVolume({ finalizers: ['other'] }), false],
    ['one of another node', aVolume({}, { local: { path: '/elsewhere/pvc-1' } }), false],
    ['one that points at the folder of another', aVolume({}, { local: { path: `${FOLDER}/pvc-2` } }), false],
    ['one that points at all of them', aVolume({ name: '.' }, { local: { path: FOLDER } }), false],
    ['one that leads out', aVolume({ name: '..' }, { local: { path: `${FOLDER}/..` } }), false],
    ['one of another type', aVolume({}, { local: undefined, hostPath: { path: `${FOLDER}/pvc-1` } }), false],
  ];

  it.each(cases)('%s', (_, volume, expected) => {
    expect(isToGo(volume, FOLDER)).toBe(expected);
  });
});
