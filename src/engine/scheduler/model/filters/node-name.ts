import { refusal, type Filter } from '../filter.ts';

const REFUSED = refusal('NodeName', "node(s) didn't match the requested node name", true);

export const nodeName: Filter = {
  name: 'NodeName',
  check: ({ pod }, node) => (pod.spec?.nodeName && pod.spec.nodeName !== node.name ? REFUSED : undefined),
};
