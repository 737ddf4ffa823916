import { describe, expect, it } from 'vitest';
import type { GroupResource, Json, KubeObject } from '../../../../kube/object.ts';
import type { ObjectReader } from '../../registry/objects.ts';
import type { Attributes, Authorizer } from '../user.ts';
import { NodeAuthorizer } from './node-authorizer.ts';

const pod = (name: string, nodeName: string, spec: Json = {}, annotations?: Record<string, string>): KubeObject => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name, namespace: 'web', annotations },
  spec: { nodeName, serviceAccountName: 'runner', containers: [], ...spec },
});

const container = {
  env: [
    { name: 'A', valueFrom: { secretKeyRef: { name: 'in-env', key: 'a' } } },
    { name: 'B', valueFrom: { configMapKeyRef: { name: 'config-env', key: 'b' } } },
  ],
  envFrom: [{ secretRef: { name: 'in-env-from' } }, { configMapRef: { name: 'config-env-from' } }],
};
const volumes = [
  { name: 'a', secret: { secretName: 'in-volume' } },
  { name: 'b', configMap: { name: 'config-volume' } },
  { name: 'c', projected: { sources: [{ secret: { name: 'projected' } }, { configMap: { name: 'kube-root-ca.crt' } }] } },
  { name: 'd', persistentVolumeClaim: { claimName: 'data' } },
  { name: 'e', ephemeral: { volumeClaimTemplate: {} } },
];

const OBJECTS: Record<string, KubeObject[]> = {
  pods: [
    pod('mine', 'w1', { containers: [container], volumes, imagePullSecrets: [{ name: 'pull' }] }),
    pod('other', 'w2', { containers: [], volumes: [{ name: 'a', secret: { secretName: 'of-other' } }], serviceAccountName: 'other' }),
    pod('mirror', 'w1', { volumes: [{ name: 'a', secret: { secretName: 'of-mirror' } }] }, { 'kubernetes.io/config.mirror': 'x' }),
  ],
  nodes: [{ apiVersion: 'v1', kind: 'Node', metadata: { name: 'w1' } }],
  persistentvolumes: [
    { apiVersion: 'v1', kind: 'PersistentVolume', metadata: { name: 'pv-data' }, spec: { claimRef: { namespace: 'web', name: 'data' } } },
    { apiVersion: 'v1', kind: 'PersistentVolume', metadata: { name: 'pv-other' }, spec: { claimRef: { namespace: 'web', name: 'x' } } },
  ],
};

const reader: ObjectReader = {
  get: <T extends KubeObject>({ resource }: GroupResource, namespace: string, name: string) =>
    OBJECTS[resource]?.find(({ metadata }) => metadata.name === name && (metadata.namespace ?? '') === namespace) as T | undefined,
  list: <T extends KubeObject>({ resource }: GroupResource) => (OBJECTS[resource] ?? []) as T[],
  onChange: () => () => {},
};
const roles: Authorizer = { authorize: () => ({ allowed: false, reason: '' }), rulesFor: () => [] };
const authorizer = new NodeAuthorizer(reader, roles);

function asked(verb: string, what: string, more: Partial<Attributes> = {}): Attributes {
  const [resource, subresource = ''] = what.split('/');
  const user = { name: 'system:node:w1', groups: ['system:nodes', 'system:authenticated'] };
  return { user, verb, group: '', version: 'v1', resource, subresource, namespace: 'web', name: '', ...more };
}

describe('a node may', () => {
  it.each<[string, Attributes]>([
    ...['in-env', 'in-env-from', 'in-volume', 'projected', 'pull'].map((name): [string, Attributes] => [
      `read Secret ${name} of its Pod`,
      asked('get', 'secrets', { name }),
    ]),
    ['watch a Secret of its Pod', asked('watch', 'secrets', { name: 'in-volume' })],
    ...['config-env', 'config-env-from', 'config-volume', 'kube-root-ca.crt'].map((name): [string, Attributes] => [
      `read ConfigMap ${name} of its Pod`,
      asked('get', 'configmaps', { name }),
    ]),
    ['get a claim of its Pod', asked('get', 'persistentvolumeclaims', { name: 'data' })],
    ['get a claim that was made for its Pod', asked('get', 'persistentvolumeclaims', { name: 'mine-e' })],
    ['get the volume of a claim of its Pod', asked('get', 'persistentvolumes', { namespace: '', name: 'pv-data' })],
    ['make a token for the account of its Pod', asked('create', 'serviceaccounts/token', { name: 'runner' })],
    ['list its Pods', asked('list', 'pods', { namespace: '', fieldSelector: 'spec.nodeName=w1' })],
    ['get its Pod', asked('get', 'pods', { name: 'mine' })],
    ['write the status of Pods, which admission judges', asked('patch', 'pods/status', { name: 'mine' })],
    ['read itself', asked('get', 'nodes', { namespace: '', name: 'w1' })],
    ['make itself', asked('create', 'nodes', { namespace: '' })],
    ['renew its lease', asked('patch', 'leases', { group: 'coordination.k8s.io', namespace: 'kube-node-lease', name: 'w1' })],
    ['ask for certificates', asked('create', 'certificatesigningrequests', { group: 'certificates.k8s.io', namespace: '' })],
    ['follow Services', asked('watch', 'services', { namespace: '' })],
    ['tell events', asked('create', 'events')],
  ])('%s', (_name, attributes) => {
    expect(authorizer.authorize(attributes).allowed).toBe(true);
  });
});

const UNRELATED = "no relationship found between node 'w1' and this object";

describe('a node may not', () => {
  it.each<[string, Attributes, string]>([
    ['read a Secret of a Pod of another node', asked('get', 'secrets', { name: 'of-other' }), UNRELATED],
    ['read a Secret that a Pod names in another namespace', asked('get', 'secrets', { namespace: 'x', name: 'in-env' }), UNRELATED],
    ['read what a Pod names that it made itself', asked('get', 'secrets', { name: 'of-mirror' }), UNRELATED],
    ['list Secrets', asked('list', 'secrets'), 'No Object name found'],
    ['list all Secrets', asked('list', 'secrets', { namespace: '' }), 'can only read namespaced object of this type'],
    ['write a Secret', asked('update', 'secrets', { name: 'in-env' }), 'can only read resources of this type'],
    ['list claims', asked('list', 'persistentvolumeclaims', { name: 'data' }), 'can only get individual resources of this type'],
    ['get another volume', asked('get', 'persistentvolumes', { namespace: '', name: 'pv-other' }), UNRELATED],
    ['make a token for another account', asked('create', 'serviceaccounts/token', { name: 'other' }), UNRELATED],
    [
      'list all Pods with what only looks like a selection',
      asked('list', 'pods', { namespace: '', fieldSelector: 'metadata.name!=x\\,spec.nodeName=w1' }),
      'can only list/watch pods with spec.nodeName field selector',
    ],
    ['list all Pods', asked('list', 'pods', { namespace: '' }), 'can only list/watch pods with spec.nodeName field selector'],
    [
      'list Pods of another',
      asked('list', 'pods', { fieldSelector: 'spec.nodeName=w2' }),
      'can only list/watch pods with spec.nodeName field selector',
    ],
    ['get a Pod of another', asked('get', 'pods', { name: 'other' }), UNRELATED],
    ['exec', asked('create', 'pods/exec', { name: 'mine' }), ''],
    ['read another node', asked('get', 'nodes', { namespace: '', name: 'w2' }), "node 'w1' cannot read 'w2', only its own Node object"],
    ['delete itself', asked('delete', 'nodes', { namespace: '', name: 'w1' }), ''],
    [
      'have the lease of another',
      asked('get', 'leases', { group: 'coordination.k8s.io', namespace: 'kube-node-lease', name: 'w2' }),
      'can only access node lease with the same name as the requesting node',
    ],
    [
      'have leases elsewhere',
      asked('get', 'leases', { group: 'coordination.k8s.io', name: 'w1' }),
      'can only access leases in the "kube-node-lease" system namespace',
    ],
    ['read roles', asked('get', 'clusterroles', { group: 'rbac.authorization.k8s.io', namespace: '' }), ''],
  ])('%s', (_name, attributes, reason) => {
    expect(authorizer.authorize(attributes)).toEqual({ allowed: false, reason });
  });

  it('have a Secret before it is there itself', () => {
    const user = { name: 'system:node:w2', groups: ['system:nodes'] };
    expect(authorizer.authorize({ ...asked('get', 'secrets', { name: 'of-other' }), user }).allowed).toBe(false);
  });
});

it('others are judged by their roles alone', () => {
  const user = { name: 'system:node:w1', groups: ['system:authenticated'] };
  expect(authorizer.authorize({ ...asked('get', 'secrets', { name: 'in-env' }), user })).toEqual({ allowed: false, reason: '' });
});
