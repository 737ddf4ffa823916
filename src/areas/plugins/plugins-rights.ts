import { TOKEN_DISCOVERY_PATH, TOKEN_JWKS_PATH } from '../../api/plugins.tenantry.dev/v1alpha1/names.ts';
import type { KubeObject } from '../../kube/object.ts';
import { LOG_READER_ROLE, logReaderRole } from './owners/log-readers.ts';

/** Who the controllers of the area are, on the embedded engine as on a cluster. */
export const PLUGINS_USER = 'system:serviceaccount:tenantry-system:tenantry-plugins';

const NAME = 'tenantry:plugins';
const READ = ['get', 'list', 'watch'];
const WRITE = [...READ, 'create', 'update', 'patch', 'delete'];

/** What they may do, and no more. Namespaces of plugins come and go, so rights inside them are for all. */
export function pluginsRights(): KubeObject[] {
  const rules = [
    { apiGroups: ['plugins.tenantry.dev'], resources: ['*'], verbs: WRITE },
    { apiGroups: ['tenantry.dev'], resources: ['tenants'], verbs: READ },
    { apiGroups: ['hnc.x-k8s.io'], resources: ['hierarchyconfigurations'], verbs: WRITE },
    {
      apiGroups: [''],
      resources: ['namespaces', 'resourcequotas', 'limitranges', 'serviceaccounts', 'secrets', 'configmaps', 'services'],
      verbs: WRITE,
    },
    { apiGroups: [''], resources: ['pods'], verbs: READ },
    { apiGroups: ['discovery.k8s.io'], resources: ['endpointslices'], verbs: READ },
    { apiGroups: ['apps'], resources: ['deployments'], verbs: WRITE },
    { apiGroups: ['autoscaling'], resources: ['horizontalpodautoscalers'], verbs: WRITE },
    { apiGroups: ['networking.k8s.io'], resources: ['networkpolicies'], verbs: WRITE },
    // They give owners of tenants one role in the namespaces of plugins, and may give no other.
    { apiGroups: ['rbac.authorization.k8s.io'], resources: ['rolebindings'], verbs: WRITE },
    { apiGroups: ['rbac.authorization.k8s.io'], resources: ['clusterroles'], resourceNames: [LOG_READER_ROLE], verbs: ['bind'] },
    { apiGroups: ['monitoring.coreos.com'], resources: ['prometheusrules'], verbs: WRITE },
    // Where Kyverno or Argo CD is.
    { apiGroups: ['apiextensions.k8s.io'], resources: ['customresourcedefinitions'], verbs: READ },
    { apiGroups: ['policies.kyverno.io'], resources: ['imagevalidatingpolicies'], verbs: WRITE },
    { apiGroups: ['argoproj.io'], resources: ['appprojects'], verbs: WRITE },
    { apiGroups: ['external-secrets.io'], resources: ['secretstores', 'externalsecrets'], verbs: WRITE },
    { apiGroups: ['', 'events.k8s.io'], resources: ['events'], verbs: ['get', 'list', 'watch', 'create', 'patch'] },
  ];
  const roleRef = { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: NAME };
  const subjects = [{ kind: 'ServiceAccount', name: 'tenantry-plugins', namespace: 'tenantry-system' }];
  const apiVersion = 'rbac.authorization.k8s.io/v1';
  return [
    { apiVersion, kind: 'ClusterRole', metadata: { name: NAME }, rules },
    { apiVersion, kind: 'ClusterRoleBinding', metadata: { name: NAME }, roleRef, subjects },
    {
      apiVersion,
      kind: 'ClusterRole',
      metadata: { name: `${NAME}:token-keys` },
      rules: [{ nonResourceURLs: [TOKEN_DISCOVERY_PATH, TOKEN_JWKS_PATH], verbs: ['get'] }],
    },
    tokenKeysForAll(),
    logReaderRole(),
    forUsers('admin', WRITE),
    forUsers('edit', WRITE),
    forUsers('view', READ),
    attemptsForUsers(),
  ];
}

/** Public keys are for everybody who gets a token shown. */
function tokenKeysForAll(): KubeObject {
  const apiGroup = 'rbac.authorization.k8s.io';
  const name = `${NAME}:token-keys`;
  const subjects = ['system:authenticated', 'system:unauthenticated'].map((group) => ({ apiGroup, kind: 'Group', name: group }));
  return {
    apiVersion: `${apiGroup}/v1`,
    kind: 'ClusterRoleBinding',
    metadata: { name },
    roleRef: { apiGroup, kind: 'ClusterRole', name },
    subjects,
  };
}

/** What the plugins of a tenant tried is no secret to its owners, and nothing that they can take back. */
function attemptsForUsers(): KubeObject {
  const labels = { 'rbac.authorization.k8s.io/aggregate-to-view': 'true' };
  const rules = [{ apiGroups: ['plugins.tenantry.dev'], resources: ['crosstenantattempts'], verbs: READ }];
  return { apiVersion: 'rbac.authorization.k8s.io/v1', kind: 'ClusterRole', metadata: { name: `${NAME}:attempts`, labels }, rules };
}

/** What the users of a tenant's root namespace may do by the roles that they have anyway. */
function forUsers(role: string, verbs: string[]): KubeObject {
  return {
    apiVersion: 'rbac.authorization.k8s.io/v1',
    kind: 'ClusterRole',
    metadata: { name: `${NAME}:${role}`, labels: { [`rbac.authorization.k8s.io/aggregate-to-${role}`]: 'true' } },
    rules: [
      { apiGroups: ['plugins.tenantry.dev'], resources: ['plugininstallations', 'pluginpolicies'], verbs },
      // What they may send to plugins through the gateway.
      { apiGroups: ['plugins.tenantry.dev'], resources: ['plugininstallations/proxy'], verbs },
    ],
  };
}
