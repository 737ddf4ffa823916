import type { Cluster } from './cluster.ts';
import type { NodeInfo } from './node-info.ts';
import type { PodInfo } from './pod-info.ts';

export const MAX_SCORE = 100;

export interface Score {
  name: string;
  weight: number;
  /** 0 to 100 for each node, in their order; undefined when it makes no difference between them. */
  rate(pod: PodInfo, nodes: readonly NodeInfo[], cluster: Cluster): number[] | undefined;
}

/** The largest becomes 100, the others their part of it; reversed, 100 stands for none. */
export function proportional(counts: number[], reversed = false): number[] | undefined {
  const most = Math.max(...counts);
  if (most === 0) return undefined;
  return counts.map((count) => {
    const score = Math.floor((MAX_SCORE * count) / most);
    return reversed ? MAX_SCORE - score : score;
  });
}
