import { expect, it } from 'vitest';
import type { KubeObject } from '../../../../kube/object.ts';
import { COPIED_PARTS, copyOf, marked } from './copies.ts';
import { keptDeployment, keptPod } from './kept-objects.ts';

const secret = (name: string, labels: object = {}): KubeObject => ({
  apiVersion: 'v1',
  kind: 'Secret',
  metadata: {
    name,
    namespace: 'plugin-acme-x',
    uid: '1',
    labels: { 'plugins.tenantry.dev/managed': 'secrets', 'tenantry.dev/tenant': 'acme', ...labels },
  },
  type: 'Opaque',
  data: { a: 'b' },
});
const copied = (part: string, object: KubeObject) =>
  copyOf(
    COPIED_PARTS.find((each) => each.kind.kind === object.kind && each.part === part)!,
    object,
    'acme',
  );

it.each(['plugin-pull', 'plugin-database', 'plugin-events', 'external-x', 'anything'])('the Secret %s is never copied', (name) => {
  for (const part of ['identity', 'secrets']) expect(copied(part, secret(name))).toBeUndefined();
});

it('no Secrets of backends are looked at', () => {
  expect(COPIED_PARTS.filter(({ kind }) => kind.kind === 'Secret').map(({ part }) => part)).toEqual(['identity', 'secrets']);
});

it('a copy has our labels, those of its tenant, and nothing that means something on the host alone', () => {
  expect(copied('secrets', secret('plugin-secrets'))).toEqual({
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: { name: 'plugin-secrets', labels: { 'plugins.tenantry.dev/managed': 'secrets', 'plugins.tenantry.dev/placed-from': 'acme' } },
    type: 'Opaque',
    data: { a: 'b' },
  });
  const service = {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { name: 's' },
    spec: { selector: { a: 'b' }, ports: [], clusterIP: '10.0.0.1', clusterIPs: [] },
  };
  expect(copied('workload', service)!.spec).toEqual({ selector: { a: 'b' }, ports: [] });
});

it('what is on its way out is not copied', () => {
  const going = secret('plugin-secrets');
  going.metadata.deletionTimestamp = '2026-01-01T00:00:00Z';
  expect(copied('secrets', going)).toBeUndefined();
});

it('Pods of a copied Deployment are marked too', () => {
  const deployment = {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name: 'd' },
    spec: { template: { metadata: { labels: { a: 'b' } }, spec: {} } },
  };
  expect(marked(deployment, 'acme').spec.template.metadata.labels).toEqual({ a: 'b', 'plugins.tenantry.dev/placed-from': 'acme' });
});

it('of what is inside nothing is kept that may be of any length', () => {
  const long = 'x'.repeat(100_000);
  const metadata = {
    name: 'n',
    namespace: 'ns',
    labels: { [`a/${'b'.repeat(60)}`]: 'c' },
    annotations: { long },
    managedFields: [{ long }],
  };
  const conditions = [
    { type: 'Progressing', status: 'True', message: long },
    { type: 'Other', status: 'True', message: long },
  ];
  const containers = [{ image: long, env: [{ name: 'a', value: long }] }];
  const spec = { replicas: 1, template: { spec: { containers } } };
  const deployment = keptDeployment({
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata,
    spec,
    status: { conditions, replicas: 1 },
  } as never);
  const pod = keptPod({
    apiVersion: 'v1',
    kind: 'Pod',
    metadata,
    spec,
    status: { message: long, conditions, containerStatuses: [{ image: long }] },
  } as never);
  for (const kept of [deployment, pod]) expect(JSON.stringify(kept).length).toBeLessThan(1000);
});
