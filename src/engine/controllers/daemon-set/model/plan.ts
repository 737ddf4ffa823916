import { scaledValue } from '../../../../kube/int-or-string.ts';
import type { KubeObject } from '../../../../kube/object.ts';
import { isAvailable, isReady } from '../../workload/model/pod-state.ts';
import { byPlacementAndAge, HASH_LABEL, isUpdated } from './daemon-pod.ts';
import { eligibility } from './eligibility.ts';

export interface DaemonState {
  set: KubeObject;
  nodes: readonly KubeObject[];
  /** By the node they are on or meant for. */
  podsByNode: ReadonlyMap<string, readonly KubeObject[]>;
  /** Of the newest revision. */
  hash: string;
  now: number;
}

export interface DaemonPlan {
  /** Names of nodes. */
  create: string[];
  delete: KubeObject[];
  /** Finished Pods that are deleted to be replaced, for events. */
  finished: { pod: KubeObject; node: string }[];
}

/** Every eligible node gets a Pod, others lose theirs. `mayReplace` says whether a failed Pod has waited long enough. */
export function planDaemons(state: DaemonState, mayReplace: (node: string) => boolean): DaemonPlan {
  const plan: DaemonPlan = { create: [], delete: [], finished: [] };
  const known = new Set<string>();
  for (const node of state.nodes) {
    known.add(node.metadata.name!);
    planNode(state, node, plan, mayReplace);
  }
  // Nothing will ever place a Pod that is meant for a node that is gone.
  for (const [node, pods] of state.podsByNode) if (!known.has(node)) plan.delete.push(...pods.filter(({ spec }) => !spec?.nodeName));
  return plan;
}

function planNode(state: DaemonState, node: KubeObject, plan: DaemonPlan, mayReplace: (node: string) => boolean): void {
  const name = node.metadata.name!;
  const { shouldRun, mayStay } = eligibility(state.set, node);
  const pods = state.podsByNode.get(name) ?? [];
  if (pods.length === 0) {
    if (shouldRun) plan.create.push(name);
    return;
  }
  const present = pods.filter(({ metadata }) => metadata.deletionTimestamp === undefined);
  if (!mayStay) {
    plan.delete.push(...present);
    return;
  }
  const running: KubeObject[] = [];
  for (const pod of present) {
    const phase = pod.status?.phase;
    if (phase !== 'Failed' && phase !== 'Succeeded') running.push(pod);
    else if (phase === 'Succeeded' || mayReplace(name)) {
      plan.delete.push(pod);
      plan.finished.push({ pod, node: name });
    }
  }
  running.sort(byPlacementAndAge);
  if (!allowsSurge(state.set)) plan.delete.push(...running.slice(1));
  else if (running.length === 0 && shouldRun) plan.create.push(name);
  else plan.delete.push(...surplusDuringSurge(state, running));
}

/** One old and one new Pod may run side by side, until the new one is available or the old one is of no use any more. */
function surplusDuringSurge({ set, hash, now }: DaemonState, running: readonly KubeObject[]): KubeObject[] {
  const isNew = (pod: KubeObject): boolean => pod.metadata.labels?.[HASH_LABEL] === hash;
  const newest = running.find(isNew);
  const oldest = running.find((pod) => !isNew(pod));
  const surplus = running.filter((pod) => pod !== newest && pod !== oldest);
  if (newest && oldest && (!isReady(oldest) || isAvailable(newest, set.spec.minReadySeconds ?? 0, now))) surplus.push(oldest);
  return surplus;
}

export function allowsSurge(set: KubeObject): boolean {
  return surgeCount(set, 1) > 0;
}

export function surgeCount(set: KubeObject, nodes: number): number {
  const { type, rollingUpdate } = set.spec.updateStrategy ?? {};
  return type === 'RollingUpdate' ? scaledValue(rollingUpdate?.maxSurge ?? 0, nodes, 'up') : 0;
}

export function unavailableCount(set: KubeObject, nodes: number): number {
  const { type, rollingUpdate } = set.spec.updateStrategy ?? {};
  return type === 'RollingUpdate' && rollingUpdate ? scaledValue(rollingUpdate.maxUnavailable ?? 1, nodes, 'up') : 0;
}

/** The counts of the status. */
export function daemonCounts({ set, nodes, podsByNode, hash, now }: DaemonState) {
  const counts = { desired: 0, current: 0, misscheduled: 0, ready: 0, updated: 0, available: 0 };
  for (const node of nodes) {
    const [pod] = [...(podsByNode.get(node.metadata.name!) ?? [])].sort(byPlacementAndAge);
    if (!eligibility(set, node).shouldRun) {
      if (pod) counts.misscheduled++;
      continue;
    }
    counts.desired++;
    if (!pod) continue;
    counts.current++;
    if (isReady(pod)) counts.ready++;
    if (isAvailable(pod, set.spec.minReadySeconds ?? 0, now)) counts.available++;
    if (isUpdated(set, pod, hash)) counts.updated++;
  }
  return counts;
}
