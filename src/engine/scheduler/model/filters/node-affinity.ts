import { refusal, type Filter } from '../filter.ts';

const REFUSED = refusal('NodeAffinity', "node(s) didn't match Pod's node affinity/selector", true);

export const nodeAffinity: Filter = {
  name: 'NodeAffinity',
  check: (pod, node) => (pod.requiredNode === undefined || pod.requiredNode(node) ? undefined : REFUSED),
};
