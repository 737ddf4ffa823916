import type { Cluster } from './cluster.ts';
import type { Cycle, Filter, FilterName, Refusal } from './filter.ts';
import type { Diagnosis } from './fit-error.ts';
import { hostPorts } from './filters/host-ports.ts';
import { nodeAffinity } from './filters/node-affinity.ts';
import { nodeName } from './filters/node-name.ts';
import { AffinityCounts, podAffinity } from './filters/pod-affinity.ts';
import { resources } from './filters/resources.ts';
import { taints } from './filters/taints.ts';
import { SpreadCounts, topologySpread } from './filters/topology-spread.ts';
import { unschedulable } from './filters/unschedulable.ts';
import { volumes } from './filters/volumes.ts';
import type { NodeInfo } from './node-info.ts';
import type { PodInfo } from './pod-info.ts';
import type { Score } from './score.ts';
import { balancedAllocation } from './scores/balanced-allocation.ts';
import { imageLocality } from './scores/image-locality.ts';
import { leastAllocated } from './scores/least-allocated.ts';
import { preferredNodes } from './scores/node-affinity.ts';
import { preferredPods } from './scores/pod-affinity.ts';
import { preferredTaints } from './scores/taints.ts';
import { spread } from './scores/topology-spread.ts';
import { PodVolumes } from './volumes.ts';

/** In kube-scheduler's order: the first that refuses a node is the one that is named. */
export const FILTERS: readonly Filter[] = [
  unschedulable,
  nodeName,
  taints,
  nodeAffinity,
  hostPorts,
  resources,
  volumes,
  topologySpread,
  podAffinity,
];

export const SCORES: readonly Score[] = [
  preferredTaints,
  preferredNodes,
  leastAllocated,
  spread,
  preferredPods,
  balancedAllocation,
  imageLocality,
];

export type Decision =
  | { node: NodeInfo; cycle: Cycle; diagnosis?: undefined }
  | { node?: undefined; cycle: Cycle | undefined; diagnosis: Diagnosis };

/** Enough nodes to choose from: in large clusters looking at all of them for each Pod is not worth its time. */
const ENOUGH_NODES = 100;

/** `start` is where among the nodes to begin, so that all get their turn; `random` breaks ties. */
export function decide(pod: PodInfo, cluster: Cluster, start: number, random: () => number): Decision {
  const podVolumes = PodVolumes.of(pod, cluster.volumes);
  if (typeof podVolumes === 'string') return { cycle: undefined, diagnosis: refusedByAll(cluster, podVolumes, 'VolumeBinding') };
  const cycle: Cycle = {
    spread: SpreadCounts.of(pod, cluster.nodes),
    affinity: AffinityCounts.of(pod, cluster.nodes, cluster.namespaceLabels),
    volumes: podVolumes,
  };
  const { namedNodes } = pod;
  const candidates = namedNodes ? cluster.nodes.filter(({ name }) => namedNodes.has(name)) : cluster.nodes;
  const refusals = new Map<string, Refusal>();
  const feasible: NodeInfo[] = [];
  const enough = enoughNodes(candidates.length);
  for (let i = 0; i < candidates.length && feasible.length < enough; i++) {
    const node = candidates[(start + i) % candidates.length];
    const refused = checkWithNominated(pod, node, cycle, cluster);
    if (refused) refusals.set(node.name, refused);
    else feasible.push(node);
  }
  const best = choose(pod, feasible, cluster, random);
  if (best) return { node: best, cycle };
  const filters = new Set<FilterName>([...refusals.values()].map(({ filter }) => filter));
  if (namedNodes) filters.add('NodeAffinity');
  const absent = namedNodes ? "node(s) didn't satisfy plugin(s) [NodeAffinity]" : undefined;
  return { cycle, diagnosis: { refusals, nodes: cluster.nodes.length, absent, filters } };
}

function refusedByAll(cluster: Cluster, forAll: string, filter: FilterName): Diagnosis {
  return { refusals: new Map(), nodes: cluster.nodes.length, forAll, filters: new Set([filter]) };
}

/** Half of the nodes at a hundred, fewer of more, never fewer than a hundred. */
export function enoughNodes(nodes: number): number {
  if (nodes < ENOUGH_NODES) return nodes;
  const percentage = Math.max(50 - Math.trunc(nodes / 125), 5);
  return Math.max(Math.trunc((nodes * percentage) / 100), ENOUGH_NODES);
}

export function check(pod: PodInfo, node: NodeInfo, cycle: Cycle): Refusal | undefined {
  for (const filter of FILTERS) {
    const refused = filter.check(pod, node, cycle);
    if (refused) return refused;
  }
  return undefined;
}

/** The Pod must fit whether or not those promised a place there come: they may be what it wants to be near, or never arrive. */
export function checkWithNominated(pod: PodInfo, node: NodeInfo, cycle: Cycle, cluster: Cluster): Refusal | undefined {
  const nominated = cluster.nominated(node.name);
  if (nominated.length > 0) {
    const before = nominated.filter((other) => other.priority >= pod.priority && other.key !== pod.key && !node.pods.has(other.key));
    if (before.length > 0) {
      const full = node.copy();
      const counted: Cycle = { ...cycle, spread: cycle.spread?.copy(), affinity: cycle.affinity?.copy() };
      for (const other of before) {
        full.add(other);
        counted.spread?.shift(other, full, 1);
        counted.affinity?.shift(other, full, 1);
      }
      const refused = check(pod, full, counted);
      if (refused) return refused;
    }
  }
  return check(pod, node, cycle);
}

function choose(pod: PodInfo, nodes: NodeInfo[], cluster: Cluster, random: () => number): NodeInfo | undefined {
  if (nodes.length <= 1) return nodes[0];
  const totals = nodes.map(() => 0);
  for (const score of SCORES) {
    const rates = score.rate(pod, nodes, cluster);
    if (rates) for (let i = 0; i < totals.length; i++) totals[i] += rates[i] * score.weight;
  }
  let best = 0;
  let ties = 1;
  for (let i = 1; i < totals.length; i++) {
    if (totals[i] > totals[best]) {
      best = i;
      ties = 1;
    } else if (totals[i] === totals[best] && random() * ++ties < 1) best = i;
  }
  return nodes[best];
}
