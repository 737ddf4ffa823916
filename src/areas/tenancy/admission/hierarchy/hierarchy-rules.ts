import type { WebhookRule } from '../../../../runtime/admission/webhook-rules.ts';

const VERSIONS = ['v1alpha2'];
const GROUPS = ['hnc.x-k8s.io'];

export const ANCHOR_RULE: WebhookRule = {
  name: 'subnamespaceanchors.hnc.x-k8s.io',
  type: 'Validating',
  path: '/validate-hnc-x-k8s-io-v1alpha2-subnamespaceanchors',
  rules: [{ apiGroups: GROUPS, apiVersions: VERSIONS, resources: ['subnamespaceanchors'], operations: ['CREATE', 'UPDATE', 'DELETE'] }],
  failurePolicy: 'Fail',
};

/** HNC lets anybody who may delete one do so; a tenant's namespace would leave its tree with it. */
export const HIERARCHY_RULE: WebhookRule = {
  name: 'hierarchyconfigurations.hnc.x-k8s.io',
  type: 'Validating',
  path: '/validate-hnc-x-k8s-io-v1alpha2-hierarchyconfigurations',
  rules: [{ apiGroups: GROUPS, apiVersions: VERSIONS, resources: ['hierarchyconfigurations'], operations: ['CREATE', 'UPDATE', 'DELETE'] }],
  failurePolicy: 'Fail',
};

/** About the platform's own namespaces nobody has to be asked, so that nothing here can lock it out. */
const PLATFORM_NAMESPACES = ['kube-system', 'kube-public', 'kube-node-lease', 'tenantry-system', 'default'];
const THE_PLATFORMS = { matchExpressions: [{ key: 'kubernetes.io/metadata.name', operator: 'In', values: PLATFORM_NAMESPACES }] };
const NOT_THE_PLATFORMS = { matchExpressions: [{ key: 'kubernetes.io/metadata.name', operator: 'NotIn', values: PLATFORM_NAMESPACES }] };

const NAMESPACE_PATH = '/validate-v1-namespace';

export const NAMESPACE_RULE: WebhookRule = {
  name: 'namespaces.hnc.x-k8s.io',
  type: 'Validating',
  path: NAMESPACE_PATH,
  rules: [{ apiGroups: [''], apiVersions: ['v1'], resources: ['namespaces'], operations: ['CREATE', 'UPDATE', 'DELETE'] }],
  failurePolicy: 'Fail',
  namespaceSelector: NOT_THE_PLATFORMS,
};

/** The same for the platform's namespaces, for as long as there is an answer. */
export const PLATFORM_NAMESPACE_RULE: WebhookRule = {
  ...NAMESPACE_RULE,
  name: 'platformnamespaces.hnc.x-k8s.io',
  failurePolicy: 'Ignore',
  timeoutSeconds: 1,
  namespaceSelector: THE_PLATFORMS,
};

/** Labels can be changed by way of these as well. What the namespace controller does at the end of every namespace is left alone. */
export const NAMESPACE_SUBRESOURCE_RULE: WebhookRule = {
  name: 'namespacesubresources.tenantry.dev',
  type: 'Validating',
  path: NAMESPACE_PATH,
  rules: [{ apiGroups: [''], apiVersions: ['v1'], resources: ['namespaces/status', 'namespaces/finalize'], operations: ['UPDATE'] }],
  failurePolicy: 'Fail',
  namespaceSelector: NOT_THE_PLATFORMS,
  matchConditions: [
    {
      name: 'not-the-namespace-controller',
      expression:
        "!(request.userInfo.username == 'system:kube-controller-manager' || 'system:serviceaccounts:kube-system' in request.userInfo.groups)",
    },
  ],
};

export const NAMESPACE_LABEL_RULE: WebhookRule = {
  name: 'namespacelabel.hnc.x-k8s.io',
  type: 'Mutating',
  path: '/mutate-namespace',
  rules: [{ apiGroups: [''], apiVersions: ['v1'], resources: ['namespaces'], operations: ['CREATE', 'UPDATE'] }],
  failurePolicy: 'Ignore',
  namespaceSelector: NOT_THE_PLATFORMS,
};
