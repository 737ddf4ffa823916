import { MAX_SCORE, type Score } from '../score.ts';

/** Nodes whose cpu and memory fill up evenly, so that neither is left over. Pods that request nothing do not change that. */
export const balancedAllocation: Score = {
  name: 'NodeResourcesBalancedAllocation',
  weight: 1,
  rate({ requests }, nodes) {
    if (requests.cpu === 0 && requests.memory === 0) return undefined;
    return nodes.map(({ allocatable, requested }) => {
      if (allocatable.cpu === 0 || allocatable.memory === 0) return MAX_SCORE;
      const cpu = Math.min(1, (requested.cpu + requests.cpu) / allocatable.cpu);
      const memory = Math.min(1, (requested.memory + requests.memory) / allocatable.memory);
      return Math.floor((1 - Math.abs(cpu - memory) / 2) * MAX_SCORE);
    });
  },
};
