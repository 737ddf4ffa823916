import { expect, test } from 'vitest';
import type { KubeObject } from '../../../kube/object.ts';
import { decide, ownerState, type OwnerState } from './references.ts';

const object = (finalizers: string[] = [], metadata: object = {}): KubeObject => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name: 'a', uid: 'u', finalizers, ...metadata },
});
const checked = (...states: OwnerState[]): Parameters<typeof decide>[1] =>
  states.map((state, i) => ({ state, reference: { apiVersion: 'v1', kind: 'X', name: `o${i}`, uid: `o${i}` } }));
const none = { any: false, anyDeletingTheirs: false };
const some = { any: true, anyDeletingTheirs: false };

test.each<[string, Parameters<typeof decide>, ReturnType<typeof decide>]>([
  ['no owners keep it', [object(), checked(), none], { type: 'keep' }],
  ['living owners keep it', [object(), checked('solid', 'solid'), none], { type: 'keep' }],
  [
    'one living owner keeps it without the others',
    [object(), checked('solid', 'absent', 'waiting'), none],
    { type: 'dropReferences', uids: ['o1', 'o2'] },
  ],
  ['absent owners delete it', [object(), checked('absent'), some], { type: 'delete', propagation: 'Background', unblock: false }],
  [
    'a waiting owner deletes one without dependents',
    [object(), checked('waiting'), none],
    { type: 'delete', propagation: 'Background', unblock: false },
  ],
  [
    'a waiting owner deletes one with dependents in the foreground',
    [object(), checked('waiting'), some],
    { type: 'delete', propagation: 'Foreground', unblock: false },
  ],
  [
    'a circle is unblocked first',
    [object(), checked('waiting', 'absent'), { any: true, anyDeletingTheirs: true }],
    { type: 'delete', propagation: 'Foreground', unblock: true },
  ],
  ['a pending orphaning is kept', [object(['orphan']), checked('absent'), none], { type: 'delete', propagation: 'Orphan', unblock: false }],
  [
    'a pending foreground deletion is kept',
    [object(['foregroundDeletion']), checked('absent'), none],
    { type: 'delete', propagation: 'Foreground', unblock: false },
  ],
])('%s', (_name, input, verdict) => {
  expect(decide(...input)).toEqual(verdict);
});

test.each<[string, KubeObject | undefined, OwnerState]>([
  ['that is not there is absent', undefined, 'absent'],
  ['with another uid is absent', object([], { uid: 'other' }), 'absent'],
  ['that is there is solid', object(), 'solid'],
  ['that is being deleted is solid still', object([], { deletionTimestamp: 'now' }), 'solid'],
  ['in foreground deletion is waiting', object(['foregroundDeletion'], { deletionTimestamp: 'now' }), 'waiting'],
])('an owner %s', (_name, owner, state) => {
  expect(ownerState(owner, 'u')).toBe(state);
});
