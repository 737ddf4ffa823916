import { labelSelectorMatcher, type LabelMatcher, type LabelSelector } from '../../../kube/label-selector.ts';
import type { Cluster } from './cluster.ts';
import { checkWithNominated } from './decide.ts';
import type { Cycle, Refusal } from './filter.ts';
import { fitErrorText, type Diagnosis } from './fit-error.ts';
import type { NodeInfo } from './node-info.ts';
import type { PodInfo } from './pod-info.ts';

/** What of a PodDisruptionBudget matters here. */
export interface Budget {
  namespace: string;
  matcher: LabelMatcher;
  allowed: number;
  disrupted: ReadonlySet<string>;
}

export interface Candidate {
  node: NodeInfo;
  /** Most important first. */
  victims: PodInfo[];
  violations: number;
}

const NO_VICTIMS: Refusal = {
  filter: 'NodeResourcesFit',
  reasons: ['No preemption victims found for incoming pod'],
  final: true,
};
const NOT_HELPFUL = 'Preemption is not helpful for scheduling';

export function budgetOf(budget: {
  metadata: { namespace?: string };
  spec?: { selector?: LabelSelector };
  status?: { disruptionsAllowed?: number; disruptedPods?: Record<string, unknown> };
}): Budget {
  return {
    namespace: budget.metadata.namespace!,
    matcher: labelSelectorMatcher(budget.spec?.selector),
    allowed: budget.status?.disruptionsAllowed ?? 0,
    disrupted: new Set(Object.keys(budget.status?.disruptedPods ?? {})),
  };
}

/** Text when the Pod may not push others away now. */
export function whyNotEligible(pod: PodInfo, nominated: NodeInfo | undefined, refused: Refusal | undefined): string | undefined {
  if (pod.pod.spec?.preemptionPolicy === 'Never') return 'not eligible due to preemptionPolicy=Never.';
  if (!nominated || refused?.final) return undefined;
  for (const other of nominated.pods.values()) {
    if (other.priority < pod.priority && isLeavingByPreemption(other)) {
      return 'not eligible due to a terminating pod on the nominated node.';
    }
  }
  return undefined;
}

function isLeavingByPreemption({ terminating, pod }: PodInfo): boolean {
  if (!terminating) return false;
  const target = pod.status?.conditions?.find(({ type }) => type === 'DisruptionTarget');
  return target?.status === 'True' && target.reason === 'PreemptionByScheduler';
}

/** Nodes where taking Pods away may help. */
export function preemptionNodes(cluster: Cluster, { refusals }: Diagnosis): NodeInfo[] {
  return cluster.nodes.filter(({ name }) => refusals.get(name)?.final === false);
}

/** The fewest, least important Pods that have to leave the node for this one; a refusal when that does not help. */
export function victimsOn(
  pod: PodInfo,
  original: NodeInfo,
  originalCycle: Cycle,
  cluster: Cluster,
  budgets: readonly Budget[],
): Candidate | Refusal {
  const possible = [...original.pods.values()].filter(({ priority }) => priority < pod.priority);
  if (possible.length === 0) return NO_VICTIMS;
  const node = original.copy();
  const cycle: Cycle = { ...originalCycle, spread: originalCycle.spread?.copy(), affinity: originalCycle.affinity?.copy() };
  const shift = (other: PodInfo, by: 1 | -1): void => {
    if (by === 1) node.add(other);
    else node.remove(other.key);
    cycle.spread?.shift(other, node, by);
    cycle.affinity?.shift(other, node, by);
  };
  for (const other of possible) shift(other, -1);
  const refused = checkWithNominated(pod, node, cycle, cluster);
  if (refused) return refused;

  const victims: PodInfo[] = [];
  const spare = (other: PodInfo): boolean => {
    shift(other, 1);
    if (checkWithNominated(pod, node, cycle, cluster) === undefined) return true;
    shift(other, -1);
    victims.push(other);
    return false;
  };
  const { violating, others } = byBudget(possible.sort(byImportance), budgets);
  const violations = violating.filter((other) => !spare(other)).length;
  for (const other of others) spare(other);
  return { node: original, victims: victims.sort(byImportance), violations };
}

/** Those whose budget does not allow that they go, and the rest. */
function byBudget(pods: PodInfo[], budgets: readonly Budget[]): { violating: PodInfo[]; others: PodInfo[] } {
  const left = budgets.map(({ allowed }) => allowed);
  const violating: PodInfo[] = [];
  const others: PodInfo[] = [];
  for (const pod of pods) {
    let violates = false;
    budgets.forEach(({ namespace, matcher, disrupted }, i) => {
      if (namespace !== pod.namespace || matcher.empty || !matcher.matches(pod.labels) || disrupted.has(pod.pod.metadata.name!)) return;
      if (--left[i] < 0) violates = true;
    });
    (violates ? violating : others).push(pod);
  }
  return { violating, others };
}

/** Higher priority first, then whoever started earlier. */
function byImportance(a: PodInfo, b: PodInfo): number {
  return b.priority - a.priority || startOf(a) - startOf(b);
}

function startOf({ pod }: PodInfo): number {
  return Date.parse(pod.status?.startTime ?? pod.metadata.creationTimestamp ?? '') || Infinity;
}

/** Every priority counts, even a negative one: fewer Pods are better. */
const PRIORITY_OFFSET = 2 ** 31;

/** What is better is less, most important first. */
const PREFERENCES: readonly ((candidate: Candidate) => number)[] = [
  ({ violations }) => violations,
  ({ victims }) => victims[0].priority,
  ({ victims }) => victims.reduce((sum, { priority }) => sum + priority + PRIORITY_OFFSET, 0),
  ({ victims }) => victims.length,
  // Among the most important victims, those that started last.
  ({ victims }) => -Math.min(...victims.filter(({ priority }) => priority === victims[0].priority).map(startOf)),
];

export function bestCandidate(candidates: readonly Candidate[]): Candidate | undefined {
  let rest = candidates;
  for (const preference of PREFERENCES) {
    if (rest.length <= 1) break;
    const values = rest.map(preference);
    const least = Math.min(...values);
    rest = rest.filter((_, i) => values[i] === least);
  }
  return rest[0];
}

/** What `preemption:` says when no node can be freed. */
export function notHelpfulText(refusals: Map<string, Refusal>, nodes: number): string {
  return fitErrorText({ refusals, nodes, absent: NOT_HELPFUL, filters: new Set() });
}

/** So many nodes are enough to choose victims from. */
export function enoughCandidates(nodes: number): number {
  return Math.min(nodes, Math.max(Math.trunc(nodes / 10), 100));
}
