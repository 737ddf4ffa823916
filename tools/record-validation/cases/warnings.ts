import type { Json } from '../../../src/kube/object.ts';
import type { Base, Change } from '../case.ts';
import { caseSet, clusterScoped, namespaced, UPDATE, type Row } from './build.ts';

/** Objects that are accepted with advice. */
const container = { name: 'c', image: 'i' };
const template = { metadata: { labels: { a: 'b' } }, spec: { containers: [container] } };
const selector = { matchLabels: { a: 'b' } };
const C0 = '/spec/containers/0';

const bases: Record<string, Base> = {
  pod: namespaced('', 'v1', 'pods', 'Pod', 'warned', { spec: { containers: [container, { name: 'd', image: 'i' }] } }),
  deployment: namespaced('apps', 'v1', 'deployments', 'Deployment', 'warned', { spec: { selector, template } }),
  daemonSet: namespaced('apps', 'v1', 'daemonsets', 'DaemonSet', 'warned', { spec: { selector, template } }),
  statefulSet: namespaced('apps', 'v1', 'statefulsets', 'StatefulSet', 'warned', { spec: { selector, template } }),
  cronJob: namespaced('batch', 'v1', 'cronjobs', 'CronJob', 'warned', {
    spec: { schedule: '@daily', jobTemplate: { spec: { template: { spec: { restartPolicy: 'Never', containers: [container] } } } } },
  }),
  service: {
    ...namespaced('', 'v1', 'services', 'Service', 'warned', {
      spec: { clusterIP: '10.0.0.104', type: 'LoadBalancer', ports: [{ port: 80, nodePort: 30104 }] },
    }),
    forCreate: {
      '/spec/clusterIP': null,
      '/spec/clusterIPs': null,
      '/spec/ipFamilies': null,
      '/spec/ipFamilyPolicy': null,
      '/spec/ports/0/nodePort': null,
    },
  },
  headless: {
    ...namespaced('', 'v1', 'services', 'Service', 'warned2', { spec: { clusterIP: 'None', ports: [{ port: 80 }] } }),
    forCreate: { '/spec/ipFamilies': null, '/spec/ipFamilyPolicy': null },
  },
  ingress: namespaced('networking.k8s.io', 'v1', 'ingresses', 'Ingress', 'warned', {
    spec: { defaultBackend: { service: { name: 's', port: { number: 1 } } } },
  }),
  policy: namespaced('networking.k8s.io', 'v1', 'networkpolicies', 'NetworkPolicy', 'warned', { spec: { podSelector: {} } }),
  slice: namespaced('discovery.k8s.io', 'v1', 'endpointslices', 'EndpointSlice', 'warned', { addressType: 'IPv4', endpoints: [] }),
  endpoints: namespaced('', 'v1', 'endpoints', 'Endpoints', 'warned', {}),
  volume: clusterScoped('', 'v1', 'persistentvolumes', 'PersistentVolume', 'warned', {
    spec: { accessModes: ['ReadWriteOnce'], capacity: { storage: '1Gi' }, nfs: { server: 'a', path: '/b' } },
  }),
  claim: namespaced('', 'v1', 'persistentvolumeclaims', 'PersistentVolumeClaim', 'warned', {
    spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } },
  }),
  quota: namespaced('', 'v1', 'resourcequotas', 'ResourceQuota', 'warned', { spec: { hard: { pods: '1' } } }),
  account: namespaced('', 'v1', 'serviceaccounts', 'ServiceAccount', 'warned', {}),
  secret: namespaced('', 'v1', 'secrets', 'Secret', 'warned', { type: 'kubernetes.io/tls', data: { 'tls.crt': '', 'tls.key': '' } }),
  node: clusterScoped('', 'v1', 'nodes', 'Node', 'warned', {}),
  runtime: clusterScoped('node.k8s.io', 'v1', 'runtimeclasses', 'RuntimeClass', 'warned', { handler: 'h' }),
  class: clusterScoped('storage.k8s.io', 'v1', 'storageclasses', 'StorageClass', 'warned', { provisioner: 'p' }),
  driver: clusterScoped('storage.k8s.io', 'v1', 'csidrivers', 'CSIDriver', 'warned', { spec: {} }),
};

const env = (...list: Json[]): Change => ({ [`${C0}/env`]: list });
const ports = (...list: Json[]): Change => ({ [`${C0}/ports`]: list.map((p) => ({ protocol: 'TCP', ...p })) });
const volume = (source: Json): Change => ({ '/spec/volumes': [{ name: 'v', ...source }] });
const term = (key: string, value: string): Json => ({ matchExpressions: [{ key, operator: 'In', values: [value] }] });
const OLD_ZONE = 'failure-domain.beta.kubernetes.io/zone';

const pods: Row[] = [
  ['nothing', 'pod', {}],
  ['dotted name', 'pod', { '/metadata/name': 'a.b' }],
  ['old node label', 'pod', { '/spec/nodeSelector': { 'beta.kubernetes.io/os': 'linux' } }],
  [
    'old labels in affinity',
    'pod',
    {
      '/spec/affinity': {
        nodeAffinity: {
          requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms: [term(OLD_ZONE, 'a')] },
          preferredDuringSchedulingIgnoredDuringExecution: [{ weight: 1, preference: term('x', '-a-') }],
        },
      },
    },
  ],
  [
    'spread without selector',
    'pod',
    { '/spec/topologySpreadConstraints': [{ maxSkew: 1, topologyKey: OLD_ZONE, whenUnsatisfiable: 'DoNotSchedule' }] },
  ],
  [
    'affinity without selector',
    'pod',
    {
      '/spec/affinity': {
        podAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [{ topologyKey: 'z' }] },
        podAntiAffinity: { preferredDuringSchedulingIgnoredDuringExecution: [{ weight: 1, podAffinityTerm: { topologyKey: 'z' } }] },
      },
    },
  ],
  [
    'old annotations',
    'pod',
    {
      '/metadata/annotations': {
        'scheduler.alpha.kubernetes.io/critical-pod': '',
        'seccomp.security.alpha.kubernetes.io/pod': 'unconfined',
        'container.seccomp.security.alpha.kubernetes.io/c': 'unconfined',
      },
    },
  ],
  [
    'old volumes',
    'pod',
    {
      '/spec/volumes': [
        { name: 'a', gitRepo: { repository: 'x' } },
        { name: 'b', glusterfs: { endpoints: 'a', path: 'b' } },
        { name: 'c', cephfs: { monitors: ['a'] } },
      ],
    },
  ],
  [
    'overlapping files',
    'pod',
    volume({
      configMap: {
        name: 'm',
        defaultMode: 420,
        items: [
          { key: 'a', path: 'x' },
          { key: 'b', path: 'x/y' },
        ],
      },
    }),
  ],
  [
    'overlapping projections',
    'pod',
    volume({
      projected: {
        defaultMode: 420,
        sources: [
          { secret: { name: 's', items: [{ key: 'a', path: 'd/x' }] } },
          { configMap: { name: 'm', items: [{ key: 'a', path: 'd' }] } },
        ],
      },
    }),
  ],
  [
    'fraction of a byte in a claim',
    'pod',
    volume({
      ephemeral: {
        volumeClaimTemplate: {
          spec: { accessModes: ['ReadWriteOnce'], volumeMode: 'Filesystem', resources: { requests: { storage: '1500m' } } },
        },
      },
    }),
  ],
  [
    'same aliases and secrets',
    'pod',
    { '/spec/hostAliases': [{ ip: '1.1.1.1' }, { ip: '1.1.1.1' }], '/spec/imagePullSecrets': [{ name: 'a' }, { name: 'a' }] },
  ],
  [
    'fractions of bytes',
    'pod',
    {
      [`${C0}/resources`]: {
        limits: { memory: '100m', 'ephemeral-storage': '1500m' },
        requests: { memory: '50m', 'ephemeral-storage': '500m' },
      },
    },
  ],
  ['hidden variables', 'pod', env({ name: 'A', value: '1' }, { name: 'A', value: '$(A)2' }, { name: 'A', value: '3' })],
  [
    'same ports',
    'pod',
    {
      ...ports({ containerPort: 80, name: 'a' }, { containerPort: 80 }, { containerPort: 80, hostPort: 8080 }),
      '/spec/containers/1/ports': [{ containerPort: 81, name: 'a', protocol: 'TCP' }],
    },
  ],
  ['ambiguous ports', 'pod', ports({ containerPort: 80, hostPort: 80 }, { containerPort: 80, hostPort: 80, hostIP: '1.1.1.1' })],
  ['host ip without port', 'pod', ports({ containerPort: 80, hostIP: '1.1.1.1' })],
  ['odd addresses', 'pod', { '/spec/dnsConfig': { nameservers: ['010.1.1.1', '2001:DB8::1', '::ffff:1.2.3.4'] } }],
  [
    'update says nothing',
    'pod',
    { [`${C0}/image`]: 'j', '/metadata/annotations': { 'scheduler.alpha.kubernetes.io/critical-pod': '' } },
    UPDATE,
  ],
];

const others: Row[] = [
  ['dotted name', 'deployment', { '/metadata/name': 'a.b' }],
  [
    'template',
    'deployment',
    {
      '/spec/template/spec/nodeSelector': { 'beta.kubernetes.io/arch': 'x' },
      '/spec/template/metadata/annotations': { 'container.apparmor.security.beta.kubernetes.io/c': 'unconfined' },
    },
  ],
  ['negative grace', 'deployment', { '/spec/template/spec/terminationGracePeriodSeconds': -1 }],
  ['template on update', 'deployment', { '/spec/template/spec/nodeSelector': { 'beta.kubernetes.io/arch': 'x' } }, UPDATE],
  ['template', 'daemonSet', { '/spec/template/spec/nodeSelector': { 'beta.kubernetes.io/arch': 'x' } }],
  ['template on update', 'daemonSet', { '/spec/template/spec/nodeSelector': { 'beta.kubernetes.io/arch': 'x' } }, UPDATE],
  ['negative history', 'statefulSet', { '/spec/revisionHistoryLimit': -1 }],
  [
    'claims',
    'statefulSet',
    {
      '/spec/volumeClaimTemplates': [
        {
          metadata: { name: 'a' },
          spec: { accessModes: ['ReadWriteOnce'], volumeMode: 'Filesystem', resources: { requests: { storage: '1500m' } } },
        },
      ],
    },
  ],
  ['template', 'cronJob', { '/spec/jobTemplate/spec/template/spec/nodeSelector': { 'beta.kubernetes.io/arch': 'x' } }],
  [
    'ranges and addresses',
    'service',
    {
      '/spec/loadBalancerSourceRanges': ['10.0.0.1/8', '2001:DB8::/32'],
      '/spec/loadBalancerIP': '01.1.1.1',
      '/spec/externalIPs': ['2001:0::1'],
      '/spec/externalName': 'x',
      '/spec/trafficDistribution': 'PreferClose',
      '/metadata/annotations': { 'service.kubernetes.io/topology-aware-hints': 'Auto' },
    },
  ],
  [
    'headless',
    'headless',
    {
      '/spec/sessionAffinity': 'ClientIP',
      '/spec/sessionAffinityConfig': { clientIP: { timeoutSeconds: 5 } },
      '/spec/loadBalancerIP': '1.1.1.1',
    },
  ],
  ['annotation', 'ingress', { '/metadata/annotations': { 'kubernetes.io/ingress.class': 'x' } }],
  ['ambiguous blocks', 'policy', { '/spec/ingress': [{ from: [{ ipBlock: { cidr: '10.0.0.1/8', except: ['10.1.0.1/16'] } }] }] }],
  ['odd addresses', 'slice', { '/endpoints': [{ addresses: ['010.1.1.1'] }] }],
  ['names', 'slice', { '/addressType': 'FQDN', '/endpoints': [{ addresses: ['a.b'] }] }],
  ['odd addresses', 'endpoints', { '/subsets': [{ addresses: [{ ip: '010.1.1.1' }] }] }],
  [
    'recycle',
    'volume',
    {
      '/spec/persistentVolumeReclaimPolicy': 'Recycle',
      '/metadata/annotations': { 'volume.beta.kubernetes.io/storage-class': 'x', 'volume.beta.kubernetes.io/mount-options': 'ro' },
    },
  ],
  ['old zone', 'volume', { '/spec/nodeAffinity': { required: { nodeSelectorTerms: [term(OLD_ZONE, 'a')] } } }],
  [
    'fraction and annotation',
    'claim',
    { '/spec/resources/requests/storage': '1500m', '/metadata/annotations': { 'volume.beta.kubernetes.io/storage-class': 'x' } },
  ],
  ['requests above limits', 'quota', { '/spec/hard': { cpu: '2', 'limits.cpu': '1', 'requests.memory': '2Gi', 'limits.memory': '1Gi' } }],
  ['annotation', 'account', { '/metadata/annotations': { 'kubernetes.io/enforce-mountable-secrets': 'true' } }],
  ['annotation on update', 'account', { '/metadata/annotations': { 'kubernetes.io/enforce-mountable-secrets': 'true' } }, UPDATE],
  ['no key pair', 'secret', {}],
  ['ambiguous cidr', 'node', { '/spec/podCIDR': '10.1.0.1/24', '/spec/podCIDRs': ['10.1.0.1/24'] }],
  ['old label', 'runtime', { '/scheduling': { nodeSelector: { 'beta.kubernetes.io/arch': 'x' } } }],
  ['old label', 'class', { '/allowedTopologies': [{ matchLabelExpressions: [{ key: OLD_ZONE, values: ['a'] }] }] }],
  ['tokens', 'driver', { '/spec/tokenRequests': [{ audience: 'a' }] }],
];

export const warned = caseSet(bases, [...pods, ...others]);
