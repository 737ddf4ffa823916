import type { Json } from '../../../src/kube/object.ts';
import type { Base, Case, CaseSet, Change } from '../case.ts';

const COLLECTION = '/api/v1/namespaces/default/pods';
const C0 = '/spec/containers/0';

function pod(name: string, spec: Json, metadata: Json = {}): Base {
  return {
    collection: COLLECTION,
    object: { apiVersion: 'v1', kind: 'Pod', metadata: { name, namespace: 'default', ...metadata }, spec },
  };
}

const bases: Record<string, Base> = {
  plain: pod('plain', { containers: [{ name: 'main', image: 'nginx' }] }),
  rich: pod('rich', {
    nodeName: 'node-1',
    serviceAccountName: 'builder',
    initContainers: [
      { name: 'init', image: 'busybox' },
      { name: 'side', image: 'proxy', restartPolicy: 'Always', resources: { requests: { cpu: '10m' } } },
    ],
    containers: [
      {
        name: 'main',
        image: 'nginx',
        ports: [{ name: 'http', containerPort: 80, hostPort: 8080 }],
        env: [{ name: 'A', value: '1' }],
        resources: { limits: { cpu: '1', memory: '1Gi' }, requests: { cpu: '500m', memory: '512Mi' } },
        volumeMounts: [{ name: 'data', mountPath: '/data' }],
        livenessProbe: { httpGet: { path: '/', port: 80 } },
        readinessProbe: { tcpSocket: { port: 'http' } },
        startupProbe: { exec: { command: ['true'] } },
        lifecycle: { preStop: { sleep: { seconds: 1 } } },
      },
      { name: 'second', image: 'redis' },
    ],
    volumes: [
      { name: 'data', emptyDir: {} },
      { name: 'claim', persistentVolumeClaim: { claimName: 'c' } },
    ],
    tolerations: [{ key: 'a', operator: 'Exists', effect: 'NoExecute', tolerationSeconds: 30 }],
    activeDeadlineSeconds: 600,
  }),
  gated: pod('gated', {
    containers: [{ name: 'main', image: 'nginx' }],
    schedulingGates: [{ name: 'example.com/wait' }],
    nodeSelector: { disk: 'ssd' },
    affinity: {
      nodeAffinity: {
        requiredDuringSchedulingIgnoredDuringExecution: {
          nodeSelectorTerms: [{ matchExpressions: [{ key: 'zone', operator: 'In', values: ['a'] }] }],
        },
      },
    },
  }),
  running: {
    ...pod('running', {
      nodeName: 'node-1',
      restartPolicy: 'Never',
      containers: [{ name: 'main', image: 'nginx', resources: { requests: { cpu: '100m' }, limits: { cpu: '200m' } } }],
      initContainers: [{ name: 'init', image: 'busybox' }],
    }),
    status: {
      containerStatuses: [
        { name: 'main', image: 'nginx', imageID: '', ready: false, restartCount: 0, state: { terminated: { exitCode: 1 } } },
      ],
    },
  },
};

const MOUNTED = { terminationMessagePath: '/x', terminationMessagePolicy: 'File', imagePullPolicy: 'Always', resources: {} };
const volume = (source: Json): Change => ({ '/spec/volumes': [{ name: 'v', ...source }] });
const securityContext = (context: Json): Change => ({ [`${C0}/securityContext`]: context });
const resources = (value: Json): Change => ({ [`${C0}/resources`]: value });
const probe = (handler: Json, more: Json = {}): Json => ({
  timeoutSeconds: 1,
  periodSeconds: 10,
  successThreshold: 1,
  failureThreshold: 3,
  ...handler,
  ...more,
});
const claimTemplate = (spec: Json): Json => ({ ephemeral: { volumeClaimTemplate: { spec: { volumeMode: 'Filesystem', ...spec } } } });

const creates: [name: string, change: Change, base?: string][] = [
  ['valid', {}],
  ['valid rich', {}, 'rich'],
  ['no containers', { '/spec/containers': [] }],
  ['container without name', { [`${C0}/name`]: '' }],
  ['container with capital name', { [`${C0}/name`]: 'Main' }],
  ['container with dotted name', { [`${C0}/name`]: 'a.b' }],
  ['container with long name', { [`${C0}/name`]: 'a'.repeat(64) }],
  ['container without image', { [`${C0}/image`]: '' }],
  ['image with spaces', { [`${C0}/image`]: ' nginx ' }],
  ['unknown pull policy', { [`${C0}/imagePullPolicy`]: 'Sometimes' }],
  ['unknown termination message policy', { [`${C0}/terminationMessagePolicy`]: 'Nowhere' }],
  ['unknown restart policy', { '/spec/restartPolicy': 'Maybe' }],
  ['unknown dns policy', { '/spec/dnsPolicy': 'Maybe' }],
  ['duplicate container names', { '/spec/containers/1/name': 'main' }, 'rich'],
  ['init container with the name of a container', { '/spec/initContainers/0/name': 'main' }, 'rich'],
  ['port out of range', { [`${C0}/ports`]: [{ containerPort: 70000, protocol: 'TCP' }] }],
  ['port missing', { [`${C0}/ports`]: [{ protocol: 'TCP' }] }],
  ['port name too long', { [`${C0}/ports`]: [{ name: 'a-very-long-port-name', containerPort: 1, protocol: 'TCP' }] }],
  ['port name without letter', { [`${C0}/ports`]: [{ name: '80', containerPort: 1, protocol: 'TCP' }] }],
  ['port name with dashes', { [`${C0}/ports`]: [{ name: '-a--b-', containerPort: 1, protocol: 'TCP' }] }],
  ['unknown protocol', { [`${C0}/ports`]: [{ containerPort: 1, protocol: 'ICMP' }] }],
  [
    'duplicate port names',
    {
      [`${C0}/ports`]: [
        { name: 'a', containerPort: 1, protocol: 'TCP' },
        { name: 'a', containerPort: 2, protocol: 'TCP' },
      ],
    },
  ],
  ['host port conflict', { '/spec/containers/1/ports': [{ containerPort: 80, hostPort: 8080, protocol: 'TCP' }] }, 'rich'],
  ['host port out of range', { [`${C0}/ports`]: [{ containerPort: 1, hostPort: -1, protocol: 'TCP' }] }],
  ['host network needs same ports', { '/spec/hostNetwork': true, [`${C0}/ports/0/hostPort`]: 81 }, 'rich'],
  ['env without name', { [`${C0}/env`]: [{ value: '1' }] }],
  ['env with equals sign', { [`${C0}/env`]: [{ name: 'a=b', value: '1' }] }],
  ['env with both value and source', { [`${C0}/env`]: [{ name: 'a', value: '1', valueFrom: { secretKeyRef: { name: 's', key: 'k' } } }] }],
  ['env with empty source', { [`${C0}/env`]: [{ name: 'a', valueFrom: {} }] }],
  [
    'env with two sources',
    { [`${C0}/env`]: [{ name: 'a', valueFrom: { secretKeyRef: { name: 's', key: 'k' }, configMapKeyRef: { name: 'c', key: 'k' } } }] },
  ],
  ['env from secret without names', { [`${C0}/env`]: [{ name: 'a', valueFrom: { secretKeyRef: { name: '', key: '' } } }] }],
  ['env from bad config key', { [`${C0}/env`]: [{ name: 'a', valueFrom: { configMapKeyRef: { name: 'X', key: 'a/b' } } }] }],
  ['env from unknown field', { [`${C0}/env`]: [{ name: 'a', valueFrom: { fieldRef: { apiVersion: 'v1', fieldPath: 'spec.unknown' } } }] }],
  [
    'env from unsupported field',
    { [`${C0}/env`]: [{ name: 'a', valueFrom: { fieldRef: { apiVersion: 'v1', fieldPath: 'status.phase' } } }] },
  ],
  [
    'env from field of other version',
    { [`${C0}/env`]: [{ name: 'a', valueFrom: { fieldRef: { apiVersion: 'v2', fieldPath: 'metadata.name' } } }] },
  ],
  ['env from field without path', { [`${C0}/env`]: [{ name: 'a', valueFrom: { fieldRef: { apiVersion: 'v1', fieldPath: '' } } }] }],
  [
    'env from bad label key',
    { [`${C0}/env`]: [{ name: 'a', valueFrom: { fieldRef: { apiVersion: 'v1', fieldPath: "metadata.labels['-x']" } } }] },
  ],
  [
    'env from subscript of other field',
    { [`${C0}/env`]: [{ name: 'a', valueFrom: { fieldRef: { apiVersion: 'v1', fieldPath: "metadata.name['x']" } } }] },
  ],
  [
    'env from unknown resource',
    { [`${C0}/env`]: [{ name: 'a', valueFrom: { resourceFieldRef: { resource: 'limits.gpu', divisor: '0' } } }] },
  ],
  ['env with bad divisor', { [`${C0}/env`]: [{ name: 'a', valueFrom: { resourceFieldRef: { resource: 'limits.cpu', divisor: '1Mi' } } }] }],
  [
    'env with bad memory divisor',
    { [`${C0}/env`]: [{ name: 'a', valueFrom: { resourceFieldRef: { resource: 'limits.memory', divisor: '2' } } }] },
  ],
  [
    'env from file in missing volume',
    { [`${C0}/env`]: [{ name: 'a', valueFrom: { fileKeyRef: { key: 'k', volumeName: 'x', path: '../p', optional: false } } }] },
  ],
  [
    'env from file without anything',
    { [`${C0}/env`]: [{ name: 'a', valueFrom: { fileKeyRef: { key: '', volumeName: '', path: '', optional: false } } }] },
  ],
  ['envFrom without source', { [`${C0}/envFrom`]: [{ prefix: 'a=' }] }],
  ['envFrom with two sources', { [`${C0}/envFrom`]: [{ configMapRef: { name: 'a' }, secretRef: { name: '' } }] }],
  ['mount of missing volume', { [`${C0}/volumeMounts`]: [{ name: 'x', mountPath: '/x' }] }],
  ['mount without path', { [`${C0}/volumeMounts`]: [{ name: 'data', mountPath: '' }] }, 'rich'],
  ['mount twice at the same path', { [`${C0}/volumeMounts/1`]: { name: 'data', mountPath: '/data' } }, 'rich'],
  ['mount of subpath up', { [`${C0}/volumeMounts/0/subPath`]: '../x' }, 'rich'],
  ['mount of absolute subpath', { [`${C0}/volumeMounts/0/subPath`]: '/x', [`${C0}/volumeMounts/0/subPathExpr`]: '/x' }, 'rich'],
  ['mount with unknown propagation', { [`${C0}/volumeMounts/0/mountPropagation`]: 'Sideways' }, 'rich'],
  ['bidirectional mount without privilege', { [`${C0}/volumeMounts/0/mountPropagation`]: 'Bidirectional' }, 'rich'],
  ['recursive read-only of a writable mount', { [`${C0}/volumeMounts/0/recursiveReadOnly`]: 'Enabled' }, 'rich'],
  ['recursive read-only unknown', { [`${C0}/volumeMounts/0/recursiveReadOnly`]: 'Maybe' }, 'rich'],
  ['device of an emptyDir', { [`${C0}/volumeDevices`]: [{ name: 'data', devicePath: '/data' }] }, 'rich'],
  ['device of missing volume', { [`${C0}/volumeDevices`]: [{ name: 'x', devicePath: '' }] }, 'rich'],
  ['device path up', { [`${C0}/volumeDevices`]: [{ name: 'claim', devicePath: '/dev/../x' }] }, 'rich'],
  ['volume without name', { '/spec/volumes': [{ name: '', emptyDir: {} }] }],
  ['volume with bad name', { '/spec/volumes': [{ name: 'a_b', emptyDir: {} }] }],
  [
    'volume twice',
    {
      '/spec/volumes': [
        { name: 'a', emptyDir: {} },
        { name: 'a', emptyDir: {} },
      ],
    },
  ],
  ['volume of two types', volume({ emptyDir: {}, configMap: { name: 'a', defaultMode: 420 } })],
  [
    'volume of three types',
    volume({ hostPath: { path: '/a', type: '' }, gcePersistentDisk: { pdName: 'x' }, cephfs: { monitors: ['a'] } }),
  ],
  ['emptyDir with negative size', volume({ emptyDir: { sizeLimit: '-1Gi' } })],
  ['hostPath without path', volume({ hostPath: { path: '', type: '' } })],
  ['hostPath up', volume({ hostPath: { path: '/a/../b', type: 'Nothing' } })],
  ['configMap volume without name', volume({ configMap: { defaultMode: 420 } })],
  ['configMap volume with bad mode', volume({ configMap: { name: 'a', defaultMode: 1000 } })],
  [
    'configMap volume with bad items',
    volume({
      configMap: {
        name: 'a',
        defaultMode: 420,
        items: [
          { key: '', path: '' },
          { key: 'a', path: '../b', mode: -1 },
        ],
      },
    }),
  ],
  [
    'secret volume without name',
    volume({
      secret: {
        defaultMode: 420,
        items: [
          { key: 'a', path: '/abs' },
          { key: 'b', path: '..x' },
        ],
      },
    }),
  ],
  ['claim volume without name', volume({ persistentVolumeClaim: { claimName: '' } })],
  ['nfs volume with relative path', volume({ nfs: { server: '', path: 'a' } })],
  ['iscsi volume wrong', volume({ iscsi: { targetPortal: '', iqn: 'foo', lun: 300, iscsiInterface: 'default' } })],
  [
    'iscsi volume with chap',
    volume({ iscsi: { targetPortal: 'a', iqn: 'iqn.bad', lun: 0, chapAuthSession: true, iscsiInterface: 'default' } }),
  ],
  ['rbd volume empty', volume({ rbd: { monitors: [], image: '', pool: 'rbd', user: 'admin', keyring: '/etc/ceph/keyring' } })],
  ['flex volume reserved option', volume({ flexVolume: { driver: '', options: { 'a.kubernetes.io/x': '1' } } })],
  ['csi volume wrong', volume({ csi: { driver: 'A_b', nodePublishSecretRef: {} } })],
  ['fc volume wrong', volume({ fc: { targetWWNs: ['a'], wwids: ['b'] } })],
  [
    'downward volume wrong',
    volume({
      downwardAPI: { defaultMode: 420, items: [{ path: '' }, { path: 'a', resourceFieldRef: { resource: 'limits.cpu', divisor: '0' } }] },
    }),
  ],
  ['image volume without reference', volume({ image: { pullPolicy: 'Maybe' } })],
  [
    'azureDisk volume wrong',
    volume({ azureDisk: { diskName: '', diskURI: 'x', cachingMode: 'Fast', kind: 'Managed', fsType: 'ext4', readOnly: false } }),
  ],
  ['projected volume wrong', volume({ projected: { defaultMode: 420, sources: [{ secret: { name: '' }, configMap: { name: 'a' } }] } })],
  [
    'projected volume with same paths',
    volume({
      projected: {
        defaultMode: 420,
        sources: [
          { secret: { name: 's', items: [{ key: 'a', path: 'p' }] } },
          { configMap: { name: 'c', items: [{ key: 'a', path: 'p' }] } },
        ],
      },
    }),
  ],
  [
    'projected token too short',
    { ...volume({ projected: { defaultMode: 420, sources: [{ serviceAccountToken: { expirationSeconds: 1, path: '' } }] } }) },
  ],
  ['ephemeral volume without template', volume({ ephemeral: {} })],
  ['ephemeral volume with empty template', volume(claimTemplate({ resources: {} }))],
  [
    'ephemeral volume with bad modes',
    volume(
      claimTemplate({
        accessModes: ['ReadWriteOncePod', 'ReadWriteOnce', 'x'],
        resources: { requests: { storage: '0' } },
        volumeMode: 'Tape',
      }),
    ),
  ],
  ['negative cpu', resources({ requests: { cpu: '-1' } })],
  ['request above limit', resources({ limits: { cpu: '1' }, requests: { cpu: '2' } })],
  ['unknown resource', resources({ requests: { foo: '1' } })],
  ['bad resource name', resources({ limits: { 'a/b/c': '1' }, requests: { 'a/b/c': '1' } })],
  ['extended resource without limit', resources({ requests: { 'example.com/gpu': '1' } })],
  ['extended resource not whole', resources({ requests: { 'example.com/gpu': '500m' }, limits: { 'example.com/gpu': '500m' } })],
  ['extended resource overcommitted', resources({ requests: { 'example.com/gpu': '1' }, limits: { 'example.com/gpu': '2' } })],
  ['hugepages alone', resources({ limits: { 'hugepages-2Mi': '2Mi' }, requests: { 'hugepages-2Mi': '2Mi' } })],
  ['hugepages indivisible', resources({ limits: { cpu: '1', 'hugepages-2Mi': '3Mi' }, requests: { cpu: '1', 'hugepages-2Mi': '3Mi' } })],
  ['claim not in the pod', resources({ claims: [{ name: 'gpu' }, { name: '' }] })],
  [
    'pod-level resources too small',
    {
      '/spec/resources': { requests: { cpu: '100m' }, limits: { cpu: '500m' } },
      [`${C0}/resources`]: { requests: { cpu: '200m' }, limits: { cpu: '1' } },
    },
  ],
  [
    'pod-level resource unknown',
    { '/spec/resources': { limits: { 'ephemeral-storage': '1Gi' }, requests: { 'ephemeral-storage': '1Gi' } } },
  ],
  ['probe without handler', { [`${C0}/livenessProbe`]: probe({}) }],
  ['probe with two handlers', { [`${C0}/livenessProbe`]: probe({ exec: { command: ['a'] }, tcpSocket: { port: 1 } }) }],
  [
    'probe with negative numbers',
    {
      [`${C0}/readinessProbe`]: probe(
        { exec: { command: [] } },
        { initialDelaySeconds: -1, periodSeconds: -1, timeoutSeconds: -1, failureThreshold: -1 },
      ),
    },
  ],
  ['liveness with two successes', { [`${C0}/livenessProbe`]: probe({ exec: { command: ['a'] } }, { successThreshold: 2 }) }],
  ['readiness with grace period', { [`${C0}/readinessProbe`]: probe({ exec: { command: ['a'] } }, { terminationGracePeriodSeconds: 5 }) }],
  ['startup with zero grace period', { [`${C0}/startupProbe`]: probe({ exec: { command: ['a'] } }, { terminationGracePeriodSeconds: 0 }) }],
  [
    'http probe wrong',
    { [`${C0}/livenessProbe`]: probe({ httpGet: { path: '/', port: 0, scheme: 'FTP', httpHeaders: [{ name: 'a b', value: '' }] } }) },
  ],
  ['http probe with bad port name', { [`${C0}/livenessProbe`]: probe({ httpGet: { path: '/', port: 'UPPER', scheme: 'HTTP' } }) }],
  ['grpc probe out of range', { [`${C0}/livenessProbe`]: probe({ grpc: { port: 99999, service: '' } }) }],
  ['sleep longer than the grace period', { [`${C0}/lifecycle`]: { preStop: { sleep: { seconds: 60 } } } }],
  ['empty hook', { [`${C0}/lifecycle`]: { postStart: {} } }],
  ['init container with probe', { '/spec/initContainers/0/livenessProbe': probe({ exec: { command: ['a'] } }) }, 'rich'],
  ['init container with hook', { '/spec/initContainers/0/lifecycle': { preStop: { exec: { command: ['a'] } } } }, 'rich'],
  ['sidecar with bad probe', { '/spec/initContainers/1/livenessProbe': probe({}) }, 'rich'],
  ['container restart policy unknown', { [`${C0}/restartPolicy`]: 'Maybe' }],
  ['restart rules without policy', { [`${C0}/restartPolicyRules`]: [{ action: 'Restart', exitCodes: { operator: 'In', values: [1] } }] }],
  [
    'restart rules wrong',
    {
      [`${C0}/restartPolicy`]: 'Never',
      [`${C0}/restartPolicyRules`]: [{ action: 'Stop' }, { action: 'Restart', exitCodes: { operator: 'Is', values: [1] } }],
    },
  ],
  [
    'sidecar with restart rules',
    { '/spec/initContainers/1/restartPolicyRules': [{ action: 'Restart', exitCodes: { operator: 'In', values: [1] } }] },
    'rich',
  ],
  [
    'resize policy wrong',
    {
      [`${C0}/resizePolicy`]: [
        { resourceName: 'gpu', restartPolicy: 'Maybe' },
        { resourceName: 'cpu', restartPolicy: 'NotRequired' },
        { resourceName: 'cpu', restartPolicy: 'RestartContainer' },
      ],
    },
  ],
  [
    'resize policy of a pod that never restarts',
    { '/spec/restartPolicy': 'Never', [`${C0}/resizePolicy`]: [{ resourceName: 'cpu', restartPolicy: 'RestartContainer' }] },
  ],
  ['bad user ids', securityContext({ runAsUser: -1, runAsGroup: 2147483648 })],
  ['privileged without escalation', securityContext({ privileged: true, allowPrivilegeEscalation: false })],
  ['sys admin without escalation', securityContext({ allowPrivilegeEscalation: false, capabilities: { add: ['CAP_SYS_ADMIN'] } })],
  ['unknown proc mount', securityContext({ procMount: 'Half' })],
  ['unmasked proc mount with host users', securityContext({ procMount: 'Unmasked' })],
  ['seccomp without type', securityContext({ seccompProfile: {} })],
  ['seccomp unknown', securityContext({ seccompProfile: { type: 'Foo' } })],
  ['seccomp localhost without file', securityContext({ seccompProfile: { type: 'Localhost' } })],
  ['seccomp localhost up', securityContext({ seccompProfile: { type: 'Localhost', localhostProfile: '../x' } })],
  ['seccomp default with file', securityContext({ seccompProfile: { type: 'RuntimeDefault', localhostProfile: 'x' } })],
  ['apparmor wrong', securityContext({ appArmorProfile: { type: 'Localhost', localhostProfile: ' x ' } })],
  ['apparmor default with file', securityContext({ appArmorProfile: { type: 'RuntimeDefault', localhostProfile: 'x' } })],
  ['apparmor unknown', securityContext({ appArmorProfile: { type: 'Foo' } })],
  ['windows user names', securityContext({ windowsOptions: { runAsUserName: 'a\\b\\c', gmsaCredentialSpecName: 'A' } })],
  ['windows user characters', securityContext({ windowsOptions: { runAsUserName: '..\\...', gmsaCredentialSpec: '' } })],
  ['pod security ids', { '/spec/securityContext': { fsGroup: -1, runAsUser: -2, runAsGroup: -3, supplementalGroups: [-4] } }],
  [
    'pod security policies',
    { '/spec/securityContext': { fsGroupChangePolicy: 'X', supplementalGroupsPolicy: 'Y', seLinuxChangePolicy: 'Z' } },
  ],
  ['selinux mount option', { '/spec/securityContext': { seLinuxChangePolicy: 'MountOption' } }],
  [
    'sysctls wrong',
    {
      '/spec/securityContext': {
        sysctls: [
          { name: '', value: '' },
          { name: 'A b', value: '' },
          { name: 'kernel.sem', value: '1' },
          { name: 'kernel.sem', value: '2' },
        ],
      },
    },
  ],
  [
    'sysctl of the host network',
    { '/spec/hostNetwork': true, '/spec/securityContext': { sysctls: [{ name: 'net.core.somaxconn', value: '1' }] } },
  ],
  ['shared pids with host pids', { '/spec/hostPID': true, '/spec/shareProcessNamespace': true }],
  [
    'user namespace with host namespaces',
    { '/spec/hostUsers': false, '/spec/hostPID': true, '/spec/hostIPC': true, '/spec/hostNetwork': true },
  ],
  ['bad node selector', { '/spec/nodeSelector': { '-a': 'b' } }],
  ['bad node selector value', { '/spec/nodeSelector': { a: '-b-' } }],
  [
    'bad names',
    {
      '/spec/serviceAccountName': 'A',
      '/spec/nodeName': 'B',
      '/spec/priorityClassName': 'C',
      '/spec/runtimeClassName': 'D',
      '/spec/hostname': 'E',
      '/spec/subdomain': 'a.b',
    },
  ],
  ['active deadline zero', { '/spec/activeDeadlineSeconds': 0 }],
  ['unknown preemption policy', { '/spec/preemptionPolicy': 'Maybe' }],
  ['bad host alias', { '/spec/hostAliases': [{ ip: '1.2.3', hostnames: ['A'] }] }],
  ['dns none without config', { '/spec/dnsPolicy': 'None' }],
  ['dns none without servers', { '/spec/dnsPolicy': 'None', '/spec/dnsConfig': {} }],
  [
    'dns config wrong',
    { '/spec/dnsConfig': { nameservers: ['1.1.1.1', '2.2.2.2', '3.3.3.3', 'x'], searches: ['A', 'a_b', '.'], options: [{ value: '1' }] } },
  ],
  ['too many searches', { '/spec/dnsConfig': { searches: Array.from({ length: 33 }, (_, i) => `a${i}`) } }],
  ['readiness gate wrong', { '/spec/readinessGates': [{ conditionType: 'a b' }] }],
  ['scheduling gates twice', { '/spec/schedulingGates': [{ name: 'a' }, { name: 'a' }, { name: '-' }] }],
  ['node name with scheduling gates', { '/spec/schedulingGates': [{ name: 'a' }], '/spec/nodeName': 'n' }],
  ['hostname override', { '/spec/hostnameOverride': 'A', '/spec/setHostnameAsFQDN': true, '/spec/hostNetwork': true }],
  ['hostname override too long', { '/spec/hostnameOverride': `a${'.b'.repeat(40)}` }],
  [
    'tolerations wrong',
    {
      '/spec/tolerations': [
        { operator: 'Equal', value: 'a' },
        { key: 'a', operator: 'Exists', value: 'b' },
        { key: 'a', operator: 'Is' },
        { key: 'a', effect: 'Foo' },
        { key: 'a b', operator: 'Exists' },
      ],
    },
  ],
  [
    'toleration seconds without NoExecute',
    { '/spec/tolerations': [{ key: 'a', operator: 'Exists', effect: 'NoSchedule', tolerationSeconds: 1 }] },
  ],
  ['toleration comparison', { '/spec/tolerations': [{ key: 'a', operator: 'Gt', value: '1' }] }],
  ['toleration with bad value', { '/spec/tolerations': [{ key: 'a', operator: 'Equal', value: 'a b' }] }],
  [
    'node affinity without terms',
    { '/spec/affinity': { nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms: [] } } } },
  ],
  [
    'node affinity wrong',
    {
      '/spec/affinity': {
        nodeAffinity: {
          requiredDuringSchedulingIgnoredDuringExecution: {
            nodeSelectorTerms: [
              {
                matchExpressions: [
                  { key: 'a', operator: 'In' },
                  { key: 'a', operator: 'Exists', values: ['x'] },
                  { key: 'a', operator: 'Gt', values: ['1', '2'] },
                  { key: 'a b', operator: 'Is' },
                  { key: 'a', operator: 'In', values: ['-x-'] },
                ],
                matchFields: [
                  { key: 'metadata.uid', operator: 'In', values: ['x'] },
                  { key: 'metadata.name', operator: 'Exists', values: ['X'] },
                ],
              },
            ],
          },
          preferredDuringSchedulingIgnoredDuringExecution: [{ weight: 101, preference: {} }],
        },
      },
    },
  ],
  [
    'pod affinity wrong',
    {
      '/spec/affinity': {
        podAffinity: {
          requiredDuringSchedulingIgnoredDuringExecution: [
            { topologyKey: '', namespaces: ['A'], labelSelector: { matchLabels: { a: '-' } } },
          ],
        },
        podAntiAffinity: {
          preferredDuringSchedulingIgnoredDuringExecution: [
            {
              weight: 0,
              podAffinityTerm: {
                topologyKey: 'zone',
                matchLabelKeys: ['a'],
                labelSelector: { matchExpressions: [{ key: 'b', operator: 'Is' }] },
              },
            },
          ],
        },
      },
    },
  ],
  [
    'match label keys without selector',
    {
      '/spec/affinity': {
        podAffinity: {
          requiredDuringSchedulingIgnoredDuringExecution: [{ topologyKey: 'zone', matchLabelKeys: ['a'], mismatchLabelKeys: ['a'] }],
        },
      },
    },
  ],
  [
    'topology spread wrong',
    {
      '/spec/topologySpreadConstraints': [
        { maxSkew: 0, topologyKey: '', whenUnsatisfiable: 'Foo' },
        {
          maxSkew: 1,
          topologyKey: 'zone',
          whenUnsatisfiable: 'ScheduleAnyway',
          minDomains: 0,
          nodeAffinityPolicy: 'X',
          nodeTaintsPolicy: 'Y',
        },
        {
          maxSkew: 1,
          topologyKey: 'zone',
          whenUnsatisfiable: 'ScheduleAnyway',
          matchLabelKeys: ['a'],
          labelSelector: { matchLabels: { '-': 'x' } },
        },
      ],
    },
  ],
  ['unknown os', { '/spec/os': { name: 'plan9' } }],
  ['os without name', { '/spec/os': { name: '' } }],
  [
    'linux pod with windows options',
    { '/spec/os': { name: 'linux' }, '/spec/securityContext': { windowsOptions: { runAsUserName: 'a' } } },
  ],
  [
    'windows pod with linux options',
    {
      '/spec/os': { name: 'windows' },
      '/spec/hostPID': true,
      '/spec/hostUsers': false,
      '/spec/securityContext': { fsGroup: 1, runAsUser: 1, seLinuxOptions: {}, seccompProfile: { type: 'Unconfined' }, sysctls: [] },
      [`${C0}/securityContext`]: { privileged: false, capabilities: {}, runAsUser: 1, procMount: 'Default' },
    },
  ],
  [
    'host process without host network',
    {
      '/spec/securityContext': { windowsOptions: { hostProcess: true } },
      [`${C0}/securityContext`]: { windowsOptions: { hostProcess: false } },
    },
  ],
  ['overhead wrong', { '/spec/overhead': { foo: '-1' } }],
  [
    'resource claims wrong',
    {
      '/spec/resourceClaims': [
        { name: 'a' },
        { name: 'a', resourceClaimName: 'x', resourceClaimTemplateName: 'y' },
        { name: 'B', resourceClaimName: 'X' },
      ],
    },
  ],
  ['ephemeral containers on create', { '/spec/ephemeralContainers': [{ name: 'debug', image: 'x', ...MOUNTED }] }],
  ['bad deletion cost', { '/metadata/annotations': { 'controller.kubernetes.io/pod-deletion-cost': '007' } }],
  ['mirror pod without node', { '/metadata/annotations': { 'kubernetes.io/config.mirror': 'x' } }],
  ['seccomp annotation wrong', { '/metadata/annotations': { 'seccomp.security.alpha.kubernetes.io/pod': 'foo' } }],
  [
    'seccomp annotation differs',
    {
      '/metadata/annotations': { 'seccomp.security.alpha.kubernetes.io/pod': 'unconfined' },
      '/spec/securityContext': { seccompProfile: { type: 'RuntimeDefault' } },
    },
  ],
  ['apparmor annotation of other container', { '/metadata/annotations': { 'container.apparmor.security.beta.kubernetes.io/x': 'foo' } }],
  [
    'apparmor annotation differs',
    {
      '/metadata/annotations': { 'container.apparmor.security.beta.kubernetes.io/main': 'unconfined' },
      [`${C0}/securityContext`]: { appArmorProfile: { type: 'RuntimeDefault' } },
    },
  ],
  ['pull secret with odd characters in a value', { '/spec/nodeSelector': { a: 'é<&>"\\\n\u0001' } }],
];

const updates: [name: string, base: string, change: Change, subresource?: string][] = [
  ['update nothing', 'rich', {}],
  ['update the image', 'rich', { [`${C0}/image`]: 'nginx:2', '/spec/initContainers/0/image': 'busybox:2' }],
  ['update the image to nothing', 'rich', { [`${C0}/image`]: '' }],
  ['update the command', 'plain', { [`${C0}/command`]: ['sh'] }],
  ['update host network', 'plain', { '/spec/hostNetwork': true }],
  [
    'update several fields',
    'rich',
    { '/spec/serviceAccountName': 'other', '/spec/serviceAccount': 'other', [`${C0}/env/0/value`]: '<2>', '/spec/nodeName': 'n2' },
  ],
  ['update a volume', 'rich', { '/spec/volumes/0': { name: 'data', configMap: { name: 'x', defaultMode: 420 } } }],
  ['remove a container', 'rich', { '/spec/containers/1': null }],
  ['remove an init container', 'rich', { '/spec/initContainers/0': null }],
  ['extend the active deadline', 'rich', { '/spec/activeDeadlineSeconds': 700 }],
  ['shorten the active deadline', 'rich', { '/spec/activeDeadlineSeconds': 60 }],
  ['remove the active deadline', 'rich', { '/spec/activeDeadlineSeconds': null }],
  ['negative active deadline', 'rich', { '/spec/activeDeadlineSeconds': -1 }],
  ['add a toleration', 'rich', { '/spec/tolerations/1': { key: 'b', operator: 'Exists' } }],
  ['change toleration seconds', 'rich', { '/spec/tolerations/0/tolerationSeconds': 60 }],
  ['remove a toleration', 'rich', { '/spec/tolerations': [] }],
  ['change resources by update', 'rich', { [`${C0}/resources/requests/cpu`]: '600m' }],
  ['same amount in other words', 'rich', { [`${C0}/resources/limits/cpu`]: '1000m', [`${C0}/resources/requests/cpu`]: '0.5' }],
  [
    'zero values instead of absence',
    'plain',
    { '/spec/hostNetwork': false, '/spec/hostname': '', '/spec/volumes': [], [`${C0}/stdin`]: false },
  ],
  ['false where absence means something else', 'plain', { '/spec/automountServiceAccountToken': false }],
  ['add a scheduling gate', 'gated', { '/spec/schedulingGates/1': { name: 'b' } }],
  ['remove the scheduling gate', 'gated', { '/spec/schedulingGates': null }],
  ['gated: add to the node selector', 'gated', { '/spec/nodeSelector/zone': 'b' }],
  ['gated: change the node selector', 'gated', { '/spec/nodeSelector/disk': 'hdd' }],
  ['gated: remove the affinity', 'gated', { '/spec/affinity': null }],
  [
    'gated: change the affinity',
    'gated',
    { '/spec/affinity/nodeAffinity/requiredDuringSchedulingIgnoredDuringExecution/nodeSelectorTerms/0/matchExpressions/0/values': ['b'] },
  ],
  [
    'gated: narrow the affinity',
    'gated',
    {
      '/spec/affinity/nodeAffinity/requiredDuringSchedulingIgnoredDuringExecution/nodeSelectorTerms/0/matchExpressions/1': {
        key: 'x',
        operator: 'Exists',
      },
    },
  ],
  [
    'gated: add a term',
    'gated',
    {
      '/spec/affinity/nodeAffinity/requiredDuringSchedulingIgnoredDuringExecution/nodeSelectorTerms/1': {
        matchExpressions: [{ key: 'x', operator: 'Exists' }],
      },
    },
  ],
  ['ungated: change the node selector', 'plain', { '/spec/nodeSelector': { a: 'b' } }],
  ['add a mirror annotation', 'rich', { '/metadata/annotations': { 'kubernetes.io/config.mirror': 'x' } }],
  [
    'add an ephemeral container',
    'plain',
    { '/spec/ephemeralContainers': [{ name: 'debug', image: 'x', targetContainerName: 'main', ...MOUNTED }] },
    'ephemeralcontainers',
  ],
  [
    'ephemeral container with forbidden fields',
    'plain',
    {
      '/spec/ephemeralContainers': [
        {
          name: 'debug',
          image: 'x',
          ...MOUNTED,
          ports: [{ containerPort: 1, protocol: 'TCP' }],
          resources: { limits: { cpu: '1' } },
          livenessProbe: probe({ exec: { command: ['a'] } }),
        },
      ],
    },
    'ephemeralcontainers',
  ],
  [
    'ephemeral container of missing target',
    'plain',
    { '/spec/ephemeralContainers': [{ name: 'main', image: '', targetContainerName: 'x', ...MOUNTED }] },
    'ephemeralcontainers',
  ],
  ['resize', 'rich', { [`${C0}/resources/requests/cpu`]: '600m' }, 'resize'],
  ['resize away', 'rich', { [`${C0}/resources`]: { limits: { cpu: '1' }, requests: { cpu: '500m' } } }, 'resize'],
  ['resize above the limit', 'rich', { [`${C0}/resources/requests/cpu`]: '2' }, 'resize'],
  ['resize to another class', 'plain', { [`${C0}/resources`]: { requests: { cpu: '1' } } }, 'resize'],
  ['resize of other resources', 'rich', { [`${C0}/resources/requests/ephemeral-storage`]: '1Gi' }, 'resize'],
  ['resize of an init container', 'rich', { '/spec/initContainers/0/resources': { requests: { cpu: '1' } } }, 'resize'],
  ['resize with a changed image', 'rich', { [`${C0}/name`]: 'other' }, 'resize'],
  [
    'status: terminated container comes back',
    'running',
    { '/status/containerStatuses/0/state': { running: { startedAt: '2024-01-01T00:00:00Z' } } },
    'status',
  ],
  ['status: bad ips', 'running', { '/status/podIP': 'x', '/status/podIPs': [{ ip: 'x' }] }, 'status'],
  [
    'status: two ips of one family',
    'running',
    { '/status/podIP': '1.1.1.1', '/status/podIPs': [{ ip: '1.1.1.1' }, { ip: '2.2.2.2' }] },
    'status',
  ],
  ['status: host ips differ', 'running', { '/status/hostIP': '1.1.1.1', '/status/hostIPs': [{ ip: '2.2.2.2' }] }, 'status'],
  ['status: qos class', 'running', { '/status/qosClass': 'Guaranteed' }, 'status'],
  ['status: nominated node of a bound pod', 'running', { '/status/nominatedNodeName': 'X' }, 'status'],
  ['status: condition type', 'running', { '/status/conditions': [{ type: 'a b', status: 'True', observedGeneration: -1 }] }, 'status'],
  ['status: claim of nobody', 'running', { '/status/resourceClaimStatuses': [{ name: 'x', resourceClaimName: 'Y' }] }, 'status'],
];

const cases: Case[] = [
  ...creates.map(([name, change, base = 'plain']): Case => ({ name, base, change })),
  ...updates.map(([name, base, change, subresource]): Case => ({ name, base, change, operation: 'update', subresource })),
];

export const pods: CaseSet = { bases, cases };
