import { RUNTIMED_RULES } from './controllers/runtime/runtimed-rules.ts';

/** Who the controllers of the area are, on the embedded engine as on a cluster. */
export const RUNS_USER = 'system:serviceaccount:kube-system:tenantry-runs';

const NAME = 'tenantry:runs';
const WRITE = ['get', 'list', 'watch', 'create', 'update', 'patch', 'delete'];

/** What they may do, and no more. They hold what they give to runtimed: nobody may give what he has not. */
export function runsRights() {
  const rules = [
    ...RUNTIMED_RULES,
    { apiGroups: ['kruntimes.io'], resources: ['runs', 'runtimes'], verbs: WRITE },
    { apiGroups: ['kruntimes.io'], resources: ['runs/status', 'runtimes/status'], verbs: ['get', 'update', 'patch'] },
    { apiGroups: ['apps'], resources: ['deployments'], verbs: WRITE },
    { apiGroups: [''], resources: ['pods', 'namespaces'], verbs: ['get', 'list', 'watch'] },
    { apiGroups: [''], resources: ['serviceaccounts'], verbs: ['get', 'create', 'update', 'patch'] },
    { apiGroups: ['rbac.authorization.k8s.io'], resources: ['roles', 'rolebindings'], verbs: ['get', 'create', 'update', 'patch'] },
    { apiGroups: ['networking.k8s.io'], resources: ['networkpolicies'], verbs: ['get', 'create', 'update', 'patch'] },
    { apiGroups: ['policy'], resources: ['poddisruptionbudgets'], verbs: ['get', 'create', 'update', 'patch', 'delete'] },
  ];
  return [
    { apiVersion: 'rbac.authorization.k8s.io/v1', kind: 'ClusterRole', metadata: { name: NAME }, rules },
    {
      apiVersion: 'rbac.authorization.k8s.io/v1',
      kind: 'ClusterRoleBinding',
      metadata: { name: NAME },
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: NAME },
      subjects: [{ kind: 'ServiceAccount', name: 'tenantry-runs', namespace: 'kube-system' }],
    },
    ...userRights(),
  ];
}

/** What the users of a namespace may do by the roles that they have anyway. To use a restricted Runtime is for its administrators to give. */
function userRights() {
  const apiGroups = ['kruntimes.io'];
  const role = (to: string, rules: object[]) => ({
    apiVersion: 'rbac.authorization.k8s.io/v1',
    kind: 'ClusterRole',
    metadata: { name: `${NAME}:${to}`, labels: { [`rbac.authorization.k8s.io/aggregate-to-${to}`]: 'true' } },
    rules,
  });
  return [
    role('view', [{ apiGroups, resources: ['runs', 'runtimes'], verbs: ['get', 'list', 'watch'] }]),
    role('edit', [{ apiGroups, resources: ['runs'], verbs: [...WRITE, 'deletecollection'] }]),
    role('admin', [{ apiGroups, resources: ['runtimes'], verbs: [...WRITE, 'deletecollection', 'use'] }]),
  ];
}
