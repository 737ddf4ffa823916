import { qualifiedResource, type GroupResource, type KubeObject } from '../../../../kube/object.ts';
import { alreadyExistsError, notFoundError } from '../../../../kube/status.ts';
import type { ObjectChange, ObjectReader, ObjectWriter } from '../../registry/objects.ts';

/** The server's objects for unit tests: a map, with the promises of ObjectWriter kept (synchronous changes, frozen results). */
export class ObjectsInMemory implements ObjectWriter {
  #objects = new Map<string, Map<string, KubeObject>>();
  #listeners = new Map<string, Set<(change: ObjectChange) => void>>();
  /** How many writes there were. */
  writes = 0;

  put(resource: GroupResource, object: KubeObject): KubeObject {
    const table = this.#table(resource);
    const key = `${object.metadata.namespace ?? ''}/${object.metadata.name}`;
    const previous = table.get(key);
    const stored = deepFreeze(structuredClone(object));
    table.set(key, stored);
    this.writes++;
    this.#tell(resource, { type: previous ? 'MODIFIED' : 'ADDED', object: stored, previous });
    return stored;
  }

  get<T extends KubeObject>(resource: GroupResource, namespace: string, name: string): T | undefined {
    return this.#table(resource).get(`${namespace}/${name}`) as T | undefined;
  }

  list<T extends KubeObject>(resource: GroupResource, namespace?: string): T[] {
    const all = [...this.#table(resource).values()] as T[];
    return namespace === undefined ? all : all.filter((object) => object.metadata.namespace === namespace);
  }

  onChange: ObjectReader['onChange'] = (resource, listener) => {
    const name = qualifiedResource(resource);
    const listeners = this.#listeners.get(name) ?? new Set();
    this.#listeners.set(name, listeners.add(listener));
    return () => listeners.delete(listener);
  };

  async create(resource: GroupResource, object: KubeObject): Promise<KubeObject> {
    const { namespace = '', name = '' } = object.metadata;
    if (this.get(resource, namespace, name)) throw alreadyExistsError(resource, name);
    return this.put(resource, object);
  }

  async update(
    resource: GroupResource,
    namespace: string,
    name: string,
    change: (draft: KubeObject) => boolean | void,
  ): Promise<KubeObject> {
    const current = this.get(resource, namespace, name);
    if (!current) throw notFoundError(resource, name);
    const draft = structuredClone(current);
    return change(draft) === false ? current : this.put(resource, draft);
  }

  async delete(resource: GroupResource, namespace: string, name: string): Promise<void> {
    const current = this.get(resource, namespace, name);
    if (!current) throw notFoundError(resource, name);
    this.#table(resource).delete(`${namespace}/${name}`);
    this.#tell(resource, { type: 'DELETED', object: current });
  }

  #table(resource: GroupResource): Map<string, KubeObject> {
    const name = qualifiedResource(resource);
    const table = this.#objects.get(name) ?? new Map<string, KubeObject>();
    this.#objects.set(name, table);
    return table;
  }

  #tell(resource: GroupResource, change: ObjectChange): void {
    for (const listener of this.#listeners.get(qualifiedResource(resource)) ?? []) listener(change);
  }
}

function deepFreeze<T>(value: T): T {
  if (typeof value === 'object' && value !== null && !Object.isFrozen(value)) {
    Object.freeze(value);
    for (const child of Object.values(value)) deepFreeze(child);
  }
  return value;
}
