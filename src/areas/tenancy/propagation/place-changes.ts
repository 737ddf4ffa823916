import { deepEqual } from '../../../kube/json-value.ts';
import type { ReadonlyForest } from '../forest/forest.ts';

interface Place {
  parent: string | undefined;
  haltedRoot: string | undefined;
  terminating: boolean;
  role: string | undefined;
  labels: Readonly<Record<string, string>>;
}

/** Tells changes of the tree that decide about copies from the many that do not, such as the tree's own labels being written. */
export class PlaceChanges {
  #forest: Pick<ReadonlyForest, 'get' | 'haltedRoot'>;
  #places = new Map<string, Place>();

  constructor(forest: Pick<ReadonlyForest, 'get' | 'haltedRoot'>) {
    this.#forest = forest;
  }

  /** Whether it has moved since this was last asked. The first answer is yes; a namespace that is gone has nothing to look at. */
  hasMoved(namespace: string): boolean {
    const now = this.#forest.get(namespace);
    if (!now) {
      this.#places.delete(namespace);
      return false;
    }
    const { parent, terminating, role, labels } = now;
    const place: Place = { parent, haltedRoot: this.#forest.haltedRoot(namespace), terminating, role, labels };
    if (deepEqual(this.#places.get(namespace), place)) return false;
    this.#places.set(namespace, place);
    return true;
  }
}
