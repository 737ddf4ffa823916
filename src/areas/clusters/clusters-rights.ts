import type { KubeObject } from '../../kube/object.ts';

/** Who the controllers of the area are. */
export const CLUSTERS_USER = 'system:serviceaccount:tenantry-system:tenantry-clusters';
export const CLUSTERS_GROUPS = ['system:serviceaccounts', 'system:serviceaccounts:tenantry-system', 'system:authenticated'];

const NAME = 'tenantry:clusters';
const READ = ['get', 'list', 'watch'];
const WRITE = [...READ, 'create', 'update', 'patch', 'delete'];

/** What they may do on the host, and no more; inside a tenant's cluster they have its own keys. */
export function clustersRights(): KubeObject[] {
  const rules = [
    {
      apiGroups: ['tenantry.dev'],
      resources: ['tenantclusters', 'tenantclusters/status', 'clusterpolicies/status', 'vpcs', 'vpcs/status'],
      verbs: WRITE,
    },
    { apiGroups: ['tenantry.dev'], resources: ['tenants', 'clusterpolicies'], verbs: READ },
    { apiGroups: [''], resources: ['secrets'], verbs: WRITE },
    { apiGroups: ['events.k8s.io'], resources: ['events'], verbs: ['create', 'patch', 'update'] },
    { apiGroups: [''], resources: ['configmaps'], verbs: [...READ, 'create'] },
    // What Runtimes and Runs are made of is copied into the clusters that they are placed in; what becomes of them is told here.
    { apiGroups: [''], resources: ['namespaces', 'serviceaccounts', 'limitranges'], verbs: READ },
    { apiGroups: ['kruntimes.io'], resources: ['runs', 'runs/status', 'runtimes', 'runtimes/status'], verbs: [...READ, 'patch'] },
  ];
  const roleRef = { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: NAME };
  const subjects = [{ kind: 'ServiceAccount', name: 'tenantry-clusters', namespace: 'tenantry-system' }];
  const apiVersion = 'rbac.authorization.k8s.io/v1';
  return [
    { apiVersion, kind: 'ClusterRole', metadata: { name: NAME }, rules },
    { apiVersion, kind: 'ClusterRoleBinding', metadata: { name: NAME }, roleRef, subjects },
    forUsers('admin', [...WRITE, 'deletecollection']),
    forUsers('edit', [...WRITE, 'deletecollection']),
    forUsers('view', READ),
  ];
}

/** What the users of a tenant's root namespace may do by the roles that they have anyway. */
function forUsers(role: string, verbs: string[]): KubeObject {
  return {
    apiVersion: 'rbac.authorization.k8s.io/v1',
    kind: 'ClusterRole',
    metadata: { name: `${NAME}:${role}`, labels: { [`rbac.authorization.k8s.io/aggregate-to-${role}`]: 'true' } },
    rules: [{ apiGroups: ['tenantry.dev'], resources: ['tenantclusters', 'vpcs'], verbs }],
  };
}
