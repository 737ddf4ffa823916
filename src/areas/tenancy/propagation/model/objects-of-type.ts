import type { PropagationMode } from '../../../../api/hnc.x-k8s.io/v1alpha2/hnc-configuration.ts';
import type { Kind } from '../../../../kube/kind.ts';
import type { KubeObject } from '../../../../kube/object.ts';
import { isCopy } from './canonical-copy.ts';

/** The objects of one type in all namespaces, to be read. A source is an object that is no copy. */
export interface ObjectsOfType {
  find(namespace: string, name: string): KubeObject | undefined;
  sourcesIn(namespace: string): readonly KubeObject[];
  sourcesNamed(name: string): readonly KubeObject[];
}

/** A type of objects that the tree is about. */
export interface PropagatedType {
  readonly kind: Kind;
  readonly mode: PropagationMode;
  readonly objects: ObjectsOfType;
}

/** `/v1, Kind=Secret`: how Go prints a GroupVersionKind, and so HNC's messages. */
export function printKind({ group, version, kind }: Kind): string {
  return `${group}/${version}, Kind=${kind}`;
}

export function objectsOf(all: Iterable<KubeObject>): ObjectsOfType {
  const byKey = new Map<string, KubeObject>();
  const byNamespace = new Map<string, KubeObject[]>();
  const byName = new Map<string, KubeObject[]>();
  for (const object of all) {
    const { namespace = '', name = '' } = object.metadata;
    byKey.set(`${namespace}/${name}`, object);
    if (isCopy(object)) continue;
    append(byNamespace, namespace, object);
    append(byName, name, object);
  }
  return {
    find: (namespace, name) => byKey.get(`${namespace}/${name}`),
    sourcesIn: (namespace) => byNamespace.get(namespace) ?? [],
    sourcesNamed: (name) => byName.get(name) ?? [],
  };
}

function append<T>(map: Map<string, T[]>, key: string, item: T): void {
  const items = map.get(key);
  if (items) items.push(item);
  else map.set(key, [item]);
}
