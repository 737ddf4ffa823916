import type { Node } from '../../../client/kinds.ts';
import type { Taint } from '../../../kube/generated/core-v1.ts';
import { addTo, copyOf, noResources, parseResources, type Resources } from '../../../kube/pod-requests.ts';
import { Quantity } from '../../../kube/quantity.ts';
import type { Labels } from './affinity-terms.ts';
import type { HostPort, PodInfo } from './pod-info.ts';

export type NodeObject = NonNullable<(typeof Node)['objectType']>;

const NO_LABELS: Labels = Object.freeze({});

/** A node, the Pods that are or will be on it, and the sums over them. */
export class NodeInfo {
  readonly name: string;
  labels: Labels = NO_LABELS;
  taints: readonly Taint[] = [];
  unschedulable = false;
  allocatable: Resources = noResources();
  allowedPods = 0;
  /** Size of each image that is here, by every name it has. */
  images = new Map<string, number>();
  pods = new Map<string, PodInfo>();
  requested: Resources = noResources();
  assumed: Resources = noResources();
  withAffinity = new Set<PodInfo>();
  withRequiredAntiAffinity = new Set<PodInfo>();
  /** Pods here by the uid of their controller. */
  owners = new Map<string, number>();
  #ports = new Map<string, number>();

  constructor(name: string) {
    this.name = name;
  }

  static of(node: NodeObject): NodeInfo {
    const info = new NodeInfo(node.metadata.name!);
    info.update(node);
    return info;
  }

  /** Takes over what the node says of itself. */
  update(node: NodeObject): void {
    this.labels = node.metadata.labels ?? NO_LABELS;
    this.taints = node.spec?.taints ?? [];
    this.unschedulable = node.spec?.unschedulable ?? false;
    const allocatable = node.status?.allocatable;
    this.allocatable = parseResources(allocatable);
    this.allowedPods = allocatable?.pods === undefined ? 0 : Quantity.parse(allocatable.pods).value();
    this.images = new Map();
    for (const { names, sizeBytes } of node.status?.images ?? []) for (const name of names ?? []) this.images.set(name, sizeBytes ?? 0);
  }

  add(pod: PodInfo): void {
    this.pods.set(pod.key, pod);
    this.#count(pod, 1);
    if (pod.hasAffinity) this.withAffinity.add(pod);
    if (pod.antiAffinity.required.length > 0) this.withRequiredAntiAffinity.add(pod);
  }

  /** Takes away the Pod of that key, if it is here. */
  remove(key: string): PodInfo | undefined {
    const pod = this.pods.get(key);
    if (!pod) return undefined;
    this.pods.delete(key);
    this.#count(pod, -1);
    this.withAffinity.delete(pod);
    this.withRequiredAntiAffinity.delete(pod);
    return pod;
  }

  usesPort({ ip, protocol, port }: HostPort): boolean {
    if (this.#ports.size === 0) return false;
    if (ip === '0.0.0.0') return this.#ports.has(`${protocol}/${port}`);
    return this.#ports.has(`${protocol}/${port}/0.0.0.0`) || this.#ports.has(`${protocol}/${port}/${ip}`);
  }

  /** For trying out what would be. */
  copy(): NodeInfo {
    const copy = new NodeInfo(this.name);
    copy.labels = this.labels;
    copy.taints = this.taints;
    copy.unschedulable = this.unschedulable;
    copy.allocatable = this.allocatable;
    copy.allowedPods = this.allowedPods;
    copy.images = this.images;
    copy.pods = new Map(this.pods);
    copy.requested = copyOf(this.requested);
    copy.assumed = copyOf(this.assumed);
    copy.withAffinity = new Set(this.withAffinity);
    copy.withRequiredAntiAffinity = new Set(this.withRequiredAntiAffinity);
    copy.owners = new Map(this.owners);
    copy.#ports = new Map(this.#ports);
    return copy;
  }

  #count(pod: PodInfo, sign: 1 | -1): void {
    addTo(this.requested, pod.requests, sign);
    addTo(this.assumed, pod.assumed, sign);
    if (pod.owner !== undefined) shift(this.owners, pod.owner, sign);
    for (const { ip, protocol, port } of pod.hostPorts) {
      // Once per address, and once for any address: the two questions that are asked.
      shift(this.#ports, `${protocol}/${port}/${ip}`, sign);
      shift(this.#ports, `${protocol}/${port}`, sign);
    }
  }
}

function shift(counts: Map<string, number>, key: string, by: number): void {
  const count = (counts.get(key) ?? 0) + by;
  if (count === 0) counts.delete(key);
  else counts.set(key, count);
}
