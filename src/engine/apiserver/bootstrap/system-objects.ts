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

/** Creates what is missing, all in one commit. What is there stays as it is. */
export async function ensureObjects(objects: ObjectWriter, wanted: readonly SystemObject[]): Promise<void> {
  const missing = wanted.filter(
    ({ resource, object }) => objects.get(resource, object.metadata.namespace ?? '', object.metadata.name ?? '') === undefined,
  );
  await Promise.all(
    missing.map(({ resource, object }) =>
      objects.create(resource, object).catch((error: unknown) => {
        if (!isStatusError(error, 'AlreadyExists')) throw error;
      }),
    ),
  );
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
