import { SCHEDULING_EFFECTS, untoleratedTaint } from '../../../../kube/taints.ts';
import { refusal, type Filter } from '../filter.ts';
import type { NodeInfo } from '../node-info.ts';
import type { PodInfo, SpreadConstraint } from '../pod-info.ts';

const REASON = "node(s) didn't match pod topology spread constraints";
const NO_LABEL = refusal('PodTopologySpread', `${REASON} (missing required label)`, true);
const SKEWED = refusal('PodTopologySpread', REASON, false);

/** Whether the constraint counts the node at all. */
export function countsNode(constraint: SpreadConstraint, pod: PodInfo, node: NodeInfo): boolean {
  if (constraint.honorsAffinity && pod.requiredNode && !pod.requiredNode(node)) return false;
  return !constraint.honorsTaints || untoleratedTaint(node.taints, pod.tolerations, SCHEDULING_EFFECTS) === undefined;
}

export function hasTopologyKeys(node: NodeInfo, constraints: readonly SpreadConstraint[]): boolean {
  return constraints.every(({ topologyKey }) => Object.hasOwn(node.labels, topologyKey));
}

/** Pods on the node that the constraint of `pod` counts. Those that are leaving do not count. */
export function countMatching(node: NodeInfo, selector: SpreadConstraint['selector'], namespace: string): number {
  if (selector.empty) return 0;
  let count = 0;
  for (const other of node.pods.values()) {
    if (!other.terminating && other.namespace === namespace && selector.matches(other.labels)) count++;
  }
  return count;
}

/** Matching Pods by constraint and value of its topology key. */
export class SpreadCounts {
  #pod: PodInfo;
  #counts: Map<string, number>[];
  #least: (number | undefined)[];

  constructor(pod: PodInfo, counts: Map<string, number>[]) {
    this.#pod = pod;
    this.#counts = counts;
    this.#least = counts.map(() => undefined);
  }

  /** Undefined when the Pod has no constraint that must hold. */
  static of(pod: PodInfo, nodes: readonly NodeInfo[]): SpreadCounts | undefined {
    if (pod.hardSpread.length === 0) return undefined;
    const counts = pod.hardSpread.map(() => new Map<string, number>());
    for (const node of nodes) {
      if (!hasTopologyKeys(node, pod.hardSpread)) continue;
      pod.hardSpread.forEach((constraint, i) => {
        if (!countsNode(constraint, pod, node)) return;
        const value = node.labels[constraint.topologyKey];
        counts[i].set(value, (counts[i].get(value) ?? 0) + countMatching(node, constraint.selector, pod.namespace));
      });
    }
    return new SpreadCounts(pod, counts);
  }

  copy(): SpreadCounts {
    return new SpreadCounts(
      this.#pod,
      this.#counts.map((count) => new Map(count)),
    );
  }

  /** As if `other` came to the node or left it. */
  shift(other: PodInfo, node: NodeInfo, by: 1 | -1): void {
    const { namespace, hardSpread } = this.#pod;
    if (other.terminating || other.namespace !== namespace || !hasTopologyKeys(node, hardSpread)) return;
    hardSpread.forEach((constraint, i) => {
      if (constraint.selector.empty || !constraint.selector.matches(other.labels) || !countsNode(constraint, this.#pod, node)) return;
      const value = node.labels[constraint.topologyKey];
      this.#counts[i].set(value, (this.#counts[i].get(value) ?? 0) + by);
      this.#least[i] = undefined;
    });
  }

  matching(constraint: number, value: string): number {
    return this.#counts[constraint].get(value) ?? 0;
  }

  /** Pods in the emptiest domain; none when there are fewer domains than there should be. */
  least(constraint: number): number {
    const counts = this.#counts[constraint];
    if (counts.size < this.#pod.hardSpread[constraint].minDomains) return 0;
    let least = this.#least[constraint];
    if (least !== undefined) return least;
    least = Infinity;
    for (const count of counts.values()) if (count < least) least = count;
    this.#least[constraint] = least;
    return least;
  }
}

export const topologySpread: Filter = {
  name: 'PodTopologySpread',
  check(pod, node, { spread }) {
    if (!spread) return undefined;
    for (let i = 0; i < pod.hardSpread.length; i++) {
      const { topologyKey, selector, maxSkew } = pod.hardSpread[i];
      if (!Object.hasOwn(node.labels, topologyKey)) return NO_LABEL;
      const self = selector.matches(pod.labels) ? 1 : 0;
      if (spread.matching(i, node.labels[topologyKey]) + self - spread.least(i) > maxSkew) return SKEWED;
    }
    return undefined;
  },
};
