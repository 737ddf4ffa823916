import type { GroupResource } from '../../../kube/object.ts';
import type { Resource } from './resource.ts';

/**
 * Every resource the server serves, built-in and custom. Lookups are by URL parts; listeners (discovery, OpenAPI, garbage
 * collection) hear when the set changes.
 */
export class Catalog {
  readonly #versions = new Map<string, Map<string, Resource>>();
  readonly #listeners = new Set<() => void>();
  /** Raised with every change: caches built from the catalog compare it instead of listening. */
  generation = 0;

  find(group: string, version: string, resource: string): Resource | undefined {
    return this.#versions.get(`${group}/${version}`)?.get(resource);
  }

  hasVersion(group: string, version: string): boolean {
    return this.#versions.has(`${group}/${version}`);
  }

  hasGroup(group: string): boolean {
    for (const key of this.#versions.keys()) if (key.startsWith(`${group}/`)) return true;
    return false;
  }

  findKind(group: string, version: string, kind: string): Resource | undefined {
    for (const resource of this.#versions.get(`${group}/${version}`)?.values() ?? []) {
      if (resource.kind === kind) return resource;
    }
    return undefined;
  }

  /** The resource in its storage version, whatever versions are served. */
  stored({ group, resource }: GroupResource): Resource | undefined {
    let any: Resource | undefined;
    for (const [key, resources] of this.#versions) {
      if (!key.startsWith(`${group}/`)) continue;
      const found = resources.get(resource);
      if (found === undefined) continue;
      if (found.version === found.storage.version) return found;
      any ??= found;
    }
    return any;
  }

  *all(): Generator<Resource> {
    for (const resources of this.#versions.values()) yield* resources.values();
  }

  inVersion(group: string, version: string): Resource[] {
    return [...(this.#versions.get(`${group}/${version}`)?.values() ?? [])];
  }

  register(resources: readonly Resource[]): void {
    for (const resource of resources) {
      const key = `${resource.group}/${resource.version}`;
      let version = this.#versions.get(key);
      if (version === undefined) this.#versions.set(key, (version = new Map<string, Resource>()));
      version.set(resource.resource, resource);
    }
    this.#changed();
  }

  /** Stops serving a resource in all its versions, or in those that `keep` does not hold. */
  withdraw({ group, resource }: GroupResource, keep: ReadonlySet<string> = new Set()): void {
    for (const [key, resources] of this.#versions) {
      if (!key.startsWith(`${group}/`) || keep.has(key.slice(group.length + 1))) continue;
      if (resources.delete(resource) && resources.size === 0) this.#versions.delete(key);
    }
    this.#changed();
  }

  onChange(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  #changed(): void {
    this.generation++;
    for (const listener of this.#listeners) listener();
  }
}
