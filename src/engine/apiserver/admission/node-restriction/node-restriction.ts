import { quote } from '../../../../kube/go-text.ts';
import { deepEqual } from '../../../../kube/json-value.ts';
import type { Json, KubeObject } from '../../../../kube/object.ts';
import { notFoundError } from '../../../../kube/status.ts';
import { nodeOfUser } from '../../auth/node/node-user.ts';
import type { Authorizer } from '../../auth/user.ts';
import type { ObjectReader } from '../../registry/objects.ts';
import type { AdmissionPlugin, AdmissionRequest } from '../admission.ts';
import { refusal } from '../refusal.ts';
import { mirrorPodObjection } from './mirror-pod.ts';
import { forbiddenLabels } from './node-labels.ts';

const PODS = { group: '', resource: 'pods' };
const LEASES_NAMESPACE = 'kube-node-lease';
const KUBELET_SIGNERS = ['kubernetes.io/kubelet-serving', 'kubernetes.io/kube-apiserver-client-kubelet'];

export interface NodeRestrictionOptions {
  reader: ObjectReader;
  authorizer: Authorizer;
  /** Of a PEM certificate request. @throws when it is not one */
  commonNameOf(requestPem: string): string;
}

/** What nodes write is about themselves and their own Pods, in kube-apiserver's words. */
export function nodeRestriction(options: NodeRestrictionOptions): AdmissionPlugin {
  return {
    name: 'NodeRestriction',
    handles: ({ user }) => nodeOfUser(user) !== undefined,
    validate(request) {
      const objection = objectionTo(request, nodeOfUser(request.user)!, options);
      if (objection !== undefined) throw refusal(request, objection);
    },
  };
}

function objectionTo(request: AdmissionRequest, node: string, options: NodeRestrictionOptions): string | undefined {
  if (node === '') return `could not determine node from user ${quote(request.user.name)}`;
  const { resource, subresource, operation } = request;
  switch (`${resource.group}/${resource.resource}`) {
    case '/pods':
      return podObjection(request, node, options.reader);
    case '/nodes':
      return nodeObjection(request, node);
    case '/persistentvolumeclaims':
      return subresource === 'status' ? claimObjection(request, node) : 'may only update PVC status';
    case '/serviceaccounts':
      return operation === 'CREATE' && subresource === 'token' ? tokenObjection(request, node, options) : undefined;
    case 'coordination.k8s.io/leases':
      if (request.namespace !== LEASES_NAMESPACE) return `can only access leases in the "${LEASES_NAMESPACE}" system namespace`;
      return nameOf(request) === node ? undefined : 'can only access node lease with the same name as the requesting node';
    case 'storage.k8s.io/csinodes':
      return nameOf(request) === node ? undefined : 'can only access CSINode with the same name as the requesting node';
    case 'resource.k8s.io/resourceslices':
      return sliceObjection(request, node);
    case 'certificates.k8s.io/certificatesigningrequests':
      return operation === 'CREATE' ? requestObjection(request, node, options) : undefined;
    default:
      return undefined;
  }
}

function nameOf({ operation, object, name }: AdmissionRequest): string | undefined {
  return operation === 'CREATE' ? object?.metadata.name : name;
}

function podObjection(request: AdmissionRequest, node: string, reader: ObjectReader): string | undefined {
  const { operation, subresource, object, oldObject } = request;
  const nodeText = quote(node);
  if (subresource === 'status') {
    if (operation !== 'UPDATE') return `unexpected operation ${quote(operation)}`;
    if (oldObject?.spec?.nodeName !== node) return `node ${nodeText} can only update pod status for pods with spec.nodeName set to itself`;
    if (!deepEqual(oldObject?.metadata.labels ?? {}, object?.metadata.labels ?? {})) {
      return `node ${nodeText} cannot update labels through pod status`;
    }
    if (!deepEqual(oldObject?.status?.resourceClaimStatuses ?? [], object?.status?.resourceClaimStatuses ?? [])) {
      return `node ${nodeText} cannot update resource claim statues`;
    }
    return undefined;
  }
  if (subresource === 'eviction') {
    if (operation !== 'CREATE') return `unexpected operation ${operation}`;
    const pod = podNamed(reader, request.namespace, request.name || (object?.metadata.name ?? ''));
    return pod.spec?.nodeName === node ? undefined : `node ${node} can only evict pods with spec.nodeName set to itself`;
  }
  if (subresource !== '') return `unexpected pod subresource ${quote(subresource)}, only 'status' and 'eviction' are allowed`;
  if (operation === 'CREATE') return mirrorPodObjection(object!, node, reader);
  if (operation !== 'DELETE') return `unexpected operation ${quote(operation)}, node ${nodeText} can only create and delete mirror pods`;
  const pod = podNamed(reader, request.namespace, request.name);
  return pod.spec?.nodeName === node ? undefined : `node ${nodeText} can only delete pods with spec.nodeName set to itself`;
}

function podNamed(reader: ObjectReader, namespace: string, name: string): KubeObject {
  const pod = reader.get(PODS, namespace, name);
  if (pod === undefined) throw notFoundError(PODS, name);
  return pod;
}

function nodeObjection(request: AdmissionRequest, node: string): string | undefined {
  const { operation, object, oldObject } = request;
  const name = nameOf(request) ?? '';
  const nodeText = quote(node);
  if (name !== node) return `node ${nodeText} is not allowed to modify node ${quote(name)}`;
  if (operation === 'CREATE') {
    if (object?.spec?.configSource != null) return `node ${nodeText} is not allowed to create pods with a non-nil configSource`;
    const labels = forbiddenLabels(object?.metadata.labels);
    return labels.length === 0 ? undefined : `node ${nodeText} is not allowed to set the following labels: ${labels.join(', ')}`;
  }
  if (operation !== 'UPDATE') return undefined;
  const [after, before]: [Json, Json] = [object?.spec ?? {}, oldObject?.spec ?? {}];
  if (after.configSource != null && !deepEqual(after.configSource, before.configSource)) {
    return `node ${nodeText} is not allowed to update configSource to a new non-nil configSource`;
  }
  if (!deepEqual(after.taints ?? [], before.taints ?? [])) return `node ${nodeText} is not allowed to modify taints`;
  if (!deepEqual(object?.metadata.ownerReferences ?? [], oldObject?.metadata.ownerReferences ?? [])) {
    return `node ${nodeText} is not allowed to modify ownerReferences`;
  }
  const labels = forbiddenLabels(object?.metadata.labels, oldObject?.metadata.labels);
  return labels.length === 0 ? undefined : `is not allowed to modify labels: ${labels.join(', ')}`;
}

const CLAIM_STATUS = ['capacity', 'conditions', 'allocatedResourceStatuses', 'allocatedResources'];

function claimObjection({ operation, object, oldObject }: AdmissionRequest, node: string): string | undefined {
  if (operation !== 'UPDATE') return `unexpected operation ${quote(operation)}`;
  const rest = ({ metadata, status, ...others }: KubeObject): Json => {
    const { resourceVersion: _, managedFields: __, ...kept } = metadata;
    const left = Object.fromEntries(Object.entries(status ?? {}).filter(([field]) => !CLAIM_STATUS.includes(field)));
    return { ...others, metadata: kept, status: left };
  };
  if (deepEqual(rest(object!), rest(oldObject!))) return undefined;
  return `node ${quote(node)} is not allowed to update fields other than status.quantity and status.conditions`;
}

function tokenObjection(request: AdmissionRequest, node: string, { reader, authorizer }: NodeRestrictionOptions): string | undefined {
  const { boundObjectRef: bound, audiences }: Json = request.object?.spec ?? {};
  if (!bound || bound.apiVersion !== 'v1' || bound.kind !== 'Pod' || !bound.name) return 'node requested token not bound to a pod';
  if (!bound.uid) return 'node requested token with a pod binding without a uid';
  const pod = podNamed(reader, request.namespace, bound.name);
  if (bound.uid !== pod.metadata.uid) {
    return `the UID in the bound object reference (${bound.uid}) does not match the UID in record. The object might have been deleted and then recreated`;
  }
  if (pod.spec?.nodeName !== node) return 'node requested token bound to a pod scheduled on a different node';
  if (audiences?.length > 1) return 'node may only request 0 or 1 audiences';
  const audience: string = audiences?.[0] ?? '';
  const sources: Json[] = ((pod.spec?.volumes ?? []) as Json[]).flatMap((volume) => volume.projected?.sources ?? []);
  if (sources.some(({ serviceAccountToken }) => serviceAccountToken && (serviceAccountToken.audience ?? '') === audience)) return undefined;
  const verb = 'request-serviceaccounts-token-audience';
  const { user, namespace, name } = request;
  if (authorizer.authorize({ user, verb, namespace, group: '', version: 'v1', resource: audience, name }).allowed) return undefined;
  return `audience ${quote(audience)} not found in pod spec volume, ${user.name} is not authorized to request tokens for this audience`;
}

function sliceObjection({ operation, object, oldObject }: AdmissionRequest, node: string): string | undefined {
  if (operation === 'CREATE' && object?.spec?.nodeName !== node) {
    return 'can only create ResourceSlice with the same NodeName as the requesting node';
  }
  if (operation === 'DELETE' && oldObject?.spec?.nodeName !== node) {
    return 'can only delete ResourceSlice with the same NodeName as the requesting node';
  }
  return undefined;
}

function requestObjection({ object }: AdmissionRequest, node: string, { commonNameOf }: NodeRestrictionOptions): string | undefined {
  const { signerName, request }: Json = object?.spec ?? {};
  if (!KUBELET_SIGNERS.includes(signerName)) return undefined;
  let commonName: string;
  try {
    commonName = commonNameOf(Buffer.from(request ?? '', 'base64').toString('utf8'));
  } catch (error) {
    return `unable to parse csr: ${(error as Error).message}`;
  }
  return commonName === `system:node:${node}` ? undefined : `can only create a node CSR with CN=system:node:${node}`;
}
