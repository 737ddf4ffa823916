import type { GroupResource, KubeObject } from '../../../kube/object.ts';
import type { ObjectReader } from '../registry/objects.ts';

const NONE: readonly KubeObject[] = Object.freeze([]);

/**
 * The objects of a resource that few of exist and every write asks about (quotas, limit ranges, classes): grouped by
 * namespace, ordered by name, kept current by changes, so that asking costs a map lookup. Read on first use.
 */
export class CachedList {
  readonly #reader: ObjectReader;
  readonly #resource: GroupResource;
  #groups: Map<string, KubeObject[]> | undefined;

  constructor(reader: ObjectReader, resource: GroupResource) {
    this.#reader = reader;
    this.#resource = resource;
    reader.onChange(resource, ({ type, object }) => this.#apply(object, type !== 'DELETED'));
  }

  /** Of one namespace; '' for cluster-scoped resources. */
  in(namespace: string): readonly KubeObject[] {
    return (this.#groups ?? this.#load()).get(namespace) ?? NONE;
  }

  #load(): Map<string, KubeObject[]> {
    this.#groups = new Map();
    for (const object of this.#reader.list(this.#resource)) this.#apply(object, true);
    return this.#groups;
  }

  #apply(object: KubeObject, present: boolean): void {
    if (!this.#groups) return;
    const namespace = object.metadata.namespace ?? '';
    const others = (this.#groups.get(namespace) ?? []).filter((other) => other.metadata.name !== object.metadata.name);
    if (present) others.push(object);
    if (others.length === 0) this.#groups.delete(namespace);
    else
      this.#groups.set(
        namespace,
        others.sort((a, b) => (a.metadata.name! < b.metadata.name! ? -1 : 1)),
      );
  }
}
