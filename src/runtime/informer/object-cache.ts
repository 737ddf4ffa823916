import type { KubeObject } from '../../kube/object.ts';

/** `namespace/name`, or `name` for cluster-scoped objects: the keys of caches and work queues. */
export function keyOf(object: { metadata: { namespace?: string; name?: string } }): string {
  const { namespace, name } = object.metadata;
  return namespace ? `${namespace}/${name}` : name!;
}

export function toKey(namespace: string | undefined, name: string): string {
  return namespace ? `${namespace}/${name}` : name;
}

export function splitKey(key: string): { namespace: string | undefined; name: string } {
  const slash = key.indexOf('/');
  return slash < 0 ? { namespace: undefined, name: key } : { namespace: key.slice(0, slash), name: key.slice(slash + 1) };
}

/** The values under which an index finds an object. */
export type IndexValues<T> = (object: T) => readonly string[];

interface Index<T> {
  values: IndexValues<T>;
  keys: Map<string, Set<string>>;
}

/** Objects by key, and by the values of each index. */
export class ObjectCache<T extends KubeObject> {
  #objects = new Map<string, T>();
  #indexes = new Map<string, Index<T>>();

  get size(): number {
    return this.#objects.size;
  }

  get(key: string): T | undefined {
    return this.#objects.get(key);
  }

  keys(): IterableIterator<string> {
    return this.#objects.keys();
  }

  values(): IterableIterator<T> {
    return this.#objects.values();
  }

  set(key: string, object: T): void {
    const previous = this.#objects.get(key);
    this.#objects.set(key, object);
    for (const index of this.#indexes.values()) {
      if (previous) unlink(index, key, previous);
      link(index, key, object);
    }
  }

  delete(key: string): void {
    const previous = this.#objects.get(key);
    if (!previous) return;
    this.#objects.delete(key);
    for (const index of this.#indexes.values()) unlink(index, key, previous);
  }

  addIndex(name: string, values: IndexValues<T>): void {
    if (this.#indexes.has(name)) return;
    const index: Index<T> = { values, keys: new Map() };
    for (const [key, object] of this.#objects) link(index, key, object);
    this.#indexes.set(name, index);
  }

  byIndex(name: string, value: string): T[] {
    const found: T[] = [];
    for (const key of this.#index(name).keys.get(value) ?? []) found.push(this.#objects.get(key)!);
    return found;
  }

  countByIndex(name: string, value: string): number {
    return this.#index(name).keys.get(value)?.size ?? 0;
  }

  #index(name: string): Index<T> {
    const index = this.#indexes.get(name);
    if (!index) throw new Error(`Cannot look up index "${name}": it was not added; add it before the informer is used`);
    return index;
  }
}

function link<T>(index: Index<T>, key: string, object: T): void {
  for (const value of index.values(object)) {
    const keys = index.keys.get(value);
    if (keys) keys.add(key);
    else index.keys.set(value, new Set([key]));
  }
}

function unlink<T>(index: Index<T>, key: string, object: T): void {
  for (const value of index.values(object)) {
    const keys = index.keys.get(value);
    if (!keys) continue;
    keys.delete(key);
    if (keys.size === 0) index.keys.delete(value);
  }
}
