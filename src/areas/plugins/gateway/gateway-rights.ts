import { PLATFORM_NAMESPACE } from '../../../api/plugins.tenantry.dev/v1alpha1/names.ts';
import type { KubeObject } from '../../../kube/object.ts';

/** Who a gateway is, on the embedded engine as on a cluster. */
export const GATEWAY_ACCOUNT = { namespace: PLATFORM_NAMESPACE, name: 'tenantry-plugin-gateway' };
export const GATEWAY_USER = `system:serviceaccount:${GATEWAY_ACCOUNT.namespace}:${GATEWAY_ACCOUNT.name}`;

const NAME = 'tenantry:plugin-gateway';

/** It reads where requests go, asks who callers are, and writes nothing but reports: its own, and of what plugins tried. No Secret is its business. */
export function gatewayRights(): KubeObject[] {
  const apiVersion = 'rbac.authorization.k8s.io/v1';
  const apiGroup = 'rbac.authorization.k8s.io';
  const read = ['get', 'list', 'watch'];
  const rules = [
    { apiGroups: ['plugins.tenantry.dev'], resources: ['plugininstallations'], verbs: read },
    { apiGroups: ['plugins.tenantry.dev'], resources: ['crosstenantattempts'], verbs: [...read, 'create', 'update', 'patch', 'delete'] },
    { apiGroups: ['discovery.k8s.io'], resources: ['endpointslices'], verbs: read },
    { apiGroups: [''], resources: ['namespaces'], verbs: read },
    { apiGroups: ['authentication.k8s.io'], resources: ['tokenreviews'], verbs: ['create'] },
    { apiGroups: ['authorization.k8s.io'], resources: ['subjectaccessreviews'], verbs: ['create'] },
  ];
  const own = [
    { apiGroups: [''], resources: ['configmaps'], verbs: [...read, 'create', 'patch', 'delete'] },
    { apiGroups: ['', 'events.k8s.io'], resources: ['events'], verbs: ['create', 'patch'] },
  ];
  const subjects = [{ kind: 'ServiceAccount', ...GATEWAY_ACCOUNT }];
  const namespace = PLATFORM_NAMESPACE;
  return [
    { apiVersion, kind: 'ClusterRole', metadata: { name: NAME }, rules },
    { apiVersion, kind: 'ClusterRoleBinding', metadata: { name: NAME }, roleRef: { apiGroup, kind: 'ClusterRole', name: NAME }, subjects },
    { apiVersion, kind: 'Role', metadata: { name: NAME, namespace }, rules: own },
    { apiVersion, kind: 'RoleBinding', metadata: { name: NAME, namespace }, roleRef: { apiGroup, kind: 'Role', name: NAME }, subjects },
  ];
}
