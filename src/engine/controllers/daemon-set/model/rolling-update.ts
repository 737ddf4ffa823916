import type { KubeObject } from '../../../../kube/object.ts';
import { isAvailable } from '../../workload/model/pod-state.ts';
import { isUpdated } from './daemon-pod.ts';
import { eligibility } from './eligibility.ts';
import { surgeCount, unavailableCount, type DaemonState } from './plan.ts';

export interface UpdateStep {
  create: string[];
  delete: KubeObject[];
}

/** The next outdated Pods to replace. */
export function rollingUpdateStep(state: DaemonState): UpdateStep {
  const shouldRun = new Set(state.nodes.filter((node) => eligibility(state.set, node).shouldRun).map(({ metadata }) => metadata.name!));
  const surge = surgeCount(state.set, shouldRun.size);
  const names = new Set([...state.podsByNode.keys(), ...shouldRun]);
  if (surge > 0) return surgeStep(state, names, shouldRun, surge);
  const unavailable = unavailableCount(state.set, shouldRun.size);
  // Neither surge nor unavailability would mean that nothing may ever be replaced.
  return replaceStep(state, names, shouldRun.size > 0 && unavailable === 0 ? 1 : unavailable);
}

/** Deletes old Pods, and lets the next pass put new ones in their place. */
function replaceStep(state: DaemonState, nodes: Iterable<string>, maxUnavailable: number): UpdateStep {
  const useless: KubeObject[] = [];
  const candidates: KubeObject[] = [];
  let unavailable = 0;
  for (const node of nodes) {
    const found = oldAndNew(state, node);
    if (!found || Boolean(found.old) === Boolean(found.new)) unavailable++;
    else if (found.new) unavailable += available(state, found.new) ? 0 : 1;
    else if (available(state, found.old!)) candidates.push(found.old!);
    else {
      useless.push(found.old!);
      unavailable++;
    }
  }
  return { create: [], delete: [...useless, ...candidates.slice(0, Math.max(0, maxUnavailable - unavailable))] };
}

/** Starts new Pods beside old ones, and deletes the old ones when the new are available. */
function surgeStep(state: DaemonState, nodes: Iterable<string>, shouldRun: ReadonlySet<string>, maxSurge: number): UpdateStep {
  const step: UpdateStep = { create: [], delete: [] };
  const candidates: string[] = [];
  const misplaced: KubeObject[] = [];
  let [surging, availableCount] = [0, 0];
  for (const node of nodes) {
    const found = oldAndNew(state, node);
    if (!found) {
      surging++;
      continue;
    }
    const first = found.old ?? found.new;
    if (first && available(state, first)) availableCount++;
    if (!found.old) continue;
    if (found.new) {
      if (available(state, found.new)) step.delete.push(found.old);
      else surging++;
    } else if (!shouldRun.has(node)) (available(state, found.old) ? misplaced : step.delete).push(found.old);
    else if (available(state, found.old)) candidates.push(node);
    else step.create.push(node);
  }
  step.delete.push(...misplaced.slice(0, Math.max(0, availableCount - shouldRun.size)));
  step.create.push(...candidates.slice(0, Math.max(0, maxSurge - surging)));
  return step;
}

/** Undefined when there are several of a sort: the plan has to sort that out first. */
function oldAndNew({ set, podsByNode, hash }: DaemonState, node: string): { old?: KubeObject; new?: KubeObject } | undefined {
  const found: { old?: KubeObject; new?: KubeObject } = {};
  for (const pod of podsByNode.get(node) ?? []) {
    if (pod.metadata.deletionTimestamp !== undefined) continue;
    const side = isUpdated(set, pod, hash) ? 'new' : 'old';
    if (found[side]) return undefined;
    found[side] = pod;
  }
  return found;
}

function available({ set, now }: DaemonState, pod: KubeObject): boolean {
  return isAvailable(pod, set.spec.minReadySeconds ?? 0, now);
}
