import type { Json } from '../../src/kube/object.ts';

/** Objects that show what depends on what in built-in kinds, and some that are refused for their types. */
export interface BuiltinRequest {
  collection: string;
  object: Json;
}

function core(resource: string, kind: string, fields: Json): BuiltinRequest {
  return { collection: `/api/v1/namespaces/default/${resource}`, object: { apiVersion: 'v1', kind, metadata: { name: 'x' }, ...fields } };
}

function grouped(group: string, resource: string, kind: string, fields: Json): BuiltinRequest {
  return {
    collection: `/apis/${group}/namespaces/default/${resource}`,
    object: { apiVersion: group, kind, metadata: { name: 'x' }, ...fields },
  };
}

function pod(spec: Json, metadata: Json = {}): BuiltinRequest {
  return core('pods', 'Pod', {
    metadata: { name: 'x', ...metadata },
    spec: { priority: 0, preemptionPolicy: 'PreemptLowerPriority', tolerations: TOLERATIONS, ...spec },
  });
}

/** What DefaultTolerationSeconds and Priority admission add to every Pod. */
const TOLERATIONS = [
  { key: 'node.kubernetes.io/not-ready', operator: 'Exists', effect: 'NoExecute', tolerationSeconds: 300 },
  { key: 'node.kubernetes.io/unreachable', operator: 'Exists', effect: 'NoExecute', tolerationSeconds: 300 },
];

const PODS: BuiltinRequest[] = [
  ...[
    'a',
    'a:latest',
    'a:1',
    'registry.example:5000/a',
    'a@sha256:' + 'a'.repeat(64),
    'A',
    'localhost/a:v1',
    'a/b/c:latest@sha256:' + 'b'.repeat(64),
  ].map((image) => pod({ containers: [{ name: 'c', image }] })),
  pod({ containers: [{ name: 'c', image: 'a', resources: { limits: { cpu: '0.5', memory: '1024Mi' } } }] }),
  pod({ containers: [{ name: 'c', image: 'a', resources: { limits: { cpu: 1, memory: '1e3Mi' } } }] }),
  pod({ containers: [{ name: 'c', image: 'a', resources: { requests: { cpu: '1500m' } } }] }),
  pod({ containers: [{ name: 'c', image: 'a', resources: { requests: { cpu: '1500u', memory: '1Ki' } } }], serviceAccount: 's' }),
  pod({ containers: [{ name: 'c', image: 'a' }], serviceAccount: 's', serviceAccountName: 't', terminationGracePeriodSeconds: -5 }),
  pod({ hostNetwork: true, containers: [{ name: 'c', image: 'a', ports: [{ containerPort: 80 }] }] }),
  pod({ containers: [{ name: 'c', image: 'a' }], volumes: [{ name: 'v' }], schedulingGates: [{ name: 'example.com/g' }] }),
  pod(
    {
      containers: [{ name: 'c', image: 'a' }],
      topologySpreadConstraints: [
        { maxSkew: 1, topologyKey: 'z', whenUnsatisfiable: 'DoNotSchedule', labelSelector: {}, matchLabelKeys: ['app'] },
      ],
    },
    { labels: { app: 'a' } },
  ),
  pod({ containers: [{ name: 'c', image: 'a', livenessProbe: { httpGet: { port: 'http' } } }], terminationGracePeriodSeconds: 0 }),
];

const PORTS = [{ port: 80, name: 'a' }];
const SERVICES: BuiltinRequest[] = [
  { ports: PORTS },
  { ports: PORTS, clusterIP: 'None' },
  { ports: PORTS, clusterIP: 'None', selector: { a: 'b' } },
  { ports: PORTS, type: 'NodePort' },
  { ports: [...PORTS, { port: 80, name: 'b', protocol: 'UDP' }], type: 'LoadBalancer', sessionAffinity: 'ClientIP' },
  { ports: PORTS, type: 'LoadBalancer', allocateLoadBalancerNodePorts: false },
  { type: 'ExternalName', externalName: 'a.example' },
  { ports: PORTS, externalIPs: ['1.2.3.4'] },
  { ports: [{ port: 80, targetPort: 'http' }], clusterIP: '10.0.0.77' },
  { ports: PORTS, clusterIP: '10.1.0.77' },
  { ports: PORTS, type: 'NodePort', clusterIP: '10.0.0.1' },
  { ports: PORTS, ipFamilyPolicy: 'PreferDualStack' },
  { ports: PORTS, ipFamilyPolicy: 'RequireDualStack' },
  { ports: PORTS, ipFamilies: ['IPv6'] },
].map((spec) => core('services', 'Service', { spec }));

const TEMPLATE = { spec: { containers: [{ name: 'c', image: 'a' }], restartPolicy: 'Never' } };
const SELECTOR = { matchLabels: { app: 'a' } };
const ALWAYS = { metadata: { labels: { app: 'a' } }, spec: { containers: [{ name: 'c', image: 'a' }] } };
const WORKLOADS: BuiltinRequest[] = [
  { template: TEMPLATE },
  { template: TEMPLATE, completions: 3 },
  { template: TEMPLATE, parallelism: 3 },
  { template: TEMPLATE, completionMode: 'Indexed', completions: 3, backoffLimitPerIndex: 1 },
  { template: { metadata: { labels: { app: 'a' } }, ...TEMPLATE }, suspend: true },
  { template: { metadata: { labels: { app: 'a' } }, ...TEMPLATE }, manualSelector: true, selector: SELECTOR },
]
  .map((spec) => grouped('batch/v1', 'jobs', 'Job', { spec }))
  .concat([
    grouped('apps/v1', 'deployments', 'Deployment', { spec: { selector: SELECTOR, template: ALWAYS, strategy: { type: 'Recreate' } } }),
    grouped('apps/v1', 'deployments', 'Deployment', {
      spec: { selector: SELECTOR, template: ALWAYS, strategy: { rollingUpdate: { maxSurge: 0, maxUnavailable: '50%' } } },
      status: { replicas: 7 },
    }),
    grouped('apps/v1', 'statefulsets', 'StatefulSet', {
      spec: { selector: SELECTOR, template: ALWAYS, updateStrategy: { type: 'OnDelete' } },
    }),
    grouped('apps/v1', 'statefulsets', 'StatefulSet', {
      spec: { selector: SELECTOR, template: ALWAYS, updateStrategy: { type: 'RollingUpdate' } },
    }),
    grouped('apps/v1', 'daemonsets', 'DaemonSet', {
      spec: { selector: SELECTOR, template: ALWAYS, updateStrategy: { type: 'OnDelete' } },
    }),
    core('replicationcontrollers', 'ReplicationController', { spec: { template: ALWAYS } }),
  ]);

const OTHERS: BuiltinRequest[] = [
  core('configmaps', 'ConfigMap', { data: {}, binaryData: { a: 'AAA=' } }),
  core('configmaps', 'ConfigMap', { data: null, immutable: false }),
  core('secrets', 'Secret', { stringData: { a: 'b' }, data: { c: 'ZA==' } }),
  core('secrets', 'Secret', { stringData: { a: 'b' }, type: '' }),
  core('limitranges', 'LimitRange', {
    spec: { limits: [{ type: 'Container', max: { cpu: '2' }, min: { cpu: '100m', memory: '1Gi' }, default: { memory: '2Gi' } }] },
  }),
  core('events', 'Event', { involvedObject: { namespace: 'default' }, count: 1, lastTimestamp: '2024-01-01T01:00:00+01:00' }),
  core('serviceaccounts', 'ServiceAccount', { secrets: [], automountServiceAccountToken: false }),
  core('persistentvolumeclaims', 'PersistentVolumeClaim', {
    spec: {
      accessModes: ['ReadWriteOnce'],
      resources: { requests: { storage: '1Gi' } },
      dataSource: { kind: 'PersistentVolumeClaim', name: 'other' },
    },
  }),
  {
    collection: '/api/v1/namespaces',
    object: { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'x' }, status: { phase: 'Terminating' } },
  },
  { collection: '/api/v1/nodes', object: { apiVersion: 'v1', kind: 'Node', metadata: { name: 'x' }, status: { capacity: { cpu: '4' } } } },
  {
    collection: '/api/v1/nodes',
    object: { apiVersion: 'v1', kind: 'Node', metadata: { name: 'x' }, spec: { podCIDR: '10.9.0.0/24' } },
  },
  grouped('events.k8s.io/v1', 'events', 'Event', {
    eventTime: '2024-01-01T00:00:00.000000Z',
    reportingController: 'c',
    reportingInstance: 'i',
    action: 'a',
    reason: 'r',
    type: 'Normal',
    regarding: { namespace: 'default' },
  }),
  grouped('coordination.k8s.io/v1', 'leases', 'Lease', {
    spec: { renewTime: '2024-01-01T00:00:00.123456+02:00', holderIdentity: 'h' },
  }),
  grouped('rbac.authorization.k8s.io/v1', 'rolebindings', 'RoleBinding', {
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'admin' },
    subjects: [
      { kind: 'ServiceAccount', name: 's', namespace: 'default' },
      { kind: 'Group', name: 'g' },
    ],
  }),
  grouped('networking.k8s.io/v1', 'networkpolicies', 'NetworkPolicy', { spec: { podSelector: {}, egress: [{}] } }),
  grouped('autoscaling/v2', 'horizontalpodautoscalers', 'HorizontalPodAutoscaler', {
    spec: {
      maxReplicas: 3,
      scaleTargetRef: { apiVersion: 'apps/v1', kind: 'Deployment', name: 'd' },
      behavior: { scaleDown: { stabilizationWindowSeconds: 5 } },
    },
  }),
  grouped('autoscaling/v1', 'horizontalpodautoscalers', 'HorizontalPodAutoscaler', {
    metadata: {
      name: 'x',
      annotations: {
        'autoscaling.alpha.kubernetes.io/metrics': '[{"type":"Pods","pods":{"metricName":"m","targetAverageValue":"1"}}]',
        'autoscaling.alpha.kubernetes.io/behavior':
          '{"ScaleUp":{"StabilizationWindowSeconds":1,"SelectPolicy":"Min","Policies":[{"Type":"Pods","Value":1,"PeriodSeconds":3}]}}',
      },
    },
    spec: { maxReplicas: 3, scaleTargetRef: { apiVersion: 'apps/v1', kind: 'Deployment', name: 'd' }, targetCPUUtilizationPercentage: 50 },
  }),
  {
    collection: '/apis/certificates.k8s.io/v1/certificatesigningrequests',
    object: {
      apiVersion: 'certificates.k8s.io/v1',
      kind: 'CertificateSigningRequest',
      metadata: { name: 'x' },
      spec: { signerName: 'example.com/s', usages: ['client auth'], username: 'mallory', request: certificateRequest() },
    },
  },
  {
    collection: '/apis/rbac.authorization.k8s.io/v1/clusterroles',
    object: {
      apiVersion: 'rbac.authorization.k8s.io/v1',
      kind: 'ClusterRole',
      metadata: { name: 'x' },
      rules: [],
      aggregationRule: { clusterRoleSelectors: [{ matchLabels: { a: 'b' } }] },
    },
  },
];

/** A certificate request for CN=x, which kube-apiserver insists on parsing. */
function certificateRequest(): string {
  const lines = [
    'MIHGMG4CAQAwDDEKMAgGA1UEAwwBeDBZMBMGByqGSM49AgEGCCqGSM49AwEHA0IA',
    'BBQrUb9S68C0J/E7bPm+MNLd11KDS5135gFzkUL3hfW1OSaz3i6VyQEFMNgGWRBe',
    '5Cha+OdfO7Cia9enmxqW3uOgADAKBggqhkjOPQQDAgNIADBFAiEAzHDbf6vKxTGm',
    'uldP5K1ROlLLQomCFrTXuoTN0FjKxHsCIHQtHyXP8JSLwbFyFgts4ul3wv1s/bN+',
    '0k/ExgAHybns',
  ];
  return Buffer.from(`-----BEGIN CERTIFICATE REQUEST-----\n${lines.join('\n')}\n-----END CERTIFICATE REQUEST-----\n`).toString('base64');
}

const WRONG: BuiltinRequest[] = [
  { spec: 'x' },
  { spec: { replicas: '3' } },
  { spec: { replicas: 1.5 } },
  { spec: { replicas: 3_000_000_000 } },
  { spec: { paused: 'true' } },
  { spec: { template: { spec: { containers: 'x' } } } },
  { spec: { template: { spec: { containers: ['x'] } } } },
  { spec: { template: { spec: { containers: [{ name: 'a', imagePullPolicy: 1 }] } } } },
  { spec: { template: { spec: { containers: [{ args: 'x' }] } } } },
  { spec: { template: { spec: { containers: [{ ports: [{ containerPort: '80' }] }] } } } },
  { spec: { template: { spec: { containers: [{ resources: { limits: { cpu: 'x' } } }] } } } },
  { spec: { template: { spec: { containers: [{ resources: { limits: { cpu: '1x' } } }] } } } },
  { spec: { template: { spec: { containers: [{ resources: { limits: { cpu: true } } }] } } } },
  { spec: { strategy: { rollingUpdate: { maxSurge: 1.5 } } } },
  { spec: { strategy: { rollingUpdate: { maxSurge: true } } } },
  { spec: { strategy: { rollingUpdate: { maxSurge: {} } } } },
  { metadata: { name: 'x', labels: { a: 1 } } },
  { metadata: { name: 'x', labels: ['a'] } },
  { metadata: { name: 'x', creationTimestamp: 'yesterday' } },
  { metadata: { name: 'x', creationTimestamp: '2024-13-01T00:00:00Z' } },
  { metadata: { name: 'x', creationTimestamp: 5 } },
  { metadata: { name: 'x', ownerReferences: [{ controller: 'yes' }] } },
  { metadata: [] },
  { status: { conditions: [{ lastUpdateTime: '2024-01-01' }] } },
]
  .map((fields) => grouped('apps/v1', 'deployments', 'Deployment', fields))
  .concat([
    core('secrets', 'Secret', { data: { a: 'not base64' } }),
    core('secrets', 'Secret', { data: { a: 'abc' } }),
    core('secrets', 'Secret', { data: { a: 5 } }),
    core('secrets', 'Secret', { data: 'x' }),
    core('configmaps', 'ConfigMap', { data: { a: 5 } }),
    grouped('coordination.k8s.io/v1', 'leases', 'Lease', { spec: { renewTime: '2024-01-01T00:00:00Z' } }),
    grouped('coordination.k8s.io/v1', 'leases', 'Lease', { spec: { renewTime: 'soon' } }),
  ]);

export const REQUESTS: BuiltinRequest[] = [...PODS, ...SERVICES, ...WORKLOADS, ...OTHERS, ...WRONG];
