import type { Json } from '../../../src/kube/object.ts';
import type { Base, Change } from '../case.ts';
import { caseSet, clusterScoped, namespaced, STATUS, UPDATE, type Row } from './build.ts';

const secret = (name: string, body: Json): Base => namespaced('', 'v1', 'secrets', 'Secret', name, body);
const configMap = (name: string, body: Json): Base => namespaced('', 'v1', 'configmaps', 'ConfigMap', name, body);
const b64 = (text: string): string => Buffer.from(text).toString('base64');

const bases: Record<string, Base> = {
  secret: secret('s', { data: { a: b64('b') } }),
  frozenSecret: secret('frozen', { immutable: true, data: { a: b64('b') } }),
  configMap: configMap('c', { data: { a: 'b' }, binaryData: { c: b64('d') } }),
  frozenMap: configMap('frozen', { immutable: true, data: { a: 'b' } }),
  quota: namespaced('', 'v1', 'resourcequotas', 'ResourceQuota', 'q', { spec: { hard: { pods: '1' } } }),
  scopedQuota: namespaced('', 'v1', 'resourcequotas', 'ResourceQuota', 'scoped', { spec: { hard: { pods: '1' }, scopes: ['BestEffort'] } }),
  limits: namespaced('', 'v1', 'limitranges', 'LimitRange', 'l', { spec: { limits: [{ type: 'Pod', max: { cpu: '1' } }] } }),
  namespace: clusterScoped('', 'v1', 'namespaces', 'Namespace', 'recorded', {}),
  node: clusterScoped('', 'v1', 'nodes', 'Node', 'n', { spec: { podCIDRs: ['10.1.0.0/24'], podCIDR: '10.1.0.0/24', providerID: 'a://b' } }),
  account: namespaced('', 'v1', 'serviceaccounts', 'ServiceAccount', 'sa', {}),
  event: namespaced('', 'v1', 'events', 'Event', 'e', { involvedObject: { kind: 'Pod', namespace: 'default', name: 'p' } }),
  timedEvent: namespaced('', 'v1', 'events', 'Event', 'timed', {
    involvedObject: { kind: 'Pod', namespace: 'default', name: 'p' },
    eventTime: '2024-01-01T00:00:00.000000Z',
    reportingComponent: 'example.com/c',
    reportingInstance: 'i',
    action: 'a',
    reason: 'r',
  }),
  newEvent: namespaced('events.k8s.io', 'v1', 'events', 'Event', 'new', {
    regarding: { kind: 'Pod', namespace: 'default', name: 'p' },
    eventTime: '2024-01-01T00:00:00.000000Z',
    reportingController: 'example.com/c',
    reportingInstance: 'i',
    action: 'a',
    reason: 'r',
    type: 'Normal',
  }),
};

const limit = (value: Json): Change => ({ '/spec/limits': [value] });
const scopes = (spec: Json): Change => ({ '/spec': spec });

const rows: Row[] = [
  ['valid', 'secret', {}],
  ['bad key', 'secret', { '/data': { 'a b': '' } }],
  ['dotted key', 'secret', { '/data': { '..': '' } }],
  ['key starting with dots', 'secret', { '/data': { '..a': '' } }],
  ['too large', 'secret', { '/data': { a: { $repeat: 'x', times: 1024 * 1024 + 1, base64: true } } }],
  ['token without account', 'secret', { '/type': 'kubernetes.io/service-account-token' }],
  ['dockercfg without data', 'secret', { '/type': 'kubernetes.io/dockercfg' }],
  ['dockercfg not json', 'secret', { '/type': 'kubernetes.io/dockercfg', '/data': { '.dockercfg': b64('x') } }],
  ['dockercfg a list', 'secret', { '/type': 'kubernetes.io/dockercfg', '/data': { '.dockercfg': b64('[]') } }],
  ['dockerconfigjson without data', 'secret', { '/type': 'kubernetes.io/dockerconfigjson' }],
  ['dockerconfigjson cut short', 'secret', { '/type': 'kubernetes.io/dockerconfigjson', '/data': { '.dockerconfigjson': b64('{"a":') } }],
  [
    'dockerconfigjson with a comma too many',
    'secret',
    { '/type': 'kubernetes.io/dockerconfigjson', '/data': { '.dockerconfigjson': b64('{"a":1,}') } },
  ],
  [
    'dockerconfigjson with a bad literal',
    'secret',
    { '/type': 'kubernetes.io/dockerconfigjson', '/data': { '.dockerconfigjson': b64('{"a":trux}') } },
  ],
  [
    'dockerconfigjson with two values',
    'secret',
    { '/type': 'kubernetes.io/dockerconfigjson', '/data': { '.dockerconfigjson': b64('{} {}') } },
  ],
  ['dockerconfigjson empty', 'secret', { '/type': 'kubernetes.io/dockerconfigjson', '/data': { '.dockerconfigjson': '' } }],
  ['basic auth without data', 'secret', { '/type': 'kubernetes.io/basic-auth' }],
  ['ssh auth without data', 'secret', { '/type': 'kubernetes.io/ssh-auth' }],
  ['tls without data', 'secret', { '/type': 'kubernetes.io/tls' }],
  ['update the type', 'secret', { '/type': 'kubernetes.io/tls', '/data': { 'tls.crt': '', 'tls.key': '' } }, UPDATE],
  ['make immutable', 'secret', { '/immutable': true }, UPDATE],
  ['update frozen', 'frozenSecret', { '/data/a': b64('c') }, UPDATE],
  ['thaw', 'frozenSecret', { '/immutable': false }, UPDATE],
  ['valid', 'configMap', {}],
  ['bad keys', 'configMap', { '/data': { 'a/b': '' }, '/binaryData': { 'c d': '' } }],
  ['same key twice', 'configMap', { '/binaryData/a': '' }],
  ['too large', 'configMap', { '/data/a': { $repeat: 'ä', times: 600 * 1024 } }],
  ['update frozen', 'frozenMap', { '/data/a': 'c', '/binaryData': { x: '' } }, UPDATE],
  ['thaw', 'frozenMap', { '/immutable': null }, UPDATE],
  ['valid', 'quota', {}],
  ['unknown resource', 'quota', { '/spec/hard': { foo: '1' } }],
  ['bad resource', 'quota', { '/spec/hard': { 'a/b/c': '1' } }],
  ['count quota', 'quota', { '/spec/hard': { 'count/deployments.apps': '1500m' } }],
  ['negative', 'quota', { '/spec/hard': { cpu: '-1' } }],
  ['not whole', 'quota', { '/spec/hard': { pods: '1500m' } }],
  ['unknown scope', 'quota', { '/spec/scopes': ['Foo'] }],
  ['conflicting scopes', 'quota', { '/spec/scopes': ['Terminating', 'NotTerminating'] }],
  ['scope of other resource', 'quota', scopes({ hard: { cpu: '1' }, scopes: ['BestEffort'] })],
  [
    'scope selector wrong',
    'quota',
    scopes({
      hard: { pods: '1' },
      scopeSelector: {
        matchExpressions: [
          { scopeName: 'Foo', operator: 'Is' },
          { scopeName: 'PriorityClass', operator: 'In' },
          { scopeName: 'BestEffort', operator: 'Exists', values: ['x'] },
          { scopeName: 'NotBestEffort', operator: 'In', values: ['a'] },
        ],
      },
    }),
  ],
  [
    'scope selector of other resource',
    'quota',
    scopes({
      hard: { services: '1' },
      scopeSelector: { matchExpressions: [{ scopeName: 'PriorityClass', operator: 'In', values: ['x'] }] },
    }),
  ],
  ['update scopes', 'scopedQuota', { '/spec/scopes': ['NotBestEffort'] }, UPDATE],
  ['status', 'quota', { '/status': { hard: { foo: '1' }, used: { pods: '-1' } } }, { ...STATUS }],
  ['valid', 'limits', {}],
  ['unknown type', 'limits', limit({ type: 'Foo' })],
  ['same type twice', 'limits', { '/spec/limits/1': { type: 'Pod' } }],
  ['default for pods', 'limits', limit({ type: 'Pod', default: { cpu: '1' }, defaultRequest: { cpu: '1' } })],
  ['claim without storage', 'limits', limit({ type: 'PersistentVolumeClaim' })],
  [
    'min above max',
    'limits',
    limit({ type: 'Container', min: { cpu: '2' }, max: { cpu: '1' }, default: { cpu: '1' }, defaultRequest: { cpu: '1' } }),
  ],
  [
    'default out of bounds',
    'limits',
    limit({ type: 'Container', min: { cpu: '1' }, max: { cpu: '2' }, default: { cpu: '3' }, defaultRequest: { cpu: '500m' } }),
  ],
  [
    'default below minimum',
    'limits',
    limit({ type: 'Container', min: { cpu: '2' }, max: { cpu: '4' }, default: { cpu: '1' }, defaultRequest: { cpu: '5' } }),
  ],
  ['ratio too small', 'limits', limit({ type: 'Container', maxLimitRequestRatio: { cpu: '900m' } })],
  [
    'ratio too large',
    'limits',
    limit({
      type: 'Container',
      min: { cpu: '1' },
      max: { cpu: '3' },
      default: { cpu: '3' },
      defaultRequest: { cpu: '1' },
      maxLimitRequestRatio: { cpu: '4' },
    }),
  ],
  ['resource unknown', 'limits', limit({ type: 'Container', max: { foo: '1' }, default: { foo: '1' }, defaultRequest: { foo: '1' } })],
  [
    'extended default differs',
    'limits',
    limit({ type: 'Container', default: { 'example.com/x': '2' }, defaultRequest: { 'example.com/x': '1' } }),
  ],
  ['finalizers on create', 'namespace', { '/metadata/name': 'recorded2', '/spec': { finalizers: ['foo', 'a b'] } }],
  ['status phase', 'namespace', { '/status/phase': 'Terminating' }, STATUS],
  [
    'finalize',
    'namespace',
    { '/spec/finalizers': ['kubernetes', 'foo', 'example.com/a b'] },
    { operation: 'update', subresource: 'finalize' },
  ],
  ['valid', 'node', {}],
  [
    'taints wrong',
    'node',
    {
      '/spec/taints': [
        { key: 'a b', value: '-', effect: 'Foo' },
        { key: 'c' },
        { key: 'd', effect: 'NoSchedule' },
        { key: 'd', effect: 'NoSchedule' },
      ],
    },
  ],
  ['pod cidrs wrong', 'node', { '/spec/podCIDR': '10.1.0.0/24', '/spec/podCIDRs': ['10.1.0.0/24', '10.2.0.0/24'] }],
  [
    'capacity wrong',
    'node',
    { '/status/capacity': { 'example.com/gpu': '1500m', cpu: '-1' }, '/status/allocatable': { 'example.com/gpu': '1500m', cpu: '-1' } },
    { unordered: true },
  ],
  ['update identity', 'node', { '/spec/podCIDRs': ['10.9.0.0/24'], '/spec/podCIDR': '10.9.0.0/24', '/spec/providerID': 'c://d' }, UPDATE],
  [
    'update taints',
    'node',
    {
      '/spec/taints': [
        { key: 'd', effect: 'NoSchedule', timeAdded: '2024-01-01T00:00:00Z' },
        { key: 'd', effect: 'NoSchedule' },
      ],
    },
    UPDATE,
  ],
  [
    'status addresses',
    'node',
    {
      '/status/addresses': [
        { type: 'Hostname', address: 'a' },
        { type: 'Hostname', address: 'a' },
      ],
    },
    STATUS,
  ],
  ['valid', 'account', {}],
  ['valid', 'event', {}],
  ['other namespace', 'event', { '/involvedObject/namespace': 'other' }],
  ['valid', 'timedEvent', {}],
  ['nothing reported', 'timedEvent', { '/reportingComponent': '', '/reportingInstance': '', '/action': '', '/reason': '' }],
  [
    'too much reported',
    'timedEvent',
    { '/reportingInstance': 'a'.repeat(129), '/action': 'a'.repeat(129), '/reason': 'a'.repeat(129), '/message': 'a'.repeat(1025) },
  ],
  ['valid', 'newEvent', {}],
  [
    'deprecated fields',
    'newEvent',
    {
      '/deprecatedCount': 1,
      '/deprecatedFirstTimestamp': '2024-01-01T00:00:00Z',
      '/deprecatedLastTimestamp': '2024-01-01T00:00:00Z',
      '/deprecatedSource': { host: 'a' },
    },
  ],
  ['unknown type and series', 'newEvent', { '/type': 'Foo', '/series': { count: 1 } }],
  ['update the reason', 'newEvent', { '/reason': 'x', '/action': 'y', '/note': 'z' }, UPDATE],
];

export const configuration = caseSet(bases, rows);
