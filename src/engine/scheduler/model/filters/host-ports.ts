import { refusal, type Filter } from '../filter.ts';

const REFUSED = refusal('NodePorts', "node(s) didn't have free ports for the requested pod ports", false);

export const hostPorts: Filter = {
  name: 'NodePorts',
  check: (pod, node) => (pod.hostPorts.some((port) => node.usesPort(port)) ? REFUSED : undefined),
};
