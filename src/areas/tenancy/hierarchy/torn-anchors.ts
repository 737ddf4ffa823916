import { ANCHOR_FINALIZER } from '../../../api/hnc.x-k8s.io/v1alpha2/names.ts';
import type { SubnamespaceAnchor } from '../../../api/hnc.x-k8s.io/v1alpha2/subnamespace-anchor.ts';
import type { Change } from '../../../runtime/informer/informer.ts';
import { keyOf } from '../../../runtime/informer/object-cache.ts';

/**
 * Anchors that were held by our finalizer and are gone all the same: a deletion that a real API server had read before the finalizer
 * was written goes through. Their last states, by key, until what their deletion was meant to do is done.
 */
export class TornAnchors {
  #last = new Map<string, SubnamespaceAnchor>();

  note({ type, object }: Change<SubnamespaceAnchor>): void {
    const { finalizers, deletionTimestamp } = object.metadata;
    if (type === 'deleted' && finalizers?.includes(ANCHOR_FINALIZER) && !deletionTimestamp) this.#last.set(keyOf(object), object);
    else if (type === 'added') this.#last.delete(keyOf(object));
  }

  get(key: string): SubnamespaceAnchor | undefined {
    return this.#last.get(key);
  }

  done(key: string, anchor: SubnamespaceAnchor): void {
    if (this.#last.get(key) === anchor) this.#last.delete(key);
  }
}
