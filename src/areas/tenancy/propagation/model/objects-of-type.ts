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

/** Objects that were listed once. */
export class ListedObjects implements ObjectsOfType {
  #byKey = new Map<string, KubeObject>();
  #byNamespace = new Map<string, KubeObject[]>();
  #byName = new Map<string, KubeObject[]>();

  add(object: KubeObject): void {
    const { namespace = '', name = '' } = object.metadata;
    this.#byKey.set(`${namespace}/${name}`, object);
    if (isCopy(object)) return;
    append(this.#byNamespace, namespace, object);
    append(this.#byName, name, object);
  }

  find(namespace: string, name: string): KubeObject | undefined {
    return this.#byKey.get(`${namespace}/${name}`);
  }

  sourcesIn(namespace: string): readonly KubeObject[] {
    return this.#byNamespace.get(namespace) ?? [];
  }

  sourcesNamed(name: string): readonly KubeObject[] {
    return this.#byName.get(name) ?? [];
  }
}

export function objectsOf(all: Iterable<KubeObject>): ObjectsOfType {
  const listed = new ListedObjects();
  for (const object of all) listed.add(object);
  return listed;
}

function append<T>(map: Map<string, T[]>, key: string, item: T): void {
  const items = map.get(key);
  if (items) items.push(item);
  else map.set(key, [item]);
}
