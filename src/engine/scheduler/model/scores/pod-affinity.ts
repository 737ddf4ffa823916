import type { AffinityTerm } from '../affinity-terms.ts';
import type { Cluster } from '../cluster.ts';
import type { NodeInfo } from '../node-info.ts';
import type { PodInfo } from '../pod-info.ts';
import { MAX_SCORE, type Score } from '../score.ts';

/** What a required term of a Pod that is there already weighs as a preference of the new one. */
const REQUIRED_WEIGHT = 1;

/** Nearer to Pods that are wanted, farther from those that are not; the wishes of Pods already there count too. */
export const preferredPods: Score = {
  name: 'InterPodAffinity',
  weight: 2,
  rate(pod, nodes, cluster) {
    const weights = weightsOf(pod, cluster);
    if (weights.size === 0) return undefined;
    const sums = nodes.map((node) => {
      let sum = 0;
      for (const [key, values] of weights) if (Object.hasOwn(node.labels, key)) sum += values.get(node.labels[key]) ?? 0;
      return sum;
    });
    const least = Math.min(...sums);
    const range = Math.max(...sums) - least;
    return range === 0 ? undefined : sums.map((sum) => Math.floor((MAX_SCORE * (sum - least)) / range));
  },
};

function weightsOf(pod: PodInfo, cluster: Cluster): Map<string, Map<string, number>> {
  const weights = new Map<string, Map<string, number>>();
  const weigh = (term: AffinityTerm, weight: number, target: PodInfo, node: NodeInfo): void => {
    if (!Object.hasOwn(node.labels, term.topologyKey) || !term.matches(target, cluster.namespaceLabels)) return;
    let values = weights.get(term.topologyKey);
    if (!values) weights.set(term.topologyKey, (values = new Map()));
    const value = node.labels[term.topologyKey];
    values.set(value, (values.get(value) ?? 0) + weight);
  };
  const prefers = pod.affinity.preferred.length > 0 || pod.antiAffinity.preferred.length > 0;
  for (const node of cluster.nodes) {
    for (const other of prefers ? node.pods.values() : node.withAffinity) {
      for (const { term, weight } of pod.affinity.preferred) weigh(term, weight, other, node);
      for (const { term, weight } of pod.antiAffinity.preferred) weigh(term, -weight, other, node);
      for (const term of other.affinity.required) weigh(term, REQUIRED_WEIGHT, pod, node);
      for (const { term, weight } of other.affinity.preferred) weigh(term, weight, pod, node);
      for (const { term, weight } of other.antiAffinity.preferred) weigh(term, -weight, pod, node);
    }
  }
  return weights;
}
