import { quote } from '../../../../kube/go-text.ts';
import type { Json, KubeObject } from '../../../../kube/object.ts';
import { notFoundError } from '../../../../kube/status.ts';
import type { ObjectReader } from '../../registry/objects.ts';

const MIRROR = 'kubernetes.io/config.mirror';
const NODES = { group: '', resource: 'nodes' };

/** Nodes make no Pods but copies of those that they run by themselves. @throws StatusError NotFound without the node */
export function mirrorPodObjection(pod: KubeObject, node: string, reader: ObjectReader): string | undefined {
  const nodeText = quote(node);
  if (pod.metadata.annotations?.[MIRROR] === undefined) {
    return `pod does not have ${quote(MIRROR)} annotation, node ${nodeText} can only create mirror pods`;
  }
  if (pod.spec?.nodeName !== node) return `node ${nodeText} can only create pods with spec.nodeName set to itself`;
  const owners = pod.metadata.ownerReferences ?? [];
  if (owners.length > 1) return `node ${nodeText} can only create pods with a single owner reference set to itself`;
  const [owner] = owners;
  if (owner === undefined || owner.apiVersion !== 'v1' || owner.kind !== 'Node' || owner.name !== node) {
    return `node ${nodeText} can only create pods with an owner reference set to itself`;
  }
  if (owner.controller !== true) return `node ${nodeText} can only create pods with a controller owner reference set to itself`;
  if (owner.blockOwnerDeletion === true) return `node ${nodeText} must not set blockOwnerDeletion on an owner reference`;
  const object = reader.get(NODES, '', node);
  if (object === undefined) throw notFoundError(NODES, node);
  if (owner.uid !== object.metadata.uid) return `node ${node} UID mismatch: expected ${owner.uid} got ${object.metadata.uid}`;
  const referenced = referencedResource(pod);
  return referenced === undefined ? undefined : `node ${nodeText} can not create pods that reference ${referenced}`;
}

/** The first kind of object of the API that a Pod names. */
function referencedResource({ spec }: KubeObject): string | undefined {
  if (spec?.serviceAccountName) return 'serviceaccounts';
  const containers: Json[] = [...(spec?.containers ?? []), ...(spec?.initContainers ?? []), ...(spec?.ephemeralContainers ?? [])];
  const volumes: Json[] = spec?.volumes ?? [];
  const from = containers.flatMap(({ env = [], envFrom = [] }) => [...env.map((variable: Json) => variable.valueFrom ?? {}), ...envFrom]);
  if ((spec?.imagePullSecrets ?? []).length > 0 || from.some((source) => source.secretKeyRef || source.secretRef)) return 'secrets';
  if (volumes.some((volume) => volume.secret || volume.projected?.sources?.some((source: Json) => source.secret))) return 'secrets';
  if (from.some((source) => source.configMapKeyRef || source.configMapRef)) return 'configmaps';
  if (volumes.some((volume) => volume.configMap || volume.projected?.sources?.some((source: Json) => source.configMap)))
    return 'configmaps';
  if (volumes.some((volume) => volume.persistentVolumeClaim || volume.ephemeral)) return 'persistentvolumeclaims';
  if (volumes.some((volume) => volume.projected?.sources?.some((source: Json) => source.serviceAccountToken))) return 'serviceaccounts';
  return (spec?.resourceClaims ?? []).length > 0 ? 'resourceclaims' : undefined;
}
