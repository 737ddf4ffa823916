import type { GroupResource, KubeObject } from '../../../kube/object.ts';
import { isStatusError } from '../../../kube/status.ts';
import type { ObjectWriter } from '../registry/objects.ts';

export interface SystemObject {
  resource: GroupResource;
  object: KubeObject;
}

const CORE = (resource: string): GroupResource => ({ group: '', resource });

/** Namespaces that every cluster has. */
export const SYSTEM_NAMESPACES = ['default', 'kube-node-lease', 'kube-public', 'kube-system'];

export function systemNamespaces(): SystemObject[] {
  return SYSTEM_NAMESPACES.map((name) => ({
    resource: CORE('namespaces'),
    object: { apiVersion: 'v1', kind: 'Namespace', metadata: { name } },
  }));
}

export function systemPriorityClasses(): SystemObject[] {
  const make = (name: string, value: number, description: string): SystemObject => ({
    resource: { group: 'scheduling.k8s.io', resource: 'priorityclasses' },
    object: { apiVersion: 'scheduling.k8s.io/v1', kind: 'PriorityClass', metadata: { name }, value, description },
  });
  return [
    make(
      'system-cluster-critical',
      2_000_000_000,
      'Used for system critical pods that must run in the cluster, but can be moved to another node if necessary.',
    ),
    make('system-node-critical', 2_000_001_000, 'Used for system critical pods that must not be moved from their current node.'),
  ];
}

/** The `kubernetes` Service and where it leads: this server. */
export function kubernetesService(clusterIP: string, address: string, port: number): SystemObject[] {
  const metadata = { name: 'kubernetes', namespace: 'default' };
  const labels = { component: 'apiserver', provider: 'kubernetes' };
  return [
    {
      resource: CORE('services'),
      object: {
        apiVersion: 'v1',
        kind: 'Service',
        metadata: { ...metadata, labels },
        spec: {
          clusterIP,
          clusterIPs: [clusterIP],
          ipFamilies: ['IPv4'],
          ipFamilyPolicy: 'SingleStack',
          ports: [{ name: 'https', port: 443, protocol: 'TCP', targetPort: port }],
          sessionAffinity: 'None',
          type: 'ClusterIP',
        },
      },
    },
    {
      resource: { group: 'discovery.k8s.io', resource: 'endpointslices' },
      object: {
        apiVersion: 'discovery.k8s.io/v1',
        kind: 'EndpointSlice',
        metadata: { ...metadata, labels: { 'kubernetes.io/service-name': 'kubernetes' } },
        addressType: 'IPv4',
        endpoints: [{ addresses: [address], conditions: { ready: true } }],
        ports: [{ name: 'https', port, protocol: 'TCP' }],
      },
    },
  ];
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
