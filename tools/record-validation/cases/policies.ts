import type { Json } from '../../../src/kube/object.ts';
import type { Base, Change } from '../case.ts';
import { caseSet, clusterScoped, namespaced, STATUS, UPDATE, type Row } from './build.ts';

const RBAC = 'rbac.authorization.k8s.io';
const ADMISSION = 'admissionregistration.k8s.io';
const rule = { apiGroups: [''], resources: ['pods'], verbs: ['get'] };
const roleRef = { apiGroup: RBAC, kind: 'ClusterRole', name: 'view' };
const hook = { name: 'a.example.com', sideEffects: 'None', admissionReviewVersions: ['v1'], clientConfig: { url: 'https://example.com' } };
/** Of a resource nobody has: the configurations are real while the others are recorded. */
const hookRule = { operations: ['CREATE'], apiGroups: ['example.com'], apiVersions: ['v1'], resources: ['foos'] };
const FLOW = 'flowcontrol.apiserver.k8s.io';

const bases: Record<string, Base> = {
  role: namespaced(RBAC, 'v1', 'roles', 'Role', 'r', { rules: [rule] }),
  clusterRole: clusterScoped(RBAC, 'v1', 'clusterroles', 'ClusterRole', 'recorded-cr', { rules: [rule] }),
  binding: namespaced(RBAC, 'v1', 'rolebindings', 'RoleBinding', 'rb', {
    roleRef,
    subjects: [{ apiGroup: RBAC, kind: 'User', name: 'u' }],
  }),
  clusterBinding: clusterScoped(RBAC, 'v1', 'clusterrolebindings', 'ClusterRoleBinding', 'recorded-crb', { roleRef, subjects: [] }),
  budget: namespaced('policy', 'v1', 'poddisruptionbudgets', 'PodDisruptionBudget', 'pdb', {
    spec: { minAvailable: 1, selector: { matchLabels: { a: 'b' } } },
  }),
  priority: clusterScoped('scheduling.k8s.io', 'v1', 'priorityclasses', 'PriorityClass', 'pc', { value: 1 }),
  runtime: clusterScoped('node.k8s.io', 'v1', 'runtimeclasses', 'RuntimeClass', 'rtc', { handler: 'h' }),
  lease: namespaced('coordination.k8s.io', 'v1', 'leases', 'Lease', 'lease', { spec: { leaseDurationSeconds: 5 } }),
  autoscaler: namespaced('autoscaling', 'v2', 'horizontalpodautoscalers', 'HorizontalPodAutoscaler', 'hpa', {
    spec: { maxReplicas: 3, scaleTargetRef: { apiVersion: 'apps/v1', kind: 'Deployment', name: 'd' } },
  }),
  validating: clusterScoped(ADMISSION, 'v1', 'validatingwebhookconfigurations', 'ValidatingWebhookConfiguration', 'vwc', {
    webhooks: [{ ...hook, rules: [hookRule] }],
  }),
  mutating: clusterScoped(ADMISSION, 'v1', 'mutatingwebhookconfigurations', 'MutatingWebhookConfiguration', 'mwc', {
    webhooks: [
      {
        ...hook,
        clientConfig: { service: { namespace: 'a', name: 'b' } },
        rules: [hookRule],
      },
    ],
  }),
  policy: clusterScoped(ADMISSION, 'v1', 'validatingadmissionpolicies', 'ValidatingAdmissionPolicy', 'vap', {
    spec: { matchConstraints: { resourceRules: [hookRule] }, validations: [{ expression: 'true' }] },
  }),
  policyBinding: clusterScoped(ADMISSION, 'v1', 'validatingadmissionpolicybindings', 'ValidatingAdmissionPolicyBinding', 'vapb', {
    spec: { policyName: 'vap', validationActions: ['Deny'] },
  }),
  apiService: clusterScoped('apiregistration.k8s.io', 'v1', 'apiservices', 'APIService', 'v1.recorded.example.com', {
    spec: {
      group: 'recorded.example.com',
      version: 'v1',
      groupPriorityMinimum: 10,
      versionPriority: 10,
      service: { namespace: 'a', name: 'b' },
    },
  }),
  flow: clusterScoped(FLOW, 'v1', 'flowschemas', 'FlowSchema', 'recorded', {
    spec: { matchingPrecedence: 100, priorityLevelConfiguration: { name: 'global-default' } },
  }),
  level: clusterScoped(FLOW, 'v1', 'prioritylevelconfigurations', 'PriorityLevelConfiguration', 'recorded', {
    spec: { type: 'Limited', limited: { limitResponse: { type: 'Reject' } } },
  }),
  claim: namespaced('resource.k8s.io', 'v1', 'resourceclaims', 'ResourceClaim', 'rc', {
    spec: { devices: { requests: [{ name: 'a', exactly: { deviceClassName: 'c' } }] } },
  }),
  claimTemplate: namespaced('resource.k8s.io', 'v1', 'resourceclaimtemplates', 'ResourceClaimTemplate', 'rct', {
    spec: { spec: { devices: { requests: [{ name: 'a', exactly: { deviceClassName: 'c' } }] } } },
  }),
  deviceClass: clusterScoped('resource.k8s.io', 'v1', 'deviceclasses', 'DeviceClass', 'dc', { spec: {} }),
};

const access: Row[] = [
  ['valid', 'role', {}],
  ['empty rule', 'role', { '/rules': [{ verbs: [] }] }],
  ['urls in a namespace', 'role', { '/rules': [{ verbs: ['get'], nonResourceURLs: ['/a'], apiGroups: [''] }] }],
  ['urls and resources', 'clusterRole', { '/rules': [{ verbs: ['get'], nonResourceURLs: ['/a'], resources: ['x'] }] }],
  ['empty aggregation', 'clusterRole', { '/aggregationRule': {} }],
  ['bad aggregation', 'clusterRole', { '/aggregationRule': { clusterRoleSelectors: [{ matchLabels: { a: '-' } }] } }],
  ['valid', 'binding', {}],
  ['bad role', 'binding', { '/roleRef': { apiGroup: 'x', kind: 'Foo', name: '' } }],
  [
    'bad subjects',
    'binding',
    {
      '/subjects': [
        { kind: 'Foo', name: '' },
        { kind: 'ServiceAccount', name: 'A', apiGroup: 'x', namespace: 'd' },
        { kind: 'User', name: 'u', apiGroup: 'x' },
      ],
    },
  ],
  ['update the role', 'binding', { '/roleRef/name': 'edit' }, UPDATE],
  ['role in a cluster binding', 'clusterBinding', { '/roleRef/kind': 'Role' }],
  ['account without namespace', 'clusterBinding', { '/subjects': [{ kind: 'ServiceAccount', name: 'a' }] }],
  ['update the role', 'clusterBinding', { '/roleRef/name': 'edit' }, UPDATE],
];

const metrics = (...list: Json[]): Change => ({ '/spec/metrics': list });
const target = (value: Json): Json => ({ name: 'cpu', target: value });
const behavior = (value: Json): Change => ({ '/spec/behavior': { scaleUp: value } });

const scaling: Row[] = [
  ['valid', 'autoscaler', {}],
  ['replicas wrong', 'autoscaler', { '/spec/minReplicas': 5, '/spec/maxReplicas': 0 }],
  ['zero replicas', 'autoscaler', { '/spec/minReplicas': 0 }],
  ['no target', 'autoscaler', { '/spec/scaleTargetRef': { kind: '', name: '' } }],
  ['target without group', 'autoscaler', { '/spec/scaleTargetRef/apiVersion': 'v1' }],
  ['target with bad version', 'autoscaler', { '/spec/scaleTargetRef/apiVersion': 'a/b/c', '/spec/scaleTargetRef/name': 'a/b' }],
  ['metric unknown', 'autoscaler', metrics({ type: 'Foo' })],
  [
    'metric without source',
    'autoscaler',
    metrics({ type: 'Resource' }, { type: 'Pods' }, { type: 'External' }, { type: 'Object' }, { type: 'ContainerResource' }),
  ],
  [
    'metric with other source',
    'autoscaler',
    metrics({
      type: 'Pods',
      resource: target({ type: 'Utilization', averageUtilization: 5 }),
      external: { metric: { name: 'x' }, target: { type: 'Value', value: '1' } },
    }),
    { unordered: true },
  ],
  [
    'resource target wrong',
    'autoscaler',
    metrics(
      { type: 'Resource', resource: { name: '', target: { type: 'Foo' } } },
      { type: 'Resource', resource: target({ type: 'Utilization', averageUtilization: 0, averageValue: '0' }) },
    ),
  ],
  [
    'container resource wrong',
    'autoscaler',
    metrics({ type: 'ContainerResource', containerResource: { name: 'foo', container: 'A', target: { type: 'Value', value: '-1' } } }),
  ],
  ['pods target wrong', 'autoscaler', metrics({ type: 'Pods', pods: { metric: { name: 'a/b' }, target: { type: 'Value', value: '1' } } })],
  [
    'external target wrong',
    'autoscaler',
    metrics({ type: 'External', external: { metric: { name: '' }, target: { type: 'Value', value: '1', averageValue: '1' } } }),
  ],
  [
    'object target wrong',
    'autoscaler',
    metrics({ type: 'Object', object: { describedObject: { kind: '', name: 'a' }, metric: { name: 'x' }, target: { type: 'Value' } } }),
  ],
  [
    'behavior wrong',
    'autoscaler',
    behavior({
      stabilizationWindowSeconds: 4000,
      selectPolicy: 'Foo',
      policies: [
        { type: 'Foo', value: 0, periodSeconds: 0 },
        { type: 'Pods', value: 1, periodSeconds: 2000 },
      ],
    }),
  ],
  [
    'behavior negative',
    'autoscaler',
    behavior({
      stabilizationWindowSeconds: -1,
      selectPolicy: 'Max',
      policies: [{ type: 'Pods', value: 1, periodSeconds: 1 }],
      tolerance: '-1',
    }),
  ],
  ['update to no group', 'autoscaler', { '/spec/scaleTargetRef/apiVersion': 'v1' }, UPDATE],
  ['status', 'autoscaler', { '/status/currentReplicas': -1, '/status/desiredReplicas': -1 }, STATUS],
  ['valid', 'budget', {}],
  ['both set', 'budget', { '/spec/maxUnavailable': '10%' }],
  ['beyond all', 'budget', { '/spec/minAvailable': '110%' }],
  ['negative', 'budget', { '/spec/minAvailable': -1 }],
  ['not a percentage', 'budget', { '/spec/minAvailable': 'x' }],
  ['bad selector and policy', 'budget', { '/spec/selector': { matchLabels: { a: '-' } }, '/spec/unhealthyPodEvictionPolicy': 'Foo' }],
  [
    'status',
    'budget',
    {
      '/status': {
        currentHealthy: -1,
        desiredHealthy: 0,
        disruptionsAllowed: 0,
        expectedPods: 0,
        conditions: [{ type: 'a b', status: 'Foo', reason: '-', message: '', lastTransitionTime: '2024-01-01T00:00:00Z' }],
      },
    },
    STATUS,
  ],
  ['valid', 'priority', {}],
  ['too high', 'priority', { '/value': 1000000001 }],
  ['system name', 'priority', { '/metadata/name': 'system-foo' }],
  ['system value', 'priority', { '/metadata/name': 'system-node-critical' }],
  ['unknown preemption', 'priority', { '/preemptionPolicy': 'Foo' }],
  ['update the value', 'priority', { '/value': 2, '/preemptionPolicy': 'Never' }, UPDATE],
  ['valid', 'runtime', {}],
  ['bad handler', 'runtime', { '/handler': 'A' }],
  ['bad overhead', 'runtime', { '/overhead': { podFixed: { foo: '1' } } }],
  [
    'bad scheduling',
    'runtime',
    {
      '/scheduling': {
        nodeSelector: { a: '-' },
        tolerations: [
          { key: 'a', operator: 'Exists' },
          { key: 'a', operator: 'Exists' },
          { key: 'b', operator: 'Foo' },
        ],
      },
    },
  ],
  ['update the handler', 'runtime', { '/handler': 'i' }, UPDATE],
  ['valid', 'lease', {}],
  ['bad numbers', 'lease', { '/spec/leaseDurationSeconds': 0, '/spec/leaseTransitions': -1 }],
];

const webhooks = (value: Json): Change => Object.fromEntries(Object.entries(value).map(([k, v]) => [`/webhooks/0/${k}`, v]));
const matchRule = (value: Json): Change => webhooks({ rules: [{ ...hookRule, scope: '*', ...value }] });
const service = (value: Json): Change => webhooks({ clientConfig: { service: { namespace: 'a', name: 'b', port: 443, ...value } } });
const url = (value: string): Change => webhooks({ clientConfig: { url: value } });
const policySpec = (value: Json): Change => Object.fromEntries(Object.entries(value).map(([k, v]) => [`/spec/${k}`, v]));

const admission: Row[] = [
  ['valid', 'validating', {}],
  ['valid', 'mutating', {}],
  ['bad name', 'validating', webhooks({ name: 'a.b' })],
  ['no name', 'validating', webhooks({ name: '' })],
  [
    'same name',
    'validating',
    {
      '/webhooks/1': { ...hook, failurePolicy: 'Fail', matchPolicy: 'Exact', namespaceSelector: {}, objectSelector: {}, timeoutSeconds: 1 },
    },
  ],
  ['bad policies', 'validating', webhooks({ failurePolicy: 'Foo', matchPolicy: 'Bar', sideEffects: 'Some', timeoutSeconds: 31 })],
  ['no side effects', 'validating', webhooks({ sideEffects: null })],
  ['no versions', 'validating', webhooks({ admissionReviewVersions: [] })],
  ['bad versions', 'validating', webhooks({ admissionReviewVersions: ['v2', 'v2', 'A'] })],
  ['empty rule', 'validating', webhooks({ rules: [{ operations: [], apiGroups: [], apiVersions: [], resources: [], scope: 'Foo' }] })],
  [
    'wildcards and more',
    'validating',
    matchRule({ operations: ['*', 'CREATE'], apiGroups: ['*', 'a'], apiVersions: ['*', ''], resources: ['*', 'a'] }),
  ],
  ['unknown operation', 'validating', matchRule({ operations: ['FOO'] })],
  ['subresource wildcards', 'validating', matchRule({ resources: ['pods/*', 'pods/log', '*/scale', 'a/scale', ''] })],
  ['everything and more', 'validating', matchRule({ resources: ['*/*', 'a'] })],
  [
    'bad selectors',
    'validating',
    webhooks({ namespaceSelector: { matchLabels: { a: '-' } }, objectSelector: { matchExpressions: [{ key: 'a', operator: 'In' }] } }),
  ],
  ['no client', 'validating', webhooks({ clientConfig: {} })],
  ['plain http', 'validating', url('http://example.com')],
  ['no host', 'validating', url('https:///x')],
  ['user, query and fragment', 'validating', url('https://u:p@example.com/x?a=b#c')],
  ['service without name', 'validating', service({ name: '', port: 0 })],
  ['service without namespace', 'mutating', service({ namespace: '' })],
  ['service with bad path', 'mutating', service({ path: 'a//B/' })],
  ['service with empty path', 'mutating', service({ path: '//' })],
  ['bad reinvocation', 'mutating', webhooks({ reinvocationPolicy: 'Foo' })],
  [
    'bad conditions',
    'mutating',
    webhooks({
      matchConditions: [
        { name: '', expression: '' },
        { name: 'a b', expression: 'true' },
        { name: 'c', expression: 'true' },
        { name: 'c', expression: 'true' },
      ],
    }),
  ],
  ['update to side effects', 'validating', webhooks({ sideEffects: 'Some' }), UPDATE],
  ['valid', 'policy', {}],
  ['no constraints', 'policy', policySpec({ matchConstraints: null, failurePolicy: 'Foo' })],
  ['bad param kind', 'policy', policySpec({ paramKind: { apiVersion: 'A/V', kind: '-' } })],
  ['empty param kind', 'policy', policySpec({ paramKind: { apiVersion: '', kind: '' } })],
  ['no validations', 'policy', policySpec({ validations: [] })],
  [
    'bad validation',
    'policy',
    policySpec({
      validations: [
        { expression: ' ', message: ' ' },
        { expression: 'true', message: 'a\nb', messageExpression: ' ', reason: 'Foo' },
      ],
    }),
  ],
  [
    'bad variables',
    'policy',
    policySpec({
      variables: [
        { name: '', expression: '' },
        { name: 'in', expression: 'true' },
      ],
    }),
  ],
  [
    'bad annotations',
    'policy',
    policySpec({
      auditAnnotations: [
        { key: 'a b', valueExpression: '' },
        { key: 'c', valueExpression: "'x'" },
        { key: 'c', valueExpression: "'x'" },
      ],
    }),
  ],
  ['bad resource names', 'policy', { '/spec/matchConstraints/resourceRules/0/resourceNames': ['a/b', 'c', 'c'] }],
  [
    'status',
    'policy',
    {
      '/status': {
        conditions: [{ type: 'a', status: 'Foo', reason: '', message: '', lastTransitionTime: '2024-01-01T00:00:00Z' }],
        typeChecking: { expressionWarnings: [{ fieldRef: '', warning: '' }] },
      },
    },
    STATUS,
  ],
  ['valid', 'policyBinding', {}],
  ['no policy', 'policyBinding', policySpec({ policyName: '', validationActions: [] })],
  ['bad actions', 'policyBinding', policySpec({ policyName: 'A', validationActions: ['Deny', 'Warn', 'Warn', 'Foo'] })],
  ['bad param ref', 'policyBinding', policySpec({ paramRef: { name: 'a/b', selector: { matchLabels: { a: '-' } } } })],
  ['empty param ref', 'policyBinding', policySpec({ paramRef: { parameterNotFoundAction: 'Foo' } })],
  ['valid', 'apiService', {}],
  ['bad group and version', 'apiService', { '/spec/group': 'A', '/spec/version': '1' }],
  ['bad priorities', 'apiService', { '/spec/groupPriorityMinimum': 0, '/spec/versionPriority': 1001 }],
  [
    'bad service',
    'apiService',
    { '/spec/service': { namespace: '', name: '', port: 99999 }, '/spec/insecureSkipTLSVerify': true, '/spec/caBundle': 'YQ==' },
  ],
  ['local with bundle', 'apiService', { '/spec/service': null, '/spec/insecureSkipTLSVerify': true, '/spec/caBundle': 'YQ==' }],
  [
    'status',
    'apiService',
    { '/status/conditions': [{ type: 'Available', status: 'Foo', lastTransitionTime: '2024-01-01T00:00:00Z' }] },
    STATUS,
  ],
];

const subject = (value: Json): Change => ({
  '/spec/rules': [{ subjects: [value], nonResourceRules: [{ verbs: ['*'], nonResourceURLs: ['*'] }] }],
});
const flowRule = (value: Json): Change => ({ '/spec/rules': [{ subjects: [{ kind: 'User', user: { name: 'u' } }], ...value }] });
const limited = (value: Json): Change => ({
  '/spec/limited': { nominalConcurrencyShares: 1, lendablePercent: 0, limitResponse: { type: 'Reject' }, ...value },
});
const queuing = (value: Json): Change =>
  limited({ limitResponse: { type: 'Queue', queuing: { queues: 8, handSize: 2, queueLengthLimit: 5, ...value } } });
const request = (value: Json): Change => ({
  '/spec/devices/requests': [{ name: 'a', exactly: { deviceClassName: 'c', allocationMode: 'ExactCount', count: 1, ...value } }],
});

const flows: Row[] = [
  ['valid', 'flow', {}],
  ['bad precedence', 'flow', { '/spec/matchingPrecedence': 10001, '/spec/priorityLevelConfiguration/name': '' }],
  ['precedence one', 'flow', { '/spec/matchingPrecedence': 1, '/spec/distinguisherMethod': { type: 'Foo' } }],
  ['empty rule', 'flow', { '/spec/rules': [{}] }],
  ['unknown subject', 'flow', subject({ kind: 'Foo' })],
  ['subject without user', 'flow', subject({ kind: 'User', group: { name: 'a' } })],
  ['subject account wrong', 'flow', subject({ kind: 'ServiceAccount', serviceAccount: { name: 'A', namespace: '' }, user: { name: 'a' } })],
  [
    'bad resource rule',
    'flow',
    flowRule({ resourceRules: [{ verbs: ['foo'], apiGroups: ['*', 'a'], resources: ['*', 'b'], namespaces: ['A'] }] }),
  ],
  ['empty resource rule', 'flow', flowRule({ resourceRules: [{ verbs: [], apiGroups: [], resources: [] }] })],
  ['bad urls', 'flow', flowRule({ nonResourceRules: [{ verbs: ['*', 'get'], nonResourceURLs: ['a', '/a b', '//a', '/a*', ''] }] })],
  ['valid', 'level', {}],
  ['unknown type', 'level', { '/spec/type': 'Foo' }],
  ['exempt', 'level', { '/spec/type': 'Exempt' }],
  ['limited missing', 'level', { '/spec/limited': null }],
  ['bad shares', 'level', limited({ nominalConcurrencyShares: -1, lendablePercent: 101, borrowingLimitPercent: -1 })],
  ['unknown response', 'level', limited({ limitResponse: { type: 'Foo' } })],
  ['queue missing', 'level', limited({ limitResponse: { type: 'Queue' } })],
  ['bad queues', 'level', queuing({ queues: -1, handSize: -1, queueLengthLimit: -1 })],
  ['hand too large', 'level', queuing({ handSize: 9 })],
  ['too much entropy', 'level', queuing({ queues: 1000, handSize: 10 })],
  ['valid', 'claim', {}],
  ['bad request', 'claim', request({ deviceClassName: 'A', allocationMode: 'Foo' })],
  ['bad count', 'claim', request({ allocationMode: 'All', count: 2 })],
  ['request of nothing', 'claim', { '/spec/devices/requests': [{ name: 'A' }] }],
  [
    'same request',
    'claim',
    { '/spec/devices/requests/1': { name: 'a', exactly: { deviceClassName: '', allocationMode: 'ExactCount', count: -1 } } },
  ],
  ['bad constraint', 'claim', { '/spec/devices/constraints': [{ requests: ['x', 'x'] }, { matchAttribute: 'a' }] }],
  ['bad config', 'claim', { '/spec/devices/config': [{ requests: ['a'] }, { opaque: { driver: '', parameters: [1] } }] }],
  ['update the spec', 'claim', request({ count: 2 }), UPDATE],
  ['template with name', 'claimTemplate', { '/spec/metadata': { name: 'x', uid: 'y' } }],
  ['template update', 'claimTemplate', { '/spec/spec/devices/requests/0/exactly/count': 2 }, UPDATE],
  ['bad class', 'deviceClass', { '/spec/config': [{}], '/spec/selectors': [{}] }],
];

export const policies = caseSet(bases, [...access, ...scaling, ...admission, ...flows]);
