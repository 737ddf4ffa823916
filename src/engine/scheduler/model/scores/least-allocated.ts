import { MAX_SCORE, type Score } from '../score.ts';

/** The emptier the node will be, the better; cpu and memory count alike. */
export const leastAllocated: Score = {
  name: 'NodeResourcesFit',
  weight: 1,
  rate: (pod, nodes) =>
    nodes.map(({ allocatable, assumed }) => {
      let sum = 0;
      let parts = 0;
      for (const [used, there] of [
        [assumed.cpu + pod.assumed.cpu, allocatable.cpu],
        [assumed.memory + pod.assumed.memory, allocatable.memory],
      ]) {
        if (there === 0) continue;
        parts++;
        if (used <= there) sum += Math.floor(((there - used) * MAX_SCORE) / there);
      }
      return parts === 0 ? 0 : Math.floor(sum / parts);
    }),
};
