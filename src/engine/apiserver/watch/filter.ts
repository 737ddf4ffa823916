import type { Entry, StoreEvent } from '../../store/store.ts';

/** Which objects a list or watch is about. */
export interface ObjectFilter {
  /** Key prefix, or the exact key when `exact`. */
  keyPrefix: string;
  exact: boolean;
  /** Identifies the selectors: filters with the same prefix and identity match the same objects. */
  identity: string;
  /** Absent when everything under the prefix matches. */
  matches?: (entry: Entry) => boolean;
}

export type ChangeType = 'ADDED' | 'MODIFIED' | 'DELETED';

/**
 * What a store event means to a watcher with this filter, if anything. An object that leaves the selection is gone for that
 * watcher, although it lives on: it is told DELETED with the last state it could see.
 */
export function changeFor(filter: ObjectFilter, event: StoreEvent): { type: ChangeType; entry: Entry } | undefined {
  const { matches } = filter;
  if (matches === undefined) {
    if (event.type === 'remove') return { type: 'DELETED', entry: event.entry };
    return { type: event.previous === undefined ? 'ADDED' : 'MODIFIED', entry: event.entry };
  }
  const before = event.previous !== undefined && matches(event.previous);
  const after = event.type === 'put' && matches(event.entry);
  if (after) return { type: before ? 'MODIFIED' : 'ADDED', entry: event.entry };
  if (!before) return undefined;
  return { type: 'DELETED', entry: event.type === 'remove' ? event.entry : event.previous };
}
