import type { Identity } from './graph.ts';

const REMEMBERED = 500;

/** Owners that are known to be gone: a thousand dependents of one owner ask for it once. A uid never comes back, so this cannot be wrong later. */
export class AbsentOwners {
  #keys = new Set<string>();

  add(identity: Identity): void {
    this.#keys.add(keyOf(identity));
    if (this.#keys.size > REMEMBERED) this.#keys.delete(this.#keys.values().next().value!);
  }

  has(identity: Identity): boolean {
    return this.#keys.has(keyOf(identity));
  }
}

function keyOf({ apiVersion, kind, namespace, name, uid }: Identity): string {
  return `${apiVersion}/${kind}/${namespace}/${name}/${uid}`;
}
