import { parseApiVersion, type GroupResource, type KubeObject } from '../../../kube/object.ts';
import { isStatusError } from '../../../kube/status.ts';
import type { Catalog } from '../registry/catalog.ts';
import type { ObjectWriter } from '../registry/objects.ts';

export interface SystemObject {
  resource: GroupResource;
  object: KubeObject;
}

/** Where the `kubernetes` Service leads: this server. */
export function kubernetesEndpoints(address: string, port: number): SystemObject {
  return {
    resource: { group: 'discovery.k8s.io', resource: 'endpointslices' },
    object: {
      apiVersion: 'discovery.k8s.io/v1',
      kind: 'EndpointSlice',
      metadata: { name: 'kubernetes', namespace: 'default', labels: { 'kubernetes.io/service-name': 'kubernetes' } },
      addressType: address.includes(':') ? 'IPv6' : 'IPv4',
      endpoints: [{ addresses: [address], conditions: { ready: true } }],
      ports: [{ name: 'https', port, protocol: 'TCP' }],
    },
  };
}

/** The objects with the resources they belong to. */
export function withResources(catalog: Catalog, objects: readonly KubeObject[]): SystemObject[] {
  return objects.map((object) => {
    const { group, version } = parseApiVersion(object.apiVersion);
    const found = catalog.findKind(group, version, object.kind);
    if (found === undefined)
      throw new Error(`Cannot make the ${object.kind} "${object.metadata.name}": its kind is not served; build again`);
    return { resource: { group, resource: found.resource }, object };
  });
}

/** Creates what is missing of what came with this program, all in one commit. What is there stays as it is. */
export async function ensureObjects(objects: ObjectWriter, wanted: readonly SystemObject[]): Promise<void> {
  const missing = wanted.filter(({ resource, object }) => present(objects, resource, object) === undefined);
  await Promise.all(missing.map(({ resource, object }) => createUnlessThere(objects, resource, object)));
}

/**
 * Creates what is missing, and gives what another version of this program made all that this one says, all in one commit. Which version made
 * an object, `mark` says: an annotation of it.
 * @returns the names of those that were not there
 */
export async function ensureMarkedObjects(objects: ObjectWriter, wanted: readonly SystemObject[], mark: string): Promise<Set<string>> {
  const created = new Set<string>();
  const ensure = async ({ resource, object }: SystemObject): Promise<void> => {
    const existing = present(objects, resource, object);
    if (existing === undefined) {
      if (await createUnlessThere(objects, resource, object)) created.add(object.metadata.name!);
      return;
    }
    if (existing.metadata.annotations?.[mark] === object.metadata.annotations?.[mark]) return;
    const { namespace = '', name = '' } = object.metadata;
    await objects.update(resource, namespace, name, (draft) => takeOver(draft, structuredClone(object)));
  };
  await Promise.all(wanted.map(ensure));
  return created;
}

/** Labels and annotations of others stay, and so does what the server keeps in the status. */
function takeOver(draft: KubeObject, object: KubeObject): void {
  const { metadata } = object;
  Object.assign(draft, { ...object, metadata: draft.metadata, status: draft.status });
  if (metadata.labels) draft.metadata.labels = { ...draft.metadata.labels, ...metadata.labels };
  if (metadata.annotations) draft.metadata.annotations = { ...draft.metadata.annotations, ...metadata.annotations };
}

function present(objects: ObjectWriter, resource: GroupResource, { metadata }: KubeObject): KubeObject | undefined {
  return objects.get(resource, metadata.namespace ?? '', metadata.name ?? '');
}

/** Someone else may have made it in between; then it is there, which is all we want. */
export async function createUnlessThere(objects: ObjectWriter, resource: GroupResource, object: KubeObject): Promise<boolean> {
  try {
    await objects.create(resource, object, { ours: true });
    return true;
  } catch (error) {
    if (isStatusError(error, 'AlreadyExists')) return false;
    throw error;
  }
}

/** Creates the object, or makes the named fields of the one that is there equal to its own. */
export async function ensureFields(objects: ObjectWriter, { resource, object }: SystemObject, fields: string[]): Promise<void> {
  const { namespace = '', name = '' } = object.metadata;
  const present = objects.get(resource, namespace, name);
  if (present === undefined) return ensureObjects(objects, [{ resource, object }]);
  await objects.update(resource, namespace, name, (draft) => {
    for (const field of fields) draft[field] = object[field];
  });
}
