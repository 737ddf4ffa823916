import type { Json, KubeObject } from '../../../kube/object.ts';
import { failure } from '../../../kube/status.ts';

export interface NodeEndpoint {
  node: string;
  host: string;
  port: number;
}

const DEFAULT_PORT = 10250;
const PREFERRED = ['InternalIP', 'ExternalIP', 'InternalDNS', 'ExternalDNS', 'Hostname'];

/** Where a node's kubelet is reached, as its status says. @throws StatusError */
export function nodeEndpoint(node: KubeObject): NodeEndpoint {
  const addresses: Json[] = node.status?.addresses ?? [];
  const type = PREFERRED.find((candidate) => addresses.some((address) => address.type === candidate));
  if (type === undefined) {
    const known = addresses.map((address) => address.type).join(' ');
    throw failure('', `no preferred addresses found; known addresses: [${known}]`);
  }
  const { address } = addresses.find((candidate) => candidate.type === type);
  const port: number = node.status?.daemonEndpoints?.kubeletEndpoint?.Port ?? 0;
  return { node: node.metadata.name!, host: address, port: port > 0 ? port : DEFAULT_PORT };
}
