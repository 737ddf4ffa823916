import { describe, expect, test } from 'vitest';
import type { Json, KubeObject } from '../../../../../kube/object.ts';
import { claimRefusal, fullName, ingressRefusal, podRefusal } from './allowed-classes.ts';
import { bindsEverybody, opensEgress } from './open-policies.ts';
import { startsSomething } from './suspended-writes.ts';

const object = (spec: Json): KubeObject => ({ apiVersion: 'v1', kind: 'X', metadata: { name: 'x' }, spec });
const containing = (text: string | undefined) => (text === undefined ? undefined : expect.stringContaining(text));

describe('podRefusal', () => {
  const image = (name: string) => ({ containers: [{ image: name }] });
  test.each<[string, Json, Parameters<typeof podRefusal>[1], string | undefined]>([
    ['without lists everything goes', { runtimeClassName: 'x', priorityClassName: 'y', ...image('a/b') }, {}, undefined],
    ['a listed runtime class', { runtimeClassName: 'gvisor' }, { runtimeClasses: ['gvisor'] }, undefined],
    [
      'another runtime class',
      { runtimeClassName: 'kata' },
      { runtimeClasses: ['gvisor'] },
      'runtime class "kata" is not allowed; allowed are gvisor',
    ],
    ['another priority class', { priorityClassName: 'high' }, { priorityClasses: [] }, 'allowed are none'],
    ['the platform’s priority', { priorityClassName: 'system-node-critical' }, {}, "is the platform's"],
    ['an allowed registry', image('registry.example/a:1'), { registries: ['registry.example'] }, undefined],
    [
      'a registry whose name begins the same',
      image('registry.example.evil/a'),
      { registries: ['registry.example'] },
      'is not from an allowed registry',
    ],
    ['a short name', image('nginx'), { registries: ['docker.io/library'] }, undefined],
    ['our own images', image('tenantry.dev/runtimed:1'), { registries: [] }, undefined],
    ['an init container', { initContainers: [{ image: 'evil/x' }] }, { registries: ['good'] }, 'evil/x'],
    ['an ephemeral container', { ephemeralContainers: [{ image: 'evil/x' }] }, { registries: ['good'] }, 'evil/x'],
    ['an image as volume', { volumes: [{ image: { reference: 'evil/x' } }] }, { registries: ['good'] }, 'evil/x'],
  ])('%s', (_what, spec, allowed, expected) => {
    expect(podRefusal(spec, allowed)).toEqual(containing(expected));
  });

  test.each([
    ['nginx', 'docker.io/library/nginx'],
    ['bitnami/redis:7', 'docker.io/bitnami/redis:7'],
    ['localhost/a', 'localhost/a'],
    ['host:5000/a', 'host:5000/a'],
  ])('%s stands for %s', (short, full) => expect(fullName(short)).toBe(full));
});

test('claims and ingresses keep to their lists', () => {
  const allowed = { storageClasses: ['fast'], ingressClasses: ['inner'] };
  expect(claimRefusal(object({ storageClassName: 'fast' }), allowed)).toBeUndefined();
  expect(claimRefusal(object({ storageClassName: 'slow' }), allowed)).toContain('"slow" is not allowed');
  expect(claimRefusal(object({ storageClassName: '' }), allowed)).toContain('names no storage class');
  expect(ingressRefusal(object({ ingressClassName: 'outer' }), allowed)).toContain('"outer" is not allowed');
  const annotated = { ...object({}), metadata: { annotations: { 'kubernetes.io/ingress.class': 'outer' } } };
  expect(ingressRefusal(annotated, allowed)).toContain('"outer" is not allowed');
});

describe('opensEgress', () => {
  const to = (...peers: object[]) => ({ egress: [{ to: peers }] });
  const onPorts = (...ports: object[]) => ({ egress: [{ to: [{ ipBlock: { cidr: '198.51.100.7/32' } }], ports }] });
  test.each<[string, Json, string | undefined]>([
    ['only ingress', { ingress: [{}] }, undefined],
    ['the same namespace', to({ podSelector: {} }), undefined],
    ['everything', { egress: [{}] }, 'without "to" reaches everything'],
    ['every namespace', to({ namespaceSelector: {} }), 'namespaces of others'],
    [
      'a namespace of others by name',
      to({ namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': 'beta' } } }),
      'namespaces of others',
    ],
    ['a namespace of its own by name', to({ namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': 'acme--x' } } }), undefined],
    ['the own tenant', to({ namespaceSelector: { matchLabels: { 'tenantry.dev/tenant': 'acme', tier: 'db' } } }), undefined],
    [
      'the own tree',
      to({ namespaceSelector: { matchExpressions: [{ key: 'acme.tree.hnc.x-k8s.io/depth', operator: 'Exists' }] } }),
      undefined,
    ],
    [
      'two tenants',
      to({ namespaceSelector: { matchExpressions: [{ key: 'tenantry.dev/tenant', operator: 'In', values: ['acme', 'beta'] }] } }),
      'namespaces of others',
    ],
    ['an allowed range', to({ ipBlock: { cidr: '192.0.2.128/25' } }), undefined],
    ['a wider range', to({ ipBlock: { cidr: '192.0.0.0/16' } }), 'is not among spec.network.allow'],
    ['all addresses', to({ ipBlock: { cidr: '0.0.0.0/0' } }), 'is not among spec.network.allow'],
    ['an allowed port of a range', onPorts({ port: 5432 }), undefined],
    ['another port of it', onPorts({ port: 5432 }, { port: 22 }), 'is not among spec.network.allow'],
    ['a range of ports', onPorts({ port: 5432, endPort: 6000 }), 'is not among spec.network.allow'],
    ['another protocol', onPorts({ port: 5432, protocol: 'UDP' }), 'is not among spec.network.allow'],
    ['all ports of a range of which one is allowed', to({ ipBlock: { cidr: '198.51.100.7/32' } }), 'is not among spec.network.allow'],
  ])('%s', (_what, spec, expected) => {
    const tenant = { network: { allow: [{ cidr: '192.0.2.0/24' }, { cidr: '198.51.100.0/24', ports: [5432] }] } };
    expect(opensEgress(spec, 'acme', tenant, (name) => name.startsWith('acme--'))).toEqual(containing(expected));
  });
});

test('bindsEverybody knows who is everybody', () => {
  expect(bindsEverybody([{ kind: 'Group', name: 'system:authenticated' }])).toContain('everybody');
  expect(
    bindsEverybody([
      { kind: 'User', name: 'alice' },
      { kind: 'Group', name: 'system:serviceaccounts:acme' },
    ]),
  ).toBeUndefined();
});

describe('startsSomething', () => {
  const write = (group: string, resource: string, spec: Json, old?: Json, subResource?: string) => ({
    group,
    resource,
    subResource,
    object: object(spec),
    oldObject: old === undefined ? undefined : object(old),
  });
  test.each<[string, Parameters<typeof startsSomething>[0], boolean]>([
    ['a new Pod', write('', 'pods', {}), true],
    ['a change of a Pod', write('', 'pods', {}, {}), false],
    ['a new Run', write('kruntimes.io', 'runs', {}), true],
    ['a Deployment with replicas', write('apps', 'deployments', { replicas: 1 }), true],
    ['a Deployment that says nothing', write('apps', 'deployments', {}), true],
    ['a Deployment without replicas', write('apps', 'deployments', { replicas: 0 }), false],
    ['a new image of one without replicas', write('apps', 'deployments', { replicas: 0, x: 1 }, { replicas: 0 }), false],
    ['scaling up', write('apps', 'deployments', { replicas: 1 }, { replicas: 0 }), true],
    ['scaling up by the subresource', write('apps', 'deployments', { replicas: 1 }, { replicas: 0 }, 'scale'), true],
    ['scaling down by the subresource', write('apps', 'deployments', { replicas: 0 }, { replicas: 1 }, 'scale'), false],
    ['going on with a CronJob', write('batch', 'cronjobs', { suspend: false }, { suspend: true }), true],
    ['a suspended Job', write('batch', 'jobs', { suspend: true }), false],
    ['a Runtime without replicas that follows its queue', write('kruntimes.io', 'runtimes', { replicas: 0, autoscaling: {} }), true],
    ['a DaemonSet', write('apps', 'daemonsets', { template: { spec: {} } }), true],
    ['a ConfigMap', write('', 'configmaps', {}), false],
  ])('%s: %o', (_what, given, expected) => {
    expect(startsSomething(given)).toBe(expected);
  });
});
