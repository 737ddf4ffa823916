import type { Json } from '../../../src/kube/object.ts';
import type { Base, Change } from '../case.ts';
import { caseSet, namespaced, STATUS, UPDATE, type Row } from './build.ts';

const template = (spec: Json = {}): Json => ({
  metadata: { labels: { app: 'x' } },
  spec: { containers: [{ name: 'c', image: 'i' }], ...spec },
});
const selector = { matchLabels: { app: 'x' } };
const apps = (resource: string, kind: string, name: string, spec: Json): Base => namespaced('apps', 'v1', resource, kind, name, { spec });

const JOB_LABELS = ['controller-uid', 'job-name', 'batch.kubernetes.io~1controller-uid', 'batch.kubernetes.io~1job-name'];
const jobMadeByServer = ['/spec/selector', ...JOB_LABELS.map((label) => `/spec/template/metadata/labels/${label}`)];
const job = (name: string, spec: Json): Base => ({
  ...namespaced('batch', 'v1', 'jobs', 'Job', name, { spec: { template: template({ restartPolicy: 'Never' }), ...spec } }),
  madeByServer: jobMadeByServer,
});

const bases: Record<string, Base> = {
  deployment: apps('deployments', 'Deployment', 'd', { selector, template: template() }),
  recreate: apps('deployments', 'Deployment', 'recreate', { selector, template: template(), strategy: { type: 'Recreate' } }),
  replicaSet: apps('replicasets', 'ReplicaSet', 'rs', { selector, template: template() }),
  statefulSet: apps('statefulsets', 'StatefulSet', 'ss', {
    serviceName: 's',
    selector,
    template: template({ containers: [{ name: 'c', image: 'i', volumeMounts: [{ name: 'data', mountPath: '/data' }] }] }),
    volumeClaimTemplates: [
      { metadata: { name: 'data' }, spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } } },
    ],
  }),
  daemonSet: apps('daemonsets', 'DaemonSet', 'ds', { selector, template: template() }),
  revision: namespaced('apps', 'v1', 'controllerrevisions', 'ControllerRevision', 'rev', { revision: 1, data: { a: 1 } }),
  controller: namespaced('', 'v1', 'replicationcontrollers', 'ReplicationController', 'rc', {
    spec: { selector: { app: 'x' }, template: template() },
  }),
  podTemplate: namespaced('', 'v1', 'podtemplates', 'PodTemplate', 'pt', { template: template() }),
  job: job('job', {}),
  indexed: job('indexed', { completionMode: 'Indexed', completions: 3, parallelism: 3, backoffLimitPerIndex: 1 }),
  suspended: job('suspended', { suspend: true }),
  running: { ...job('running', {}), status: { active: 1, failed: 2, startTime: '2024-01-01T00:00:00Z' } },
  cronJob: namespaced('batch', 'v1', 'cronjobs', 'CronJob', 'cron', {
    spec: { schedule: '*/5 * * * *', jobTemplate: { spec: { template: template({ restartPolicy: 'OnFailure' }) } } },
  }),
};

const schedule = (text: string, more: Change = {}): Change => ({ '/spec/schedule': text, ...more });
const exitCodes = (values: number[], operator = 'In'): Json => ({ operator, values });
const podFailure = (...rules: Json[]): Change => ({ '/spec/podFailurePolicy': { rules }, '/spec/podReplacementPolicy': 'Failed' });
const conditions = (...types: string[]): Change => ({
  '/status/conditions': types.map((type) => ({
    type,
    status: 'True',
    lastProbeTime: '2024-01-01T00:00:00Z',
    lastTransitionTime: '2024-01-01T00:00:00Z',
  })),
});

const deployments: Row[] = [
  ['valid', 'deployment', {}],
  ['negative replicas', 'deployment', { '/spec/replicas': -1 }],
  ['no selector', 'deployment', { '/spec/selector': null }],
  ['empty selector', 'deployment', { '/spec/selector': {} }],
  ['selector does not match', 'deployment', { '/spec/selector/matchLabels/app': 'y' }],
  ['bad selector', 'deployment', { '/spec/selector/matchLabels': { 'a b': '-' } }],
  [
    'bad selector operator',
    'deployment',
    {
      '/spec/selector': {
        matchExpressions: [
          { key: 'a', operator: 'Is' },
          { key: 'b', operator: 'In' },
        ],
      },
    },
  ],
  ['template without labels', 'deployment', { '/spec/template/metadata/labels': null }],
  ['template with bad labels', 'deployment', { '/spec/template/metadata/labels/a': 'b c' }],
  ['template with bad annotation', 'deployment', { '/spec/template/metadata/annotations': { 'a b': 'c' } }],
  ['template restart policy', 'deployment', { '/spec/template/spec/restartPolicy': 'Never' }],
  ['template active deadline', 'deployment', { '/spec/template/spec/activeDeadlineSeconds': 5 }],
  ['template without image', 'deployment', { '/spec/template/spec/containers/0/image': '' }],
  [
    'template with ephemeral containers',
    'deployment',
    { '/spec/template/spec/ephemeralContainers': [{ name: 'e', image: 'i', terminationMessagePolicy: 'File', imagePullPolicy: 'Always' }] },
  ],
  ['unknown strategy', 'deployment', { '/spec/strategy': { type: 'Foo' } }],
  [
    'recreate with rolling update',
    'recreate',
    { '/spec/strategy': { type: 'Recreate', rollingUpdate: { maxSurge: 1, maxUnavailable: 1 } } },
  ],
  ['rolling update of zeros', 'deployment', { '/spec/strategy/rollingUpdate': { maxSurge: 0, maxUnavailable: '0%' } }],
  ['rolling update beyond all', 'deployment', { '/spec/strategy/rollingUpdate': { maxSurge: 'x', maxUnavailable: '110%' } }],
  ['rolling update negative', 'deployment', { '/spec/strategy/rollingUpdate': { maxSurge: -1, maxUnavailable: -1 } }],
  [
    'negative seconds',
    'deployment',
    { '/spec/minReadySeconds': -1, '/spec/revisionHistoryLimit': -1, '/spec/progressDeadlineSeconds': -1 },
  ],
  ['progress deadline before ready', 'deployment', { '/spec/minReadySeconds': 700 }],
  ['update nothing', 'deployment', {}, UPDATE],
  ['update the selector', 'deployment', { '/spec/selector/matchLabels/b': 'y', '/spec/template/metadata/labels/b': 'y' }, UPDATE],
  ['update the image', 'deployment', { '/spec/template/spec/containers/0/image': 'j' }, UPDATE],
  [
    'status counters',
    'deployment',
    { '/status': { replicas: 1, updatedReplicas: 2, readyReplicas: 2, availableReplicas: 3, unavailableReplicas: -1 } },
    STATUS,
  ],
];

const otherSets: Row[] = [
  ['negative', 'replicaSet', { '/spec/replicas': -1, '/spec/minReadySeconds': -1 }],
  ['selector does not match', 'replicaSet', { '/spec/selector/matchLabels/app': 'y' }],
  ['empty selector', 'replicaSet', { '/spec/selector': {} }],
  ['update the selector', 'replicaSet', { '/spec/selector/matchLabels/b': 'y', '/spec/template/metadata/labels/b': 'y' }, UPDATE],
  [
    'status counters',
    'replicaSet',
    { '/status': { replicas: 1, fullyLabeledReplicas: 2, readyReplicas: 2, availableReplicas: 3 } },
    STATUS,
  ],
  ['valid', 'statefulSet', {}],
  ['bad policies', 'statefulSet', { '/spec/podManagementPolicy': 'Foo', '/spec/updateStrategy': { type: 'Foo' } }],
  ['on delete with rolling update', 'statefulSet', { '/spec/updateStrategy': { type: 'OnDelete', rollingUpdate: { partition: 1 } } }],
  [
    'negative',
    'statefulSet',
    {
      '/spec/replicas': -1,
      '/spec/minReadySeconds': -1,
      '/spec/ordinals': { start: -1 },
      '/spec/updateStrategy/rollingUpdate': { partition: -1 },
    },
  ],
  ['bad service name', 'statefulSet', { '/spec/serviceName': 'A.b' }],
  [
    'bad claim template',
    'statefulSet',
    { '/spec/volumeClaimTemplates/0/spec/accessModes': [], '/spec/volumeClaimTemplates/0/spec/resources': {} },
  ],
  ['bad retention', 'statefulSet', { '/spec/persistentVolumeClaimRetentionPolicy': { whenDeleted: 'Foo', whenScaled: 'Bar' } }],
  ['empty selector', 'statefulSet', { '/spec/selector': {} }],
  ['selector does not match', 'statefulSet', { '/spec/selector/matchLabels/app': 'y' }],
  ['bad template labels', 'statefulSet', { '/spec/template/metadata/labels/b': '-' }],
  [
    'template restart policy',
    'statefulSet',
    { '/spec/template/spec/restartPolicy': 'Never', '/spec/template/spec/activeDeadlineSeconds': 3 },
  ],
  ['mount of neither claim nor volume', 'statefulSet', { '/spec/template/spec/containers/0/volumeMounts/0/name': 'x' }],
  ['update the replicas', 'statefulSet', { '/spec/replicas': 3 }, UPDATE],
  ['update the service name', 'statefulSet', { '/spec/serviceName': 'other' }, UPDATE],
  ['update the claim template', 'statefulSet', { '/spec/volumeClaimTemplates/0/spec/resources/requests/storage': '2Gi' }, UPDATE],
  [
    'update the claim size in other words',
    'statefulSet',
    { '/spec/volumeClaimTemplates/0/spec/resources/requests/storage': '1024Mi' },
    UPDATE,
  ],
  [
    'status counters',
    'statefulSet',
    { '/status': { replicas: 1, readyReplicas: 2, currentReplicas: 3, updatedReplicas: -1, availableReplicas: 4 } },
    STATUS,
  ],
  ['valid', 'daemonSet', {}],
  ['no selector', 'daemonSet', { '/spec/selector': null }],
  ['empty selector', 'daemonSet', { '/spec/selector': {} }],
  ['selector does not match', 'daemonSet', { '/spec/selector/matchLabels/app': 'y' }],
  ['unknown strategy', 'daemonSet', { '/spec/updateStrategy': { type: 'Foo' } }],
  ['surge and unavailable', 'daemonSet', { '/spec/updateStrategy/rollingUpdate': { maxSurge: 1, maxUnavailable: 1 } }],
  ['neither surge nor unavailable', 'daemonSet', { '/spec/updateStrategy/rollingUpdate': { maxSurge: 0, maxUnavailable: 0 } }],
  ['beyond all', 'daemonSet', { '/spec/updateStrategy/rollingUpdate': { maxSurge: '0%', maxUnavailable: '120%' } }],
  ['negative', 'daemonSet', { '/spec/minReadySeconds': -1, '/spec/revisionHistoryLimit': -1 }],
  ['restart policy', 'daemonSet', { '/spec/template/spec/restartPolicy': 'OnFailure' }],
  ['update the selector', 'daemonSet', { '/spec/selector/matchLabels/b': 'y', '/spec/template/metadata/labels/b': 'y' }, UPDATE],
  ['status counters', 'daemonSet', { '/status/numberReady': -1, '/status/desiredNumberScheduled': -2 }, STATUS],
  ['negative', 'revision', { '/revision': -1 }],
  ['no data', 'revision', { '/data': null }],
  ['data not an object', 'revision', { '/data': [1] }],
  ['update the data', 'revision', { '/data': { a: 2 } }, UPDATE],
  ['valid', 'controller', {}],
  ['negative', 'controller', { '/spec/replicas': -1, '/spec/minReadySeconds': -1 }],
  ['selector does not match', 'controller', { '/spec/selector/app': 'y' }],
  ['restart policy', 'controller', { '/spec/template/spec/restartPolicy': 'Never', '/spec/template/spec/activeDeadlineSeconds': 3 }],
  ['status counters', 'controller', { '/status': { replicas: 1, fullyLabeledReplicas: 2, readyReplicas: -2 } }, STATUS],
  ['valid', 'podTemplate', {}],
  ['bad template', 'podTemplate', { '/template/spec/containers/0/image': '', '/template/metadata/labels/b': '-' }],
];

const jobs: Row[] = [
  ['valid', 'job', {}],
  ['valid indexed', 'indexed', {}],
  [
    'negative numbers',
    'job',
    {
      '/spec/parallelism': -1,
      '/spec/completions': -1,
      '/spec/activeDeadlineSeconds': -1,
      '/spec/backoffLimit': -1,
      '/spec/ttlSecondsAfterFinished': -1,
    },
  ],
  ['restart always', 'job', { '/spec/template/spec/restartPolicy': 'Always' }],
  ['restart unknown', 'job', { '/spec/template/spec/restartPolicy': 'Foo' }],
  ['backoff per index without index', 'job', { '/spec/backoffLimitPerIndex': 1, '/spec/maxFailedIndexes': 1 }],
  ['failed indexes without backoff', 'indexed', { '/spec/backoffLimitPerIndex': null, '/spec/maxFailedIndexes': 5 }],
  ['unknown completion mode', 'job', { '/spec/completionMode': 'Foo' }],
  ['too many completions', 'indexed', { '/spec/completions': 200000, '/spec/parallelism': 200000 }],
  ['managed by nobody', 'job', { '/spec/managedBy': 'foo' }],
  ['managed by a long name', 'job', { '/spec/managedBy': `example.com/${'a'.repeat(70)}` }],
  [
    'pod failure policy wrong',
    'job',
    podFailure(
      { action: '' },
      { action: 'Foo', onExitCodes: exitCodes([3, 1, 1, 0]) },
      { action: 'FailIndex', onPodConditions: [{ type: 'a b', status: 'Maybe' }] },
    ),
  ],
  [
    'pod failure policy of unknown container',
    'job',
    podFailure({
      action: 'Ignore',
      onExitCodes: { ...exitCodes([]), containerName: 'x' },
      onPodConditions: [{ type: 'A', status: 'Maybe' }],
    }),
  ],
  [
    'pod failure policy with restarts',
    'job',
    { ...podFailure({ action: 'Ignore', onExitCodes: exitCodes([1]) }), '/spec/template/spec/restartPolicy': 'OnFailure' },
  ],
  [
    'pod failure policy and replacement',
    'job',
    { ...podFailure({ action: 'Ignore', onExitCodes: exitCodes([1], '') }), '/spec/podReplacementPolicy': 'TerminatingOrFailed' },
  ],
  ['unknown replacement policy', 'job', { '/spec/podReplacementPolicy': 'Foo' }],
  ['success policy without index', 'job', { '/spec/successPolicy': { rules: [{ succeededCount: 1 }] } }],
  ['success policy empty', 'indexed', { '/spec/successPolicy': { rules: [] } }],
  [
    'success policy wrong',
    'indexed',
    {
      '/spec/successPolicy': {
        rules: [
          {},
          { succeededCount: 9 },
          { succeededIndexes: '0-1', succeededCount: 3 },
          { succeededIndexes: '2,1' },
          { succeededIndexes: 'x' },
          { succeededIndexes: '1-2-3' },
          { succeededIndexes: '7' },
        ],
      },
    },
  ],
  ['update the parallelism', 'job', { '/spec/parallelism': 3 }, UPDATE],
  ['update the completions', 'job', { '/spec/completions': 3 }, UPDATE],
  ['update the image', 'job', { '/spec/template/spec/containers/0/image': 'j' }, UPDATE],
  ['update the selector', 'job', { '/spec/selector/matchLabels/a': 'b' }, UPDATE],
  ['update indexed completions alone', 'indexed', { '/spec/completions': 5 }, UPDATE],
  ['update indexed completions together', 'indexed', { '/spec/completions': 5, '/spec/parallelism': 5 }, UPDATE],
  [
    'update policies',
    'indexed',
    { '/spec/backoffLimitPerIndex': 2, '/spec/managedBy': 'example.com/x', '/spec/successPolicy': { rules: [{ succeededCount: 1 }] } },
    UPDATE,
  ],
  [
    'suspended: move',
    'suspended',
    {
      '/spec/template/spec/nodeSelector': { a: 'b' },
      '/spec/template/metadata/annotations': { a: 'b' },
      '/spec/template/spec/affinity': {
        nodeAffinity: {
          requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms: [{ matchExpressions: [{ key: 'a', operator: 'Exists' }] }] },
        },
      },
    },
    UPDATE,
  ],
  ['suspended: change the image', 'suspended', { '/spec/template/spec/containers/0/image': 'j' }, UPDATE],
  ['status: negative', 'running', { '/status/active': -1, '/status/ready': -1 }, STATUS],
  ['status: fewer failures', 'running', { '/status/failed': 1 }, STATUS],
  ['status: more ready than active', 'running', { '/status/ready': 5 }, STATUS],
  ['status: completed indexes of a plain job', 'running', { '/status/completedIndexes': '1' }, STATUS],
  ['status: failed indexes without backoff', 'running', { '/status/failedIndexes': '0' }, STATUS],
  ['status: overlapping indexes', 'indexed', { '/status/completedIndexes': '0,2', '/status/failedIndexes': '1-2' }, STATUS],
  ['status: complete without anything', 'running', conditions('Complete'), STATUS],
  ['status: failed without target', 'running', conditions('Failed'), STATUS],
  [
    'status: complete and failed',
    'running',
    {
      ...conditions('Complete', 'Failed', 'SuccessCriteriaMet', 'FailureTarget'),
      '/status/completionTime': '2024-01-02T00:00:00Z',
      '/status/active': 0,
    },
    STATUS,
  ],
  [
    'status: completed before start',
    'running',
    { ...conditions('Complete', 'SuccessCriteriaMet'), '/status/completionTime': '2023-01-02T00:00:00Z', '/status/active': 0 },
    STATUS,
  ],
  ['status: completion time alone', 'running', { '/status/completionTime': '2024-01-02T00:00:00Z' }, STATUS],
  ['status: uncounted pods', 'running', { '/status/uncountedTerminatedPods': { succeeded: ['a', ''], failed: ['a'] } }, STATUS],
  ['status: start time removed', 'running', { '/status/startTime': null }, STATUS],
];

const cronJobs: Row[] = [
  ['valid', 'cronJob', {}],
  ['no schedule', 'cronJob', schedule('')],
  ['short schedule', 'cronJob', schedule('* * *')],
  ['schedule out of range', 'cronJob', schedule('61 * * * *')],
  ['schedule below range', 'cronJob', schedule('* * 0 * *')],
  ['schedule backwards', 'cronJob', schedule('5-1 * * * *')],
  ['schedule with letters', 'cronJob', schedule('a * * * *')],
  ['schedule with names', 'cronJob', schedule('0 0 * jan-mar mon')],
  ['schedule with zero step', 'cronJob', schedule('*/0 * * * *')],
  ['schedule with two slashes', 'cronJob', schedule('1/2/3 * * * *')],
  ['schedule with hyphens', 'cronJob', schedule('1-2-3 * * * *')],
  ['schedule with negative step', 'cronJob', schedule('*/-1 * * * *')],
  ['schedule by descriptor', 'cronJob', schedule('@daily')],
  ['schedule by unknown descriptor', 'cronJob', schedule('@sometimes')],
  ['schedule every', 'cronJob', schedule('@every 1h30m')],
  ['schedule every nonsense', 'cronJob', schedule('@every x')],
  ['schedule with time zone', 'cronJob', schedule('TZ=UTC 0 * * * *')],
  ['schedule of time zone only', 'cronJob', schedule('TZ=0')],
  ['schedule of bad time zone', 'cronJob', schedule('CRON_TZ=Foo/Bar 0 * * * *')],
  ['time zone', 'cronJob', { '/spec/timeZone': 'Europe/Berlin' }],
  ['time zone unknown', 'cronJob', { '/spec/timeZone': 'Europe/Nowhere' }],
  ['time zone with odd characters', 'cronJob', { '/spec/timeZone': '../etc' }],
  ['time zone local', 'cronJob', { '/spec/timeZone': 'Local' }],
  ['time zone empty', 'cronJob', { '/spec/timeZone': '' }],
  ['unknown policy', 'cronJob', { '/spec/concurrencyPolicy': 'Foo' }],
  [
    'negative',
    'cronJob',
    { '/spec/startingDeadlineSeconds': -1, '/spec/successfulJobsHistoryLimit': -1, '/spec/failedJobsHistoryLimit': -1 },
  ],
  [
    'selector',
    'cronJob',
    { '/spec/jobTemplate/spec/selector': { matchLabels: { a: 'b' } }, '/spec/jobTemplate/spec/manualSelector': true },
  ],
  ['bad template', 'cronJob', { '/spec/jobTemplate/spec/backoffLimit': -1, '/spec/jobTemplate/spec/template/spec/containers/0/name': 'A' }],
  ['name too long', 'cronJob', { '/metadata/name': 'a'.repeat(53) }],
  ['update the schedule', 'cronJob', schedule('foo'), UPDATE],
];

export const workloads = caseSet(bases, [...deployments, ...otherSets, ...jobs, ...cronJobs]);
