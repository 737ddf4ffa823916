import type { Labels } from './model/affinity-terms.ts';
import type { Cluster } from './model/cluster.ts';
import { NodeInfo, type NodeObject } from './model/node-info.ts';
import type { PodInfo } from './model/pod-info.ts';
import type { VolumeView } from './model/volumes.ts';

interface Placed {
  info: PodInfo;
  node: string;
  /** Chosen, but not heard of from the server yet. */
  assumed: boolean;
}

/** Nodes and the Pods on them, those included that were sent there a moment ago. */
export class ClusterCache implements Cluster {
  readonly volumes: VolumeView;
  readonly namespaceLabels: (namespace: string) => Labels | undefined;
  #byName = new Map<string, NodeInfo>();
  /** Nodes that Pods name but nobody has made. */
  #unknown = new Map<string, NodeInfo>();
  #list: NodeInfo[] | undefined;
  #placed = new Map<string, Placed>();
  #nominated = new Map<string, Map<string, PodInfo>>();
  #nominations = new Map<string, string>();

  constructor(options: { volumes: VolumeView; namespaceLabels: (namespace: string) => Labels | undefined }) {
    this.volumes = options.volumes;
    this.namespaceLabels = options.namespaceLabels;
  }

  get nodes(): readonly NodeInfo[] {
    return (this.#list ??= [...this.#byName.values()]);
  }

  node(name: string): NodeInfo | undefined {
    return this.#byName.get(name);
  }

  setNode(object: NodeObject): void {
    const name = object.metadata.name!;
    let node = this.#byName.get(name);
    if (!node) {
      node = this.#unknown.get(name) ?? new NodeInfo(name);
      this.#unknown.delete(name);
      this.#byName.set(name, node);
      this.#list = undefined;
    }
    node.update(object);
  }

  removeNode(name: string): void {
    const node = this.#byName.get(name);
    if (!node) return;
    this.#byName.delete(name);
    this.#list = undefined;
    if (node.pods.size > 0) this.#unknown.set(name, node);
  }

  isPlaced(key: string): boolean {
    return this.#placed.has(key);
  }

  isAssumed(key: string): boolean {
    return this.#placed.get(key)?.assumed ?? false;
  }

  placed(key: string): PodInfo | undefined {
    return this.#placed.get(key)?.info;
  }

  /** The Pod is on the node. */
  place(info: PodInfo, node: string, assumed = false): void {
    this.unplace(info.key);
    this.withdraw(info.key);
    this.#placed.set(info.key, { info, node, assumed });
    this.#nodeFor(node).add(info);
  }

  /** @returns the node it was on. */
  unplace(key: string): NodeInfo | undefined {
    const placed = this.#placed.get(key);
    if (!placed) return undefined;
    this.#placed.delete(key);
    const node = this.#nodeFor(placed.node);
    node.remove(key);
    if (node.pods.size === 0) this.#unknown.delete(placed.node);
    return node;
  }

  /** Keeps room on the node for a Pod that waits for others to leave. */
  nominate(info: PodInfo, node: string): void {
    this.withdraw(info.key);
    this.#nominations.set(info.key, node);
    let pods = this.#nominated.get(node);
    if (!pods) this.#nominated.set(node, (pods = new Map()));
    pods.set(info.key, info);
  }

  nomination(key: string): string | undefined {
    return this.#nominations.get(key);
  }

  /** @returns whether room was kept. */
  withdraw(key: string): boolean {
    const node = this.#nominations.get(key);
    if (node === undefined) return false;
    this.#nominations.delete(key);
    const pods = this.#nominated.get(node);
    pods?.delete(key);
    if (pods?.size === 0) this.#nominated.delete(node);
    return true;
  }

  nominated(node: string): readonly PodInfo[] {
    const pods = this.#nominated.size === 0 ? undefined : this.#nominated.get(node);
    return pods ? [...pods.values()] : NOBODY;
  }

  #nodeFor(name: string): NodeInfo {
    const known = this.#byName.get(name) ?? this.#unknown.get(name);
    if (known) return known;
    const made = new NodeInfo(name);
    this.#unknown.set(name, made);
    return made;
  }
}

const NOBODY: readonly PodInfo[] = [];
