import { SCHEDULING_EFFECTS, untoleratedTaint } from '../../../../kube/taints.ts';
import { refusal, type Filter } from '../filter.ts';

const REFUSED = refusal('TaintToleration', 'node(s) had untolerated taint(s)', true);

export const taints: Filter = {
  name: 'TaintToleration',
  check: (pod, node) =>
    node.taints.length > 0 && untoleratedTaint(node.taints, pod.tolerations, SCHEDULING_EFFECTS) ? REFUSED : undefined,
};
