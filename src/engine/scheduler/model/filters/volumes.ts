import type { Filter } from '../filter.ts';

/** The node must reach the Pod's volumes, and those not made yet must be possible there. */
export const volumes: Filter = {
  name: 'VolumeBinding',
  check: (_pod, node, cycle) => cycle.volumes?.check(node),
};
