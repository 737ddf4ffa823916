import { expect, test } from 'vitest';
import type { PersistentVolume, PersistentVolumeClaim } from '../../../kube/volume-objects.ts';
import { phaseOf, type VolumePhase } from './volume-phase.ts';

const volume = (claimRef?: object): PersistentVolume => ({
  apiVersion: 'v1',
  kind: 'PersistentVolume',
  metadata: { name: 'pv' },
  spec: { claimRef },
});
const claim = (uid: string, volumeName?: string): PersistentVolumeClaim => ({
  apiVersion: 'v1',
  kind: 'PersistentVolumeClaim',
  metadata: { name: 'data', uid },
  spec: { volumeName },
});

test.each<[string, PersistentVolume, PersistentVolumeClaim | undefined, VolumePhase]>([
  ['nobody claims', volume(), undefined, 'Available'],
  ['is kept for a claim to come', volume({ name: 'data' }), undefined, 'Available'],
  ['is about to be bound', volume({ name: 'data', uid: '1' }), claim('1'), 'Available'],
  ['is bound', volume({ name: 'data', uid: '1' }), claim('1', 'pv'), 'Bound'],
  ['lost its claim', volume({ name: 'data', uid: '1' }), undefined, 'Released'],
  ['belonged to an earlier claim of that name', volume({ name: 'data', uid: '1' }), claim('2', 'pv'), 'Released'],
])('the phase of a volume that %s', (_name, object, of, expected) => {
  expect(phaseOf(object, of)).toBe(expected);
});
