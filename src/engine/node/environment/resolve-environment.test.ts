import { describe, expect, it } from 'vitest';
import type { Json, KubeObject } from '../../../kube/object.ts';
import { ContainerError } from '../drivers/driver.ts';
import { resolveEnvironment, type ReadObjects } from './resolve-environment.ts';

const base64 = (text: string): string => Buffer.from(text).toString('base64');
const configMaps: Record<string, Json> = {
  'shop/settings': { colour: 'red', size: '$(colour)', 'not.an.identifier': 'x', '1st': 'one' },
  'shop/empty': undefined,
};
const secrets: Record<string, Json> = { 'shop/keys': { token: base64('s3cr€t'), user: base64('me') } };
let reads: string[] = [];
const read: ReadObjects = {
  configMap: async (namespace, name) => object('ConfigMap', configMaps, namespace, name),
  secret: async (namespace, name) => object('Secret', secrets, namespace, name),
};

function object(kind: string, data: Record<string, Json>, namespace: string, name: string): KubeObject | undefined {
  const key = `${namespace}/${name}`;
  reads.push(`${kind} ${key}`);
  return key in data ? { apiVersion: 'v1', kind, metadata: { namespace, name }, data: data[key] } : undefined;
}

const service: KubeObject = {
  apiVersion: 'v1',
  kind: 'Service',
  metadata: { namespace: 'shop', name: 'db' },
  spec: { clusterIP: '10.0.0.5', ports: [{ port: 5432 }] },
};

function resolve(container: Json, spec: Json = { enableServiceLinks: false }): Promise<Record<string, string>> {
  reads = [];
  const pod: KubeObject = {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: 'web', namespace: 'shop', uid: 'u1', labels: { a: 'b' } },
    spec: { nodeName: 'n1', containers: [container], ...spec },
  };
  const node = { allocatable: { cpu: '2', memory: '4Gi' } };
  return resolveEnvironment({ pod, container, services: [service], podIp: '10.1.0.7', hostIp: '127.0.0.1', node, read });
}

const ref = (kind: 'configMapKeyRef' | 'secretKeyRef', name: string, key: string, optional?: boolean): Json => ({
  [kind]: { name, key, optional },
});

describe('resolveEnvironment', () => {
  const cases: [string, Json, Record<string, string>][] = [
    ['nothing', {}, {}],
    ['values', { env: [{ name: 'A', value: '1' }, { name: 'B' }, { name: 'C', value: '' }] }, { A: '1', B: '', C: '' }],
    [
      'references to variables above, not below',
      {
        env: [
          { name: 'A', value: '1' },
          { name: 'B', value: '$(A)$(C)' },
          { name: 'C', value: '2' },
        ],
      },
      { A: '1', B: '1$(C)', C: '2' },
    ],
    [
      'the last of two of one name',
      {
        env: [
          { name: 'A', value: '1' },
          { name: 'A', value: '$(A)2' },
        ],
      },
      { A: '12' },
    ],
    [
      'everything of a ConfigMap, taken as it is',
      { envFrom: [{ configMapRef: { name: 'settings' } }] },
      { colour: 'red', size: '$(colour)', 'not.an.identifier': 'x', '1st': 'one' },
    ],
    [
      'a prefix, and a Secret over a ConfigMap',
      { envFrom: [{ prefix: 'P_', secretRef: { name: 'keys' } }, { secretRef: { name: 'keys' } }] },
      { P_token: 's3cr€t', P_user: 'me', token: 's3cr€t', user: 'me' },
    ],
    [
      'env over envFrom',
      { envFrom: [{ secretRef: { name: 'keys' } }], env: [{ name: 'user', value: '$(user)2' }] },
      { token: 's3cr€t', user: 'me2' },
    ],
    ['a ConfigMap without data', { envFrom: [{ configMapRef: { name: 'empty' } }] }, {}],
    [
      'optional objects that are not there',
      { envFrom: [{ configMapRef: { name: 'no', optional: true } }, { secretRef: { name: 'no', optional: true } }] },
      {},
    ],
    ['a key of a ConfigMap', { env: [{ name: 'A', valueFrom: ref('configMapKeyRef', 'settings', 'colour') }] }, { A: 'red' }],
    ['a key of a Secret', { env: [{ name: 'A', valueFrom: ref('secretKeyRef', 'keys', 'token') }] }, { A: 's3cr€t' }],
    [
      'optional keys that are not there',
      {
        env: [
          { name: 'A', valueFrom: ref('configMapKeyRef', 'settings', 'no', true) },
          { name: 'B', valueFrom: ref('configMapKeyRef', 'no', 'no', true) },
          { name: 'C', valueFrom: ref('secretKeyRef', 'keys', 'no', true) },
          { name: 'D', valueFrom: ref('secretKeyRef', 'no', 'no', true) },
        ],
      },
      {},
    ],
    [
      'an optional key that is not there leaves what was there',
      {
        env: [
          { name: 'A', value: '1' },
          { name: 'A', valueFrom: ref('secretKeyRef', 'no', 'no', true) },
        ],
      },
      { A: '1' },
    ],
    [
      'fields and resources',
      {
        resources: { limits: { memory: '64Mi' } },
        env: [
          { name: 'IP', valueFrom: { fieldRef: { apiVersion: 'v1', fieldPath: 'status.podIP' } } },
          { name: 'LABEL', valueFrom: { fieldRef: { fieldPath: "metadata.labels['a']" } } },
          { name: 'MEMORY', valueFrom: { resourceFieldRef: { resource: 'limits.memory', divisor: '1Mi' } } },
          { name: 'CPU', valueFrom: { resourceFieldRef: { resource: 'limits.cpu' } } },
          { name: 'ALL', value: '$(IP) $(MEMORY)' },
        ],
      },
      { IP: '10.1.0.7', LABEL: 'b', MEMORY: '64', CPU: '2', ALL: '10.1.0.7 64' },
    ],
  ];

  it.each(cases)('%s', async (_, container, env) => {
    expect(await resolve({ name: 'main', ...container })).toEqual(env);
  });

  it('Services are known to references and give way to variables of the container', async () => {
    const env = [
      { name: 'URL', value: '$(DB_SERVICE_HOST):$(DB_SERVICE_PORT)' },
      { name: 'DB_SERVICE_HOST', value: 'mine' },
    ];
    const resolved = await resolve({ name: 'main', env }, {});
    expect(resolved).toMatchObject({ URL: '10.0.0.5:5432', DB_SERVICE_HOST: 'mine', DB_SERVICE_PORT: '5432' });
  });

  it('reads an object once', async () => {
    const env = ['colour', 'size'].map((key) => ({ name: key, valueFrom: ref('configMapKeyRef', 'settings', key) }));
    await resolve({ name: 'main', env, envFrom: [{ configMapRef: { name: 'settings' } }] });
    expect(reads).toEqual(['ConfigMap shop/settings']);
  });

  const failures: [string, Json, string][] = [
    ['no ConfigMap', { envFrom: [{ configMapRef: { name: 'no' } }] }, 'configmap "no" not found'],
    ['no Secret', { envFrom: [{ secretRef: { name: 'no' } }] }, 'secret "no" not found'],
    ['no ConfigMap for a key', { env: [{ name: 'A', valueFrom: ref('configMapKeyRef', 'no', 'k') }] }, 'configmap "no" not found'],
    ['no Secret for a key', { env: [{ name: 'A', valueFrom: ref('secretKeyRef', 'no', 'k') }] }, 'secret "no" not found'],
    [
      'no key in a ConfigMap',
      { env: [{ name: 'A', valueFrom: ref('configMapKeyRef', 'settings', 'k') }] },
      "couldn't find key k in ConfigMap shop/settings",
    ],
    [
      'no key in a Secret',
      { env: [{ name: 'A', valueFrom: ref('secretKeyRef', 'keys', 'k') }] },
      "couldn't find key k in Secret shop/keys",
    ],
    ['an unknown field', { env: [{ name: 'A', valueFrom: { fieldRef: { fieldPath: 'spec.x' } } }] }, 'field label not supported: spec.x'],
    [
      'an unknown container',
      { env: [{ name: 'A', valueFrom: { resourceFieldRef: { containerName: 'x', resource: 'limits.cpu' } } }] },
      'container x not found',
    ],
    [
      'a file',
      { env: [{ name: 'A', valueFrom: { fileKeyRef: { volumeName: 'v', path: 'p', key: 'k' } } }] },
      'Cannot read the variable "k" from a file of volume "v": this node does not support fileKeyRef; use a ConfigMap or a Secret',
    ],
  ];

  it.each(failures)('refuses: %s', async (_, container, message) => {
    const refused = resolve({ name: 'main', ...container });
    await expect(refused).rejects.toThrow(ContainerError);
    await expect(refused).rejects.toMatchObject({ reason: 'CreateContainerConfigError', message });
  });

  it('passes on what kept an object from being read', async () => {
    const pod: KubeObject = { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'p', namespace: 'shop' }, spec: {} };
    const broken = { configMap: () => Promise.reject(new Error('no route')), secret: read.secret };
    const container = { envFrom: [{ configMapRef: { name: 'x', optional: true } }] };
    const input = { pod, container, services: [], podIp: '', hostIp: '', node: { allocatable: {} }, read: broken };
    await expect(resolveEnvironment(input)).rejects.toThrow('no route');
  });
});
