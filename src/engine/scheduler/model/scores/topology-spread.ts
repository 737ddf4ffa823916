import type { Cluster } from '../cluster.ts';
import { countMatching, countsNode, hasTopologyKeys } from '../filters/topology-spread.ts';
import type { NodeInfo } from '../node-info.ts';
import type { PodInfo } from '../pod-info.ts';
import { MAX_SCORE, type Score } from '../score.ts';

const HOSTNAME = 'kubernetes.io/hostname';

/** Domains with fewer Pods of the same kind are better. Pods that state nothing are spread over nodes by their controller. */
export const spread: Score = {
  name: 'PodTopologySpread',
  weight: 2,
  rate(pod, nodes, cluster) {
    if (pod.softSpread.length > 0) return ratesOf(countsByConstraint(pod, nodes, cluster));
    if (pod.hardSpread.length > 0 || pod.owner === undefined) return undefined;
    const counts = nodes.map(({ owners }) => owners.get(pod.owner!) ?? 0);
    return counts.every((count) => count === 0) ? undefined : ratesOf(counts);
  },
};

/** The weighted count of each node; undefined for nodes without the topology. */
function countsByConstraint(pod: PodInfo, nodes: readonly NodeInfo[], cluster: Cluster): (number | undefined)[] {
  const { softSpread, namespace } = pod;
  const eligible = nodes.filter((node) => hasTopologyKeys(node, softSpread));
  const totals = softSpread.map((constraint) => {
    const { topologyKey, selector } = constraint;
    const counts = new Map<string, number>();
    for (const node of eligible) counts.set(node.labels[topologyKey], 0);
    if (topologyKey === HOSTNAME) return { counts, weight: Math.log(eligible.length + 2) };
    for (const node of cluster.nodes) {
      if (!hasTopologyKeys(node, softSpread) || !countsNode(constraint, pod, node)) continue;
      const before = counts.get(node.labels[topologyKey]);
      if (before !== undefined) counts.set(node.labels[topologyKey], before + countMatching(node, selector, namespace));
    }
    return { counts, weight: Math.log(counts.size + 2) };
  });
  return nodes.map((node) => {
    if (!hasTopologyKeys(node, softSpread)) return undefined;
    let sum = 0;
    softSpread.forEach(({ topologyKey, selector, maxSkew }, i) => {
      const { counts, weight } = totals[i];
      const count = topologyKey === HOSTNAME ? countMatching(node, selector, namespace) : counts.get(node.labels[topologyKey])!;
      sum += count * weight + maxSkew - 1;
    });
    return Math.round(sum);
  });
}

function ratesOf(counts: (number | undefined)[]): number[] {
  let least = Infinity;
  let most = 0;
  for (const count of counts) {
    if (count === undefined) continue;
    if (count < least) least = count;
    if (count > most) most = count;
  }
  return counts.map((count) => {
    if (count === undefined) return 0;
    return most === 0 ? MAX_SCORE : Math.floor((MAX_SCORE * (most + least - count)) / most);
  });
}
