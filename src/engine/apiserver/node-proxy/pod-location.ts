import type { KubeObject } from '../../../kube/object.ts';
import { badRequestError, notFoundError } from '../../../kube/status.ts';
import type { ObjectReader } from '../registry/objects.ts';
import { nodeEndpoint, type NodeEndpoint } from './node-endpoint.ts';

const PODS = { group: '', resource: 'pods' };
const NODES = { group: '', resource: 'nodes' };

/** @throws StatusError NotFound */
export function findPod(reader: ObjectReader, namespace: string, name: string): KubeObject {
  const pod = reader.get(PODS, namespace, name);
  if (pod === undefined) throw notFoundError(PODS, name);
  return pod;
}

/** @throws StatusError NotFound, or when the node does not say where it is. */
export function findNode(reader: ObjectReader, name: string): NodeEndpoint {
  const node = reader.get(NODES, '', name);
  if (node === undefined) throw notFoundError(NODES, name);
  return nodeEndpoint(node);
}

/** The node that a Pod runs on. @throws StatusError when there is none yet. */
export function nodeOf(reader: ObjectReader, pod: KubeObject): NodeEndpoint {
  const node: string = pod.spec?.nodeName ?? '';
  if (node === '') throw badRequestError(`pod ${pod.metadata.name} does not have a host assigned`);
  return findNode(reader, node);
}

export function podPath(root: string, pod: KubeObject, ...rest: string[]): string {
  return ['', root, pod.metadata.namespace!, pod.metadata.name!, ...rest].map(encodeURIComponent).join('/');
}
