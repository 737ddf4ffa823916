import type { CertificateSigningRequest, Node } from '../../../../client/kinds.ts';
import { findCondition } from '../../../../kube/conditions.ts';
import type { ObjectMeta } from '../../../../kube/object.ts';
import type { InformerSelection } from '../../../../runtime/informer/shared-informers.ts';

export type NodeObject = NonNullable<(typeof Node)['objectType']>;
export type RequestObject = NonNullable<(typeof CertificateSigningRequest)['objectType']>;

/** The label of Nodes that no load balancer is to use. */
export const EXCLUDED = 'node.kubernetes.io/exclude-from-external-load-balancers';

export const MOST_NODES = 5000;
/** Of each of the two signers. */
export const MOST_REQUESTS = 500;
/** A request of a node has less than a tenth of it. */
const REQUEST_MAX = 8192;
/** As long as a name may be. */
const TEXT_MAX = 253;

/** What anybody may write at any length. In place of a part of it, which would hold all of it. */
export function bounded(text: string): string;
export function bounded(text: string | undefined): string | undefined;
export function bounded(text: string | undefined): string | undefined {
  // An API server keeps a null where a text may be absent.
  return typeof text !== 'string' || text.length <= TEXT_MAX ? (text ?? undefined) : 'too long';
}

/** Of the metadata of what a tenant wrote: whose it is, and which edition. */
export function keptMetadata({ name, namespace, uid, resourceVersion, creationTimestamp, deletionTimestamp }: ObjectMeta): ObjectMeta {
  return {
    name,
    uid,
    resourceVersion,
    creationTimestamp,
    ...(namespace === undefined ? {} : { namespace }),
    ...(deletionTimestamp === undefined ? {} : { deletionTimestamp }),
  };
}

export function keptNode({ apiVersion, kind, metadata, spec, status }: NodeObject): NodeObject {
  const ready = findCondition(status?.conditions, 'Ready');
  const heard = bounded(ready?.lastHeartbeatTime);
  const bootID = bounded(status?.nodeInfo?.bootID);
  return {
    apiVersion,
    kind,
    metadata: { ...keptMetadata(metadata), ...(metadata.labels?.[EXCLUDED] === undefined ? {} : { labels: { [EXCLUDED]: '' } }) },
    ...(spec?.unschedulable === true ? { spec: { unschedulable: true } } : {}),
    status: {
      ...(ready && { conditions: [{ type: 'Ready', status: ready.status === 'True' ? 'True' : 'False', lastHeartbeatTime: heard }] }),
      ...(bootID && { nodeInfo: { bootID } as NonNullable<NodeObject['status']>['nodeInfo'] }),
    },
  };
}

/** Requests that nobody has answered, as far as judging them needs. */
export function keptRequest({ apiVersion, kind, metadata, spec, status }: RequestObject): RequestObject | undefined {
  const { request, signerName, username = '', groups = [], usages = [] } = spec;
  const length = [request, username, ...groups, ...usages].reduce((sum, text) => sum + text.length + 1, 0);
  if (isAnswered({ status }) || length > REQUEST_MAX) return undefined;
  return { apiVersion, kind, metadata: keptMetadata(metadata), spec: { request, signerName, username, groups, usages } };
}

export function isAnswered({ status }: Pick<RequestObject, 'status'>): boolean {
  return (status?.conditions ?? []).length > 0 || Boolean(status?.certificate);
}

/** The Nodes of a tenant's cluster: all who ask for them have to ask in the same way. */
export function nodeSelection(wake: () => void): InformerSelection<NodeObject> {
  return { transform: keptNode, ceiling: { weight: MOST_NODES, onChange: wake } };
}

/** The requests for certificates of one signer. */
export function requestSelection(signer: string, wake: () => void): InformerSelection<RequestObject> {
  return {
    fieldSelector: `spec.signerName=${signer}`,
    transform: keptRequest,
    ceiling: { weight: MOST_REQUESTS, onChange: wake },
  };
}
