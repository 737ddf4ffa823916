import { expect, test } from 'vitest';
import { aPod, type PodBuilder } from '../../scheduler/testing/builders.ts';
import { endpointGroups, type ServiceObject, type SliceObject } from './endpoints-of.ts';
import { planSlices, type SlicePlan } from './plan-slices.ts';

const service = (spec: Partial<NonNullable<ServiceObject['spec']>> = {}): ServiceObject => ({
  apiVersion: 'v1',
  kind: 'Service',
  metadata: { name: 'web', namespace: 'default', uid: 'svc', labels: { team: 'blue' } },
  spec: { clusterIP: '10.0.0.1', ipFamilies: ['IPv4'], ports: [{ name: 'http', port: 80, targetPort: 8080, protocol: 'TCP' }], ...spec },
});

function running(name: string, ip: string, ready = true): PodBuilder {
  return aPod(name)
    .with({ nodeName: 'n1' })
    .withStatus({ phase: 'Running', podIP: ip, podIPs: [{ ip }], conditions: [{ type: 'Ready', status: ready ? 'True' : 'False' }] });
}

const plan = (owner: ServiceObject, pods: PodBuilder[], existing: SliceObject[] = []): SlicePlan =>
  planSlices(
    owner,
    endpointGroups(
      owner,
      pods.map((pod) => pod.object()),
      (node) => (node === 'n1' ? { zone: 'zone-a' } : undefined),
    ),
    existing,
  );

let count = 0;
/** What the server keeps of the new slices. */
const stored = ({ create }: SlicePlan): SliceObject[] =>
  create.map((slice) => ({
    apiVersion: 'discovery.k8s.io/v1',
    kind: 'EndpointSlice',
    ...slice,
    metadata: { ...slice.metadata, name: `s${++count}` },
  }));

test('a Service gets a slice with labels, owner, ports and its ready Pods', () => {
  const { create } = plan(service(), [running('a', '10.1.0.1')]);
  expect(create).toEqual([
    {
      metadata: {
        generateName: 'web-',
        namespace: 'default',
        labels: {
          team: 'blue',
          'kubernetes.io/service-name': 'web',
          'endpointslice.kubernetes.io/managed-by': 'endpointslice-controller.k8s.io',
        },
        ownerReferences: [{ apiVersion: 'v1', kind: 'Service', name: 'web', uid: 'svc', controller: true, blockOwnerDeletion: true }],
      },
      addressType: 'IPv4',
      ports: [{ name: 'http', port: 8080, protocol: 'TCP' }],
      endpoints: [
        {
          addresses: ['10.1.0.1'],
          conditions: { ready: true, serving: true, terminating: false },
          nodeName: 'n1',
          zone: 'zone-a',
          targetRef: { kind: 'Pod', namespace: 'default', name: 'a', uid: 'uid-a' },
        },
      ],
    },
  ]);
});

const leaving = (pod: PodBuilder): PodBuilder => pod.withMetadata({ deletionTimestamp: '2026-01-01T00:00:00Z' });

test.each<[string, PodBuilder, Partial<NonNullable<ServiceObject['spec']>>, object | undefined]>([
  ['not ready', running('a', '10.1.0.1', false), {}, { ready: false, serving: false, terminating: false }],
  [
    'not ready, but published',
    running('a', '10.1.0.1', false),
    { publishNotReadyAddresses: true },
    { ready: true, serving: false, terminating: false },
  ],
  ['leaving', leaving(running('a', '10.1.0.1')), {}, { ready: false, serving: true, terminating: true }],
  ['finished', running('a', '10.1.0.1').withStatus({ phase: 'Succeeded' }), {}, undefined],
  ['without an address', aPod('a'), {}, undefined],
])('a Pod that is %s has these conditions', (_name, pod, spec, expected) => {
  expect(plan(service(spec), [pod]).create[0].endpoints[0]?.conditions).toEqual(expected);
});

test('a Service without endpoints has one empty slice, which stays', () => {
  const first = plan(service(), []);
  expect(first.create).toMatchObject([{ endpoints: [], ports: [], addressType: 'IPv4' }]);
  expect(plan(service(), [], stored(first))).toEqual({ create: [], update: [], remove: [] });
});

test('a headless Service is labelled so, and its Pods keep their names', () => {
  const headless = service({ clusterIP: 'None' });
  const { create } = plan(headless, [running('a', '10.1.0.1').with({ hostname: 'a-0', subdomain: 'web' })]);
  expect(create[0].metadata.labels).toHaveProperty(['service.kubernetes.io/headless'], '');
  expect(create[0].endpoints[0].hostname).toBe('a-0');
});

test('named ports are looked up in each Pod: different numbers make different slices', () => {
  const named = service({ ports: [{ name: 'http', port: 80, targetPort: 'web' }] });
  const serving = (pod: PodBuilder, containerPort: number): PodBuilder =>
    pod.with({ containers: [{ name: 'c', ports: [{ name: 'web', containerPort }] }] });
  const { create } = plan(named, [
    serving(running('a', '10.1.0.1'), 1000),
    serving(running('b', '10.1.0.2'), 2000),
    running('c', '10.1.0.3'),
  ]);
  expect(create.map(({ ports }) => ports?.map(({ port }) => port))).toEqual([[1000], [2000], []]);
});

test('both families have slices of their own', () => {
  const dual = service({ ipFamilies: ['IPv4', 'IPv6'] });
  const pod = running('a', '10.1.0.1').withStatus({ podIPs: [{ ip: '10.1.0.1' }, { ip: 'fd00::1' }] });
  expect(plan(dual, [pod]).create.map(({ addressType, endpoints }) => [addressType, endpoints[0].addresses])).toEqual([
    ['IPv4', ['10.1.0.1']],
    ['IPv6', ['fd00::1']],
  ]);
});

test('a slice has at most a hundred endpoints, and changes touch as few slices as possible', () => {
  const pods = Array.from({ length: 250 }, (_, i) => running(`p${i}`, `10.1.${i >> 8}.${i & 255}`));
  const first = plan(service(), pods);
  expect(first.create.map(({ endpoints }) => endpoints.length)).toEqual([100, 100, 50]);
  const slices = stored(first);
  expect(plan(service(), pods, slices)).toEqual({ create: [], update: [], remove: [] });
  const one = plan(service(), [...pods, running('new', '10.2.0.1')], slices);
  expect([one.create.length, one.update.map(({ endpoints }) => endpoints.length), one.remove.length]).toEqual([0, [51], 0]);
  const swapped = plan(service(), [...pods.slice(1), running('new', '10.2.0.1')], slices);
  expect([swapped.create.length, swapped.update.length, swapped.remove.length]).toEqual([0, 1, 0]);
  const none = plan(service(), [], slices);
  expect([none.create.length, none.update.length, none.remove.length]).toEqual([0, 1, 2]);
});

test('labels of the Service are carried over when they change', () => {
  const slices = stored(plan(service(), [running('a', '10.1.0.1')]));
  const renamed = service();
  renamed.metadata.labels = { team: 'red' };
  expect(plan(renamed, [running('a', '10.1.0.1')], slices).update[0].metadata.labels).toMatchObject({ team: 'red' });
});
