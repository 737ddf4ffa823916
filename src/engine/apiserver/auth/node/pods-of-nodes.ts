import type { KubeObject } from '../../../../kube/object.ts';
import type { ObjectReader } from '../../registry/objects.ts';

const PODS = { group: '', resource: 'pods' };

/** Which Pods are on which node, kept from the first question on. */
export class PodsOfNodes {
  readonly #reader: ObjectReader;
  #byNode: Map<string, Map<string, Set<string>>> | undefined;

  constructor(reader: ObjectReader) {
    this.#reader = reader;
  }

  /** Of one namespace. */
  *of(node: string, namespace: string): Generator<KubeObject> {
    for (const name of this.#index().get(node)?.get(namespace) ?? []) {
      const pod = this.#reader.get(PODS, namespace, name);
      // The index may be a moment behind.
      if (pod?.spec?.nodeName === node) yield pod;
    }
  }

  #index(): Map<string, Map<string, Set<string>>> {
    if (this.#byNode !== undefined) return this.#byNode;
    const index = (this.#byNode = new Map());
    for (const pod of this.#reader.list(PODS)) this.#set(index, pod, true);
    this.#reader.onChange(PODS, ({ type, object }) => this.#set(index, object, type !== 'DELETED'));
    return index;
  }

  #set(index: Map<string, Map<string, Set<string>>>, { metadata, spec }: KubeObject, isThere: boolean): void {
    const node: string = spec?.nodeName ?? '';
    if (node === '') return;
    const namespaces = index.get(node) ?? new Map<string, Set<string>>();
    const names = namespaces.get(metadata.namespace!) ?? new Set<string>();
    if (isThere) names.add(metadata.name!);
    else names.delete(metadata.name!);
    if (names.size > 0) namespaces.set(metadata.namespace!, names);
    else namespaces.delete(metadata.namespace!);
    if (namespaces.size > 0) index.set(node, namespaces);
    else index.delete(node);
  }
}
