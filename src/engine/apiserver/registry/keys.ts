import type { Resource } from './resource.ts';

/** All objects of one resource, whatever version they are served in: `apps/deployments/`. */
export function storagePrefix(storage: { group: string; resource: string }): string {
  return `${storage.group === '' ? 'core' : storage.group}/${storage.resource}/`;
}

/** `apps/deployments/default/web` or `core/nodes/n1`. Names cannot contain a slash, so keys never collide. */
export function storageKey(resource: Resource, namespace: string, name: string): string {
  const prefix = storagePrefix(resource.storage);
  return resource.namespaced ? `${prefix}${namespace}/${name}` : prefix + name;
}

/** The prefix of the resource an object's key belongs to. */
export function prefixOfKey(key: string): string {
  return key.slice(0, key.indexOf('/', key.indexOf('/') + 1) + 1);
}
