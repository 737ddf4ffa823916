import type { KubeObject, ObjectMeta } from '../../../kube/object.ts';
import { badRequestError } from '../../../kube/status.ts';
import type { Resource } from '../registry/resource.ts';

/** What a client may say about a new object's metadata ends here: the server owns these. */
export function wipeSystemFields(meta: ObjectMeta): void {
  delete meta.uid;
  delete meta.creationTimestamp;
  delete meta.deletionTimestamp;
  delete meta.deletionGracePeriodSeconds;
  delete meta.selfLink;
}

export function fitNamespace(resource: Resource, object: KubeObject, namespace: string): void {
  const { metadata } = object;
  if (!resource.namespaced) {
    if (metadata.namespace) throw badRequestError('the namespace of the provided object does not match the namespace sent on the request');
    return;
  }
  if (!metadata.namespace) metadata.namespace = namespace;
  else if (metadata.namespace !== namespace) {
    throw badRequestError('the namespace of the provided object does not match the namespace sent on the request');
  }
}

/** Metadata in the order people know from kubectl. */
const META_ORDER: (keyof ObjectMeta)[] = [
  'name',
  'generateName',
  'namespace',
  'uid',
  'resourceVersion',
  'generation',
  'creationTimestamp',
  'deletionTimestamp',
  'deletionGracePeriodSeconds',
  'labels',
  'annotations',
  'ownerReferences',
  'finalizers',
  'managedFields',
];

/** The form that is stored: apiVersion first (readers look for it there), metadata in order, the rest as it is. */
export function canonical(object: KubeObject): KubeObject {
  const { apiVersion, kind, metadata, ...rest } = object;
  const ordered: Record<string, unknown> = {};
  for (const field of META_ORDER) {
    const value = metadata[field];
    // The place of resourceVersion is kept for the revision that the store will give.
    if (field === 'resourceVersion') ordered.resourceVersion = value ?? '';
    else if (value !== undefined) ordered[field] = value;
  }
  return { apiVersion, kind, metadata: ordered, ...rest };
}

/** An update cannot change what the server owns; what it leaves out is kept. */
export function keepSystemFields(next: ObjectMeta, old: ObjectMeta): void {
  if (!next.uid) next.uid = old.uid;
  if (old.creationTimestamp) next.creationTimestamp = old.creationTimestamp;
  if (old.deletionTimestamp) next.deletionTimestamp = old.deletionTimestamp;
  else delete next.deletionTimestamp;
  if (old.deletionGracePeriodSeconds !== undefined && next.deletionGracePeriodSeconds === undefined) {
    next.deletionGracePeriodSeconds = old.deletionGracePeriodSeconds;
  }
  delete next.selfLink;
}
