import { kubeconfigSecretOf } from '../../../../api/tenantry.dev/v1alpha1/cluster-names.ts';
import type { KubeObject } from '../../../../kube/object.ts';
import type { UnderClusterPlane } from './control-plane-objects.ts';
import { metadataOf, nameOf, type KeySecrets, type Part } from './plane-parts.ts';

const pair = (name: string): string[] => [`${name}.crt`, `${name}.key`];

/** Which files each part has: no more than it needs. Only the controllers sign certificates, and nobody else has that key. */
const FILES: Record<Part, readonly string[]> = {
  etcd: ['etcd-ca.crt', ...pair('etcd-server'), ...pair('etcd-peer'), ...pair('etcd-healthcheck-client')],
  apiserver: [
    'ca.crt',
    ...pair('apiserver'),
    ...pair('apiserver-kubelet-client'),
    'front-proxy-ca.crt',
    ...pair('front-proxy-client'),
    'etcd-ca.crt',
    ...pair('apiserver-etcd-client'),
    'sa.key',
    'sa.pub',
    'encryption.json',
    'egress.json',
    ...pair('konnectivity-server'),
  ],
  'controller-manager': ['ca.crt', 'ca-signing.crt', 'ca.key', 'sa.key', 'controller-manager.conf', ...pair('controller-manager')],
  scheduler: ['ca.crt', 'scheduler.conf', ...pair('scheduler')],
};

/** @throws Error when a file is missing */
export function keySecrets(plane: UnderClusterPlane): KeySecrets {
  const secretOf = (part: Part): KeySecrets[Part] => ({
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: metadataOf(plane, `${part}-keys`),
    type: 'Opaque',
    stringData: Object.fromEntries(FILES[part].map((file) => [file, keyOf(plane, file)])),
  });
  return {
    etcd: secretOf('etcd'),
    apiserver: secretOf('apiserver'),
    'controller-manager': secretOf('controller-manager'),
    scheduler: secretOf('scheduler'),
  };
}

function keyOf({ name, keys }: UnderClusterPlane, file: string): string {
  const text = keys[file];
  if (text === undefined)
    throw new Error(`Cannot make the objects of control plane "${name}": its key file "${file}" is missing; make its keys first`);
  return text;
}

/** Its Pods are nobody on the under-cluster; the owners may read their kubeconfig there, and none of its keys. */
export function accessObjects(plane: UnderClusterPlane): KubeObject[] {
  const { name, namespace, ownersGroup } = plane;
  const role = nameOf(plane, 'kubeconfig-reader');
  const rbac = 'rbac.authorization.k8s.io';
  return [
    { apiVersion: 'v1', kind: 'ServiceAccount', metadata: metadataOf(plane, 'control-plane'), automountServiceAccountToken: false },
    {
      apiVersion: `${rbac}/v1`,
      kind: 'Role',
      metadata: { ...metadataOf(plane, 'kubeconfig-reader'), name: role, namespace },
      rules: [{ apiGroups: [''], resources: ['secrets'], resourceNames: [kubeconfigSecretOf(name)], verbs: ['get'] }],
    },
    {
      apiVersion: `${rbac}/v1`,
      kind: 'RoleBinding',
      metadata: metadataOf(plane, 'kubeconfig-reader'),
      roleRef: { apiGroup: rbac, kind: 'Role', name: role },
      subjects: [{ apiGroup: rbac, kind: 'Group', name: ownersGroup }],
    },
  ];
}
