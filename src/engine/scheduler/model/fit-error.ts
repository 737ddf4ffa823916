import type { FilterName, Refusal } from './filter.ts';

/** Why a Pod found no node. */
export interface Diagnosis {
  /** Nodes that were looked at, with what refused them. */
  refusals: Map<string, Refusal>;
  /** Nodes there are. */
  nodes: number;
  /** Said once for all nodes, where none had to be looked at. */
  forAll?: string;
  /** Said of each node that was not looked at. */
  absent?: string;
  /** What refused the Pod, for those who may wake it. */
  filters: Set<FilterName>;
  /** What came of making room. */
  preemption?: string;
}

/** The message of FailedScheduling, as kube-scheduler prints it. */
export function fitErrorText(diagnosis: Diagnosis): string {
  const { refusals, nodes, forAll, absent, preemption } = diagnosis;
  let text = `0/${nodes} nodes are available:`;
  if (forAll !== undefined) text += ` ${forAll}.`;
  else {
    const counts = new Map<string, number>();
    for (const { reasons } of refusals.values()) for (const reason of reasons) counts.set(reason, (counts.get(reason) ?? 0) + 1);
    if (absent !== undefined && refusals.size < nodes) counts.set(absent, (counts.get(absent) ?? 0) + nodes - refusals.size);
    const parts = [...counts].map(([reason, count]) => `${count} ${reason}`).sort(byText);
    if (parts.length > 0) text += ` ${parts.join(', ')}.`;
  }
  return preemption === undefined ? text : `${text} ${preemption}`;
}

function byText(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
