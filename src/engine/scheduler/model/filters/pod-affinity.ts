import type { AffinityTerm, NamespaceLabels } from '../affinity-terms.ts';
import { refusal, type Filter } from '../filter.ts';
import type { NodeInfo } from '../node-info.ts';
import type { PodInfo } from '../pod-info.ts';

const NOT_NEAR = refusal('InterPodAffinity', "node(s) didn't match pod affinity rules", true);
const TOO_NEAR = refusal('InterPodAffinity', "node(s) didn't match pod anti-affinity rules", false);
const UNWELCOME = refusal('InterPodAffinity', "node(s) didn't satisfy existing pods anti-affinity rules", false);

/** How many Pods stand in each topology: by key, by value. */
type Counts = Map<string, Map<string, number>>;

/** The Pods that a Pod wants to be near, wants to avoid, or is avoided by. */
export class AffinityCounts {
  #pod: PodInfo;
  #namespaceLabels: NamespaceLabels;
  #wanted: Counts;
  #avoided: Counts;
  #avoiding: Counts;

  private constructor(pod: PodInfo, namespaceLabels: NamespaceLabels, wanted: Counts, avoided: Counts, avoiding: Counts) {
    this.#pod = pod;
    this.#namespaceLabels = namespaceLabels;
    this.#wanted = wanted;
    this.#avoided = avoided;
    this.#avoiding = avoiding;
  }

  /** Undefined when there is nothing to observe. */
  static of(pod: PodInfo, nodes: readonly NodeInfo[], namespaceLabels: NamespaceLabels): AffinityCounts | undefined {
    const states = pod.affinity.required.length > 0 || pod.antiAffinity.required.length > 0;
    const counts = new AffinityCounts(pod, namespaceLabels, new Map(), new Map(), new Map());
    for (const node of nodes) {
      // Without terms of its own only Pods that keep others away matter.
      for (const other of states ? node.pods.values() : node.withRequiredAntiAffinity) counts.shift(other, node, 1);
    }
    return states || counts.#avoiding.size > 0 ? counts : undefined;
  }

  copy(): AffinityCounts {
    return new AffinityCounts(this.#pod, this.#namespaceLabels, copyOf(this.#wanted), copyOf(this.#avoided), copyOf(this.#avoiding));
  }

  /** As if `other` came to the node or left it. */
  shift(other: PodInfo, node: NodeInfo, by: 1 | -1): void {
    for (const term of other.antiAffinity.required) {
      if (term.matches(this.#pod, this.#namespaceLabels)) count(this.#avoiding, node, term.topologyKey, by);
    }
    const { affinity, antiAffinity } = this.#pod;
    if (matchesAll(affinity.required, other, this.#namespaceLabels)) {
      for (const { topologyKey } of affinity.required) count(this.#wanted, node, topologyKey, by);
    }
    for (const term of antiAffinity.required) {
      if (term.matches(other, this.#namespaceLabels)) count(this.#avoided, node, term.topologyKey, by);
    }
  }

  isNear(node: NodeInfo): boolean {
    const terms = this.#pod.affinity.required;
    let near = true;
    for (const { topologyKey } of terms) {
      if (!Object.hasOwn(node.labels, topologyKey)) return false;
      if (!has(this.#wanted, topologyKey, node.labels[topologyKey])) near = false;
    }
    // The first of a group that wants to be near itself has nobody to be near to yet.
    return near || (this.#wanted.size === 0 && matchesAll(terms, this.#pod, this.#namespaceLabels));
  }

  avoids(node: NodeInfo): boolean {
    return this.#pod.antiAffinity.required.some(
      ({ topologyKey }) => Object.hasOwn(node.labels, topologyKey) && has(this.#avoided, topologyKey, node.labels[topologyKey]),
    );
  }

  isAvoided(node: NodeInfo): boolean {
    for (const [key, values] of this.#avoiding) {
      if (Object.hasOwn(node.labels, key) && (values.get(node.labels[key]) ?? 0) > 0) return true;
    }
    return false;
  }
}

function matchesAll(terms: readonly AffinityTerm[], pod: PodInfo, namespaceLabels: NamespaceLabels): boolean {
  return terms.length > 0 && terms.every((term) => term.matches(pod, namespaceLabels));
}

function count(counts: Counts, node: NodeInfo, key: string, by: number): void {
  if (!Object.hasOwn(node.labels, key)) return;
  const value = node.labels[key];
  let values = counts.get(key);
  if (!values) counts.set(key, (values = new Map()));
  const next = (values.get(value) ?? 0) + by;
  if (next !== 0) values.set(value, next);
  else {
    values.delete(value);
    if (values.size === 0) counts.delete(key);
  }
}

function has(counts: Counts, key: string, value: string): boolean {
  return (counts.get(key)?.get(value) ?? 0) > 0;
}

function copyOf(counts: Counts): Counts {
  return new Map([...counts].map(([key, values]) => [key, new Map(values)]));
}

export const podAffinity: Filter = {
  name: 'InterPodAffinity',
  check(_pod, node, { affinity }) {
    if (!affinity) return undefined;
    if (!affinity.isNear(node)) return NOT_NEAR;
    if (affinity.avoids(node)) return TOO_NEAR;
    return affinity.isAvoided(node) ? UNWELCOME : undefined;
  },
};
