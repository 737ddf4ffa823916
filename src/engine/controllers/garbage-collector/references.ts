import type { KubeObject, OwnerReference } from '../../../kube/object.ts';
import { hasFinalizer } from '../../../kube/ownership.ts';
import { FOREGROUND_FINALIZER, ORPHAN_FINALIZER } from './graph.ts';

/** What became of an owner: there, gone, or going and waiting for its dependents first. */
export type OwnerState = 'solid' | 'absent' | 'waiting';

export interface CheckedReference {
  reference: OwnerReference;
  state: OwnerState;
}

export type Verdict =
  | { type: 'keep' }
  /** Some owners remain: forget the others. */
  | { type: 'dropReferences'; uids: string[] }
  | { type: 'delete'; propagation: 'Orphan' | 'Foreground' | 'Background'; unblock: boolean };

export function ownerState(owner: KubeObject | undefined, uid: string): OwnerState {
  if (!owner || owner.metadata.uid !== uid) return 'absent';
  return owner.metadata.deletionTimestamp !== undefined && hasFinalizer(owner, FOREGROUND_FINALIZER) ? 'waiting' : 'solid';
}

/**
 * What to do with an object, given what became of its owners. `dependents` tells whether it owns objects itself and whether one of those is
 * in foreground deletion, which may close a circle: then its references must not block any more.
 */
export function decide(object: KubeObject, checked: CheckedReference[], dependents: { any: boolean; anyDeletingTheirs: boolean }): Verdict {
  if (checked.length === 0) return { type: 'keep' };
  const lost = checked.filter(({ state }) => state !== 'solid');
  if (lost.length < checked.length) {
    return lost.length === 0 ? { type: 'keep' } : { type: 'dropReferences', uids: lost.map(({ reference }) => reference.uid) };
  }
  if (dependents.any && checked.some(({ state }) => state === 'waiting')) {
    return { type: 'delete', propagation: 'Foreground', unblock: dependents.anyDeletingTheirs };
  }
  return { type: 'delete', propagation: ownPropagation(object), unblock: false };
}

/** A deletion that was asked for already keeps its way. */
function ownPropagation(object: KubeObject): 'Orphan' | 'Foreground' | 'Background' {
  if (hasFinalizer(object, ORPHAN_FINALIZER)) return 'Orphan';
  return hasFinalizer(object, FOREGROUND_FINALIZER) ? 'Foreground' : 'Background';
}
