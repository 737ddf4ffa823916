import { qualifiedResource, type GroupResource, type KubeObject } from '../../../kube/object.ts';
import { alreadyExistsError, notFoundError } from '../../../kube/status.ts';
import type { ObjectChange, ObjectWriter } from '../registry/objects.ts';

/** Objects in memory for unit tests of this folder: the contract of ObjectWriter without a store beneath. */
export class MemoryObjects implements ObjectWriter {
  readonly #objects = new Map<string, Map<string, KubeObject>>();
  readonly #listeners = new Map<string, Set<(change: ObjectChange) => void>>();
  /** How often something was written, to see that nothing was. */
  writes = 0;

  get<T extends KubeObject = KubeObject>(resource: GroupResource, namespace: string, name: string): T | undefined {
    return this.#of(resource).get(`${namespace}/${name}`) as T | undefined;
  }

  list<T extends KubeObject = KubeObject>(resource: GroupResource, namespace?: string): T[] {
    const all = [...this.#of(resource).values()] as T[];
    return namespace === undefined ? all : all.filter((object) => (object.metadata.namespace ?? '') === namespace);
  }

  onChange(resource: GroupResource, listener: (change: ObjectChange) => void): () => void {
    const key = qualifiedResource(resource);
    const listeners = this.#listeners.get(key) ?? new Set();
    this.#listeners.set(key, listeners.add(listener));
    return () => listeners.delete(listener);
  }

  /** Writes whether it exists or not, at once. */
  put(resource: GroupResource, object: KubeObject): KubeObject {
    const key = `${object.metadata.namespace ?? ''}/${object.metadata.name}`;
    const previous = this.#of(resource).get(key);
    this.#of(resource).set(key, object);
    this.#tell(resource, { type: previous ? 'MODIFIED' : 'ADDED', object, previous });
    return object;
  }

  remove(resource: GroupResource, namespace: string, name: string): void {
    const object = this.get(resource, namespace, name);
    if (!object) throw notFoundError(resource, name);
    this.#of(resource).delete(`${namespace}/${name}`);
    this.#tell(resource, { type: 'DELETED', object });
  }

  async create(resource: GroupResource, object: KubeObject): Promise<KubeObject> {
    const { namespace = '', name = '' } = object.metadata;
    if (this.get(resource, namespace, name)) throw alreadyExistsError(resource, name);
    return this.put(resource, structuredClone(object));
  }

  async update(
    resource: GroupResource,
    namespace: string,
    name: string,
    change: (draft: KubeObject) => boolean | void,
  ): Promise<KubeObject> {
    const present = this.get(resource, namespace, name);
    if (!present) throw notFoundError(resource, name);
    const draft = structuredClone(present);
    return change(draft) === false ? present : this.put(resource, draft);
  }

  async delete(resource: GroupResource, namespace: string, name: string): Promise<void> {
    this.remove(resource, namespace, name);
  }

  #of(resource: GroupResource): Map<string, KubeObject> {
    const key = qualifiedResource(resource);
    let found = this.#objects.get(key);
    if (!found) {
      found = new Map();
      this.#objects.set(key, found);
    }
    return found;
  }

  #tell(resource: GroupResource, change: ObjectChange): void {
    this.writes++;
    for (const listener of this.#listeners.get(qualifiedResource(resource)) ?? []) listener(change);
  }
}
