import { INCLUDED_LABEL } from '../../../../api/hnc.x-k8s.io/v1alpha2/names.ts';
import { TENANT_LABEL } from '../../../../api/tenantry.dev/v1alpha1/names.ts';
import { NOT_OUR_OWN } from '../platform-users.ts';
import type { WebhookRule } from '../../../../runtime/admission/webhook-rules.ts';

const WRITES = ['CREATE', 'UPDATE'];
const IN_TENANTS = { matchExpressions: [{ key: TENANT_LABEL, operator: 'Exists' }] };
const NOBODYS = { matchLabels: { [INCLUDED_LABEL]: 'true' }, matchExpressions: [{ key: TENANT_LABEL, operator: 'DoesNotExist' }] };
const resources = (group: string, ...names: string[]) => ({
  apiGroups: [group],
  apiVersions: ['*'],
  resources: names,
  operations: WRITES,
  scope: 'Namespaced',
});

export const TENANT_RULE: WebhookRule = {
  name: 'tenants.tenantry.dev',
  type: 'Validating',
  path: '/validate-tenantry-dev-v1alpha1-tenants',
  rules: [{ apiGroups: ['tenantry.dev'], apiVersions: ['*'], resources: ['tenants'], operations: WRITES }],
  failurePolicy: 'Fail',
};

/** Puts Pods on the nodes that are meant for them. */
export const PLACEMENT_RULE: WebhookRule = {
  name: 'placement.tenantry.dev',
  type: 'Mutating',
  path: '/mutate-placement',
  rules: [{ ...resources('', 'pods'), operations: ['CREATE'] }, resources('apps', 'daemonsets')],
  failurePolicy: 'Fail',
  namespaceSelector: IN_TENANTS,
};

/** What may run, where, and with which classes and images. */
export const WORKLOAD_RULE: WebhookRule = {
  name: 'workloads.tenantry.dev',
  type: 'Validating',
  path: '/validate-workloads',
  rules: [
    resources(
      '',
      'pods',
      'pods/ephemeralcontainers',
      'replicationcontrollers',
      'replicationcontrollers/scale',
      'persistentvolumeclaims',
      'services',
    ),
    resources(
      'apps',
      'deployments',
      'deployments/scale',
      'statefulsets',
      'statefulsets/scale',
      'replicasets',
      'replicasets/scale',
      'daemonsets',
    ),
    resources('batch', 'jobs', 'cronjobs'),
    resources('kruntimes.io', 'runs', 'runtimes'),
    resources('networking.k8s.io', 'ingresses', 'networkpolicies'),
  ],
  failurePolicy: 'Fail',
  namespaceSelector: IN_TENANTS,
};

/**
 * Keeps the Pods of nobody off the nodes of tenants, for as long as there is an answer: among them is what admission itself needs to
 * start, such as the cluster's network.
 */
const FOR_NOBODY = { failurePolicy: 'Ignore', timeoutSeconds: 2, namespaceSelector: NOBODYS } as const;
export const NOBODYS_PLACEMENT_RULE: WebhookRule = { ...PLACEMENT_RULE, ...FOR_NOBODY, name: 'nobodysplacement.tenantry.dev' };
export const NOBODYS_PODS_RULE: WebhookRule = {
  ...WORKLOAD_RULE,
  ...FOR_NOBODY,
  name: 'nobodyspods.tenantry.dev',
  rules: [resources('', 'pods')],
};

/** Apart from the workloads, because a change at the top of a tree is a thousand RoleBindings of our own. */
export const BINDING_RULE: WebhookRule = {
  ...WORKLOAD_RULE,
  name: 'bindings.tenantry.dev',
  rules: [resources('rbac.authorization.k8s.io', 'rolebindings')],
  matchConditions: [NOT_OUR_OWN],
};

/** What in a tenant's namespaces is not its owners'. The platform is not even asked: it must be able to repair anything. */
export const GUARD_RULE: WebhookRule = {
  name: 'guard.tenantry.dev',
  type: 'Validating',
  path: '/validate-tenant-objects',
  rules: [{ apiGroups: ['*'], apiVersions: ['*'], resources: ['*'], operations: ['CREATE', 'UPDATE', 'DELETE'], scope: 'Namespaced' }],
  failurePolicy: 'Fail',
  namespaceSelector: IN_TENANTS,
  matchConditions: [
    {
      name: 'not-the-platform',
      expression:
        "!request.userInfo.groups.exists(g, g in ['tenantry:platform', 'system:masters', 'system:nodes', 'system:serviceaccounts:kube-system', 'system:serviceaccounts:tenantry-system'])",
    },
  ],
};
