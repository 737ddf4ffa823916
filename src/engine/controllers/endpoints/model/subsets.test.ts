import { expect, test } from 'vitest';
import type { Json } from '../../../../kube/object.ts';
import { aPod } from '../../../scheduler/testing/builders.ts';
import type { PodObject, ServiceObject } from '../../endpoint-slice/endpoints-of.ts';
import { mirroredSlices } from './mirrored-slices.ts';
import { subsetsOf, truncate, type Subset } from './subsets.ts';

const service = (spec: Json): ServiceObject => ({
  apiVersion: 'v1',
  kind: 'Service',
  metadata: { name: 'web', namespace: 'default' },
  spec: { ipFamilies: ['IPv4'], clusterIP: '10.0.0.1', ...spec },
});

function pod(name: string, podIP: string, ports: Json[]): PodObject {
  return aPod(name)
    .with({ nodeName: 'n', containers: [{ name: 'c', ports }] })
    .withStatus({ phase: 'Running', podIP, podIPs: [{ ip: podIP }], conditions: [{ type: 'Ready', status: 'True' }] })
    .object();
}

test('ports that the same Pods offer stand together, others apart', () => {
  const http = { name: 'http', containerPort: 8080 };
  const ports = [
    { name: 'http', port: 80, targetPort: 'http' },
    { name: 'plain', port: 81, targetPort: 81 },
    { name: 'extra', port: 82, targetPort: 'extra' },
  ];
  const pods = [pod('a', '10.0.0.1', [http, { name: 'extra', containerPort: 1 }]), pod('b', '10.0.0.2', [http])];
  const view = subsetsOf(service({ ports }), pods).map((subset) => [
    subset.addresses?.map(({ ip }) => ip).join(),
    subset.ports?.map(({ name, port }) => `${name}:${port}`).join(),
  ]);
  expect(view).toEqual([
    ['10.0.0.1,10.0.0.2', 'http:8080,plain:81'],
    ['10.0.0.1', 'extra:1'],
  ]);
});

test('only a headless Service may have no ports', () => {
  const pods = [pod('a', '10.0.0.1', [])];
  expect(subsetsOf(service({ ports: [] }), pods)).toEqual([]);
  expect(subsetsOf(service({ ports: [], clusterIP: 'None' }), pods)).toMatchObject([{ addresses: [{ ip: '10.0.0.1' }] }]);
});

const many = (count: number): Json[] => Array.from({ length: count }, (_, i) => ({ ip: `10.0.${i >> 8}.${i & 255}` }));

test.each<[string, Subset[], [number, number][], boolean]>([
  ['what fits stays', [{ addresses: many(600), notReadyAddresses: many(400) }], [[600, 400]], false],
  ['those that are not ready go first', [{ addresses: many(600), notReadyAddresses: many(500) }], [[600, 400]], true],
  [
    'then the ready ones, and all others',
    [{ addresses: many(700), notReadyAddresses: many(5) }, { addresses: many(700) }],
    [
      [700, 0],
      [300, 0],
    ],
    true,
  ],
])('%s', (_name, subsets, expected, cut) => {
  expect(truncate(subsets)).toBe(cut);
  expect(subsets.map(({ addresses = [], notReadyAddresses = [] }) => [addresses.length, notReadyAddresses.length])).toEqual(expected);
});

test('Endpoints of both families become a slice for each', () => {
  const endpoints = {
    apiVersion: 'v1',
    kind: 'Endpoints',
    metadata: {
      name: 'web',
      namespace: 'default',
      uid: '1',
      annotations: { note: 'a', 'kubectl.kubernetes.io/last-applied-configuration': '{}' },
    },
    subsets: [{ addresses: [{ ip: '10.0.0.1' }, { ip: 'fd00::1' }], ports: [{ port: 80 }] }],
  };
  const slices = mirroredSlices(endpoints);
  expect(slices.map(({ addressType, endpoints: all }) => [addressType, all[0].addresses[0]])).toEqual([
    ['IPv4', '10.0.0.1'],
    ['IPv6', 'fd00::1'],
  ]);
  expect(slices[0].metadata).toMatchObject({ generateName: 'web-', annotations: { note: 'a' } });
});
