import { GATEWAY_REPORTS_NAMESPACE, PLATFORM_NAMESPACE, TOKEN_JWKS } from '../../../api/plugins.tenantry.dev/v1alpha1/names.ts';
import type { KubeObject } from '../../../kube/object.ts';

/** Who a gateway is, on the embedded engine as on a cluster. */
export const GATEWAY_ACCOUNT = { namespace: PLATFORM_NAMESPACE, name: 'tenantry-plugin-gateway' };
export const GATEWAY_USER = `system:serviceaccount:${GATEWAY_ACCOUNT.namespace}:${GATEWAY_ACCOUNT.name}`;

const NAME = 'tenantry:plugin-gateway';

/**
 * It reads where requests go, asks who callers are, and writes nothing but reports: its own, where nothing else is, and of what plugins
 * tried. The Secrets that it reads are beside them: those that were made for it.
 */
export function gatewayRights(): KubeObject[] {
  const read = ['get', 'list', 'watch'];
  const everywhere = [
    { apiGroups: ['plugins.tenantry.dev'], resources: ['plugininstallations'], verbs: read },
    { apiGroups: ['plugins.tenantry.dev'], resources: ['crosstenantattempts'], verbs: [...read, 'create', 'update'] },
    { apiGroups: ['discovery.k8s.io'], resources: ['endpointslices'], verbs: read },
    { apiGroups: [''], resources: ['namespaces'], verbs: read },
    { apiGroups: ['authentication.k8s.io'], resources: ['tokenreviews'], verbs: ['create'] },
    { apiGroups: ['authorization.k8s.io'], resources: ['subjectaccessreviews'], verbs: ['create'] },
  ];
  const keys = [{ apiGroups: [''], resources: ['configmaps'], resourceNames: [TOKEN_JWKS], verbs: read }];
  const reports = [
    { apiGroups: [''], resources: ['configmaps'], verbs: ['get', 'create', 'patch', 'delete'] },
    // How it reaches Pods in tenants' clusters, and nothing else.
    { apiGroups: [''], resources: ['secrets'], verbs: read },
  ];
  return [
    { apiVersion: 'v1', kind: 'Namespace', metadata: { name: GATEWAY_REPORTS_NAMESPACE } },
    ...bound('Cluster', undefined, everywhere),
    ...bound('', PLATFORM_NAMESPACE, keys),
    ...bound('', GATEWAY_REPORTS_NAMESPACE, reports),
  ];
}

function bound(scope: '' | 'Cluster', namespace: string | undefined, rules: object[]): KubeObject[] {
  const apiGroup = 'rbac.authorization.k8s.io';
  const apiVersion = `${apiGroup}/v1`;
  const metadata = { name: NAME, ...(namespace === undefined ? {} : { namespace }) };
  const roleRef = { apiGroup, kind: `${scope}Role`, name: NAME };
  const subjects = [{ kind: 'ServiceAccount', ...GATEWAY_ACCOUNT }];
  return [
    { apiVersion, kind: `${scope}Role`, metadata, rules },
    { apiVersion, kind: `${scope}RoleBinding`, metadata, roleRef, subjects },
  ];
}
