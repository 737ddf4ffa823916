import { isTolerated } from '../../../../kube/taints.ts';
import { proportional, type Score } from '../score.ts';

/** The fewer taints that would rather not have the Pod, the better. */
export const preferredTaints: Score = {
  name: 'TaintToleration',
  weight: 3,
  rate(pod, nodes) {
    const tolerations = pod.tolerations.filter(({ effect }) => !effect || effect === 'PreferNoSchedule');
    return proportional(
      nodes.map(({ taints }) => {
        let count = 0;
        for (const taint of taints) if (taint.effect === 'PreferNoSchedule' && !isTolerated(tolerations, taint)) count++;
        return count;
      }),
      true,
    );
  },
};
