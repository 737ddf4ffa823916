import { afterAll, beforeAll, expect, test } from 'vitest';
import { EndpointSlice, Event, Lease, Namespace, Node, Pod, Service } from '../../../src/client/kinds.ts';
import type { Environment, Running } from '../../../src/engine/controllers/environment.ts';
import { nodeLifecycleController } from '../../../src/engine/controllers/node-lifecycle/node-lifecycle.controller.ts';
import { podGcController } from '../../../src/engine/controllers/pod-gc/pod-gc.controller.ts';
import { taintEvictionController } from '../../../src/engine/controllers/taint-eviction/taint-eviction.controller.ts';
import { aNode, aPod, type PodBuilder } from '../../../src/engine/scheduler/testing/builders.ts';
import type { Json, KubeObject } from '../../../src/kube/object.ts';
import { formatMicroTime, formatTime } from '../../../src/kube/time.ts';
import { FakeClock } from '../../../src/lib/clock-fake.ts';
import { silentLog } from '../../../src/lib/log.ts';
import { EventRecorder } from '../../../src/runtime/event-recorder.ts';
import { SharedInformers } from '../../../src/runtime/informer/shared-informers.ts';
import { startInMemoryEngine, type InMemoryEngine } from './engine-in-memory.ts';
import { eventually } from './eventually.ts';

let engine: InMemoryEngine;
let informers: SharedInformers;
const running: Running[] = [];
const clock = new FakeClock(Date.now());

/** The engine's own controllers live in real time; these live in ours. */
beforeAll(async () => {
  engine = await startInMemoryEngine();
  const { client } = engine;
  informers = new SharedInformers({ client, log: silentLog });
  const events = new EventRecorder({ client, log: silentLog, controller: 'test', instance: 'test' });
  const environment: Environment = { client, clock, log: silentLog, informers, events };
  running.push(nodeLifecycleController(environment), taintEvictionController(environment), podGcController(environment));
  await client.resource(Namespace).create({ metadata: { name: 'x' } });
  await eventually(
    () => client.resource(Namespace).get('kube-node-lease'),
    ({ status }) => status?.phase === 'Active',
  );
});

afterAll(async () => {
  await Promise.all(running.map((controller) => controller.stop()));
  await informers?.stop();
  await engine?.stop();
});

const conditions = (status: string): Json[] =>
  ['Ready', 'MemoryPressure', 'DiskPressure', 'PIDPressure'].map((type) => ({
    type,
    status: type === 'Ready' ? status : 'False',
    reason: 'Test',
    message: '',
    lastHeartbeatTime: formatTime(new Date(clock.now())),
    lastTransitionTime: formatTime(new Date(clock.now())),
  }));
const taintsOf = ({ spec }: KubeObject): string[] => (spec?.taints ?? []).map(({ key, effect }: Json) => `${key}:${effect}`);
const getNode = (name: string) => engine.client.resource(Node).get(name);

async function readyNode(name: string): Promise<void> {
  const { metadata, status } = aNode(name).object();
  await engine.client.resource(Node).create({ metadata, status: { ...status, conditions: conditions('True') } });
  await eventually(
    () => getNode(name),
    (node) => taintsOf(node).length === 0,
  );
}

async function runningPod(pod: PodBuilder, nodeName: string): Promise<void> {
  const { metadata, spec } = pod.in('x').object();
  const pods = engine.client.resource(Pod, 'x');
  await pods.create({ metadata: { name: metadata.name, labels: metadata.labels }, spec: { ...spec, nodeName } });
  const status = { phase: 'Running', podIP: '10.0.0.9', podIPs: [{ ip: '10.0.0.9' }], conditions: [{ type: 'Ready', status: 'True' }] };
  await pods.status.patch(metadata.name!, { type: 'merge', patch: { status } });
}

const seconds = (count: number) => clock.advance(count * 1000);
const podOf = (name: string) =>
  engine.client
    .resource(Pod, 'x')
    .get(name)
    .catch(() => undefined);

test('a node is usable when it says it is ready, and is not when it falls silent; a Lease keeps it', async () => {
  await readyNode('quiet');
  await readyNode('leased');
  await runningPod(aPod('held'), 'quiet');
  const leases = engine.client.resource(Lease, 'kube-node-lease');
  const renewTime = () => formatMicroTime(new Date(clock.now()));
  await leases.create({ metadata: { name: 'leased' }, spec: { holderIdentity: 'leased', renewTime: renewTime() } });
  for (let i = 0; i < 5; i++) {
    await seconds(9);
    await leases.patch('leased', { type: 'merge', patch: { spec: { renewTime: renewTime() } } });
    await eventually(
      () => informers.get(Lease, { namespace: 'kube-node-lease' }).find('kube-node-lease', 'leased')?.spec?.renewTime,
      (seen) => seen === renewTime(),
    );
  }
  const quiet = await eventually(
    () => getNode('quiet'),
    (node) => taintsOf(node).length === 2,
  );
  expect(taintsOf(quiet)).toEqual(['node.kubernetes.io/unreachable:NoSchedule', 'node.kubernetes.io/unreachable:NoExecute']);
  expect(quiet.status?.conditions?.find(({ type }) => type === 'Ready')).toMatchObject({
    status: 'Unknown',
    reason: 'NodeStatusUnknown',
    message: 'Kubelet stopped posting node status.',
  });
  await eventually(
    () => podOf('held'),
    (pod) => pod?.status?.conditions?.some(({ type, status }) => type === 'Ready' && status === 'False') ?? false,
  );
  expect(taintsOf(await getNode('leased'))).toEqual([]);

  // Pods tolerate that for five minutes unless they say otherwise. The engine's own controllers may have been first to taint the node, by
  // their clock, which is less than a minute behind.
  await seconds(240);
  expect((await podOf('held'))?.metadata.deletionTimestamp).toBeUndefined();
  await seconds(70);
  const leaving = await eventually(
    () => podOf('held'),
    (pod) => pod === undefined || pod.metadata.deletionTimestamp !== undefined,
  );
  expect(leaving?.status?.conditions?.find(({ type }) => type === 'DisruptionTarget')).toMatchObject({ reason: 'DeletionByTaintManager' });

  const status = { conditions: conditions('True') };
  await engine.client.resource(Node).status.patch('quiet', { type: 'merge', patch: { status } });
  await eventually(
    () => getNode('quiet'),
    (node) => taintsOf(node).length === 0,
  );
});

test('Pods of a node that is gone are removed after a while', async () => {
  await readyNode('leaving');
  await runningPod(aPod('orphan'), 'leaving');
  await engine.client.resource(Node).delete('leaving');
  await eventually(
    () => informers.get(Node).get('leaving'),
    (node) => node === undefined,
  );
  await seconds(30);
  expect(await podOf('orphan')).toBeDefined();
  await seconds(15);
  await eventually(
    () => podOf('orphan'),
    (pod) => pod === undefined,
  );
});

test('a Service has a slice with the Pods that it selects, and follows them', async () => {
  await readyNode('serving');
  const services = engine.client.resource(Service, 'x');
  await services.create({ metadata: { name: 'web' }, spec: { selector: { app: 'web' }, ports: [{ port: 80, targetPort: 8080 }] } });
  const slices = () => engine.client.resource(EndpointSlice, 'x').list({ labelSelector: 'kubernetes.io/service-name=web' });
  await eventually(slices, ({ items }) => items.length === 1 && (items[0].endpoints ?? []).length === 0);
  await runningPod(aPod('web-1').labelled({ app: 'web' }), 'serving');
  const { items } = await eventually(slices, (list) => list.items.some(({ endpoints }) => endpoints?.[0]?.conditions?.ready === true));
  expect(items).toMatchObject([
    { addressType: 'IPv4', ports: [{ port: 8080, protocol: 'TCP' }], endpoints: [{ addresses: ['10.0.0.9'], nodeName: 'serving' }] },
  ]);
  await engine.client.resource(Pod, 'x').delete('web-1', { gracePeriodSeconds: 0 });
  await eventually(slices, (list) => list.items.length === 1 && (list.items[0].endpoints ?? []).length === 0);
  await services.delete('web');
  await eventually(slices, (list) => list.items.length === 0);
});

test('nothing had to be warned about', () => {
  expect(engine.warnings).toEqual([]);
});

test('what happens to nodes is told in the words of Kubernetes', async () => {
  const { items } = await eventually(
    () => engine.client.resource(Event, 'default').listAll(),
    (list) => list.items.some(({ reason }) => reason === 'RemovingNode'),
  );
  const told = items.filter(({ reportingController }) => reportingController === 'test').map(({ reason, note }) => `${reason}: ${note}`);
  expect(told).toEqual(
    expect.arrayContaining([
      'RegisteredNode: Node quiet event: Registered Node quiet in Controller',
      'NodeNotReady: Node quiet status is now: NodeNotReady',
      'RemovingNode: Node leaving event: Removing Node leaving from Controller',
    ]),
  );
});
