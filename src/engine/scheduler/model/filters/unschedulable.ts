import { isTolerated } from '../../../../kube/taints.ts';
import { refusal, type Filter } from '../filter.ts';

const REFUSED = refusal('NodeUnschedulable', 'node(s) were unschedulable', true);
const TAINT = { key: 'node.kubernetes.io/unschedulable', effect: 'NoSchedule' } as const;

/** Cordoned nodes, unless the Pod tolerates the taint that goes with it. */
export const unschedulable: Filter = {
  name: 'NodeUnschedulable',
  check: (pod, node) => (node.unschedulable && !isTolerated(pod.tolerations, TAINT) ? REFUSED : undefined),
};
