import { afterAll, beforeAll, expect, test } from 'vitest';
import { aNode, aPod, type PodBuilder } from '../../../src/engine/scheduler/testing/builders.ts';
import type { Json } from '../../../src/kube/object.ts';
import { startEmbeddedTarget, type EmbeddedTarget } from '../../support/embedded-target.ts';
import { eventually } from '../controllers/eventually.ts';

/** The whole engine, as `tenantry up` starts it: the scheduler has only the rights that Kubernetes gives it. */
let target: EmbeddedTarget;
const CORE = '/api/v1';
const PODS = `${CORE}/namespaces/default/pods`;

beforeAll(async () => {
  target = await startEmbeddedTarget();
  await eventually(
    () => get(`${CORE}/namespaces/default/serviceaccounts/default`),
    (account) => account.kind === 'ServiceAccount',
  );
});

afterAll(() => target?.close());

async function get(path: string): Promise<Json> {
  return (await target.request('GET', path)).body;
}

async function create(path: string, object: object): Promise<void> {
  const { status, body } = await target.request('POST', path, object);
  expect(status, JSON.stringify(body)).toBe(201);
}

async function add(pod: PodBuilder): Promise<void> {
  const { metadata, spec } = pod.object();
  await create(PODS, { apiVersion: 'v1', kind: 'Pod', metadata: { name: metadata.name }, spec });
}

const placed = (name: string) =>
  eventually(
    () => get(`${PODS}/${name}`),
    ({ spec }) => Boolean(spec?.nodeName),
  );

test('Pods are told that there is no node, get one when it comes, and are pushed away by more important ones', async () => {
  await add(aPod('first').requesting({ cpu: '3' }));
  const waiting = await eventually(
    () => get(`${PODS}/first`),
    ({ status }) => status?.conditions?.length > 0,
  );
  expect(waiting.status.conditions[0]).toMatchObject({
    type: 'PodScheduled',
    status: 'False',
    reason: 'Unschedulable',
    message: 'no nodes available to schedule pods',
  });
  const { metadata, status } = aNode('n1').object();
  const annotations = { 'tenantry.dev/volume-folder': '/volumes' };
  await create(`${CORE}/nodes`, { apiVersion: 'v1', kind: 'Node', metadata: { ...metadata, annotations }, status });
  expect((await placed('first')).spec.nodeName).toBe('n1');

  const classes = '/apis/scheduling.k8s.io/v1/priorityclasses';
  await create(classes, { apiVersion: 'scheduling.k8s.io/v1', kind: 'PriorityClass', metadata: { name: 'high' }, value: 1000 });
  await add(aPod('important').with({ priorityClassName: 'high' }).requesting({ cpu: '3' }));
  const promised = await eventually(
    () => get(`${PODS}/important`),
    ({ status: { nominatedNodeName } }) => nominatedNodeName !== undefined,
  );
  expect(promised.status.nominatedNodeName).toBe('n1');
  const victim = await eventually(
    () => get(`${PODS}/first`),
    ({ metadata: { deletionTimestamp } }) => deletionTimestamp !== undefined,
  );
  expect(victim.status.conditions.find(({ type }: Json) => type === 'DisruptionTarget')).toMatchObject({
    reason: 'PreemptionByScheduler',
    message: 'default-scheduler: preempting to accommodate a higher priority pod',
  });
  await target.request('DELETE', `${PODS}/first`, { gracePeriodSeconds: 0 });
  await placed('important');

  const reasons = async (): Promise<string[]> =>
    (await get(`${CORE}/namespaces/default/events`)).items.map((event: Json) => `${event.involvedObject.name} ${event.reason}`);
  const expected = ['first FailedScheduling', 'first Scheduled', 'first Preempted', 'important FailedScheduling', 'important Scheduled'];
  await eventually(reasons, (seen) => expected.every((reason) => seen.includes(reason)));
});

test('a claim of the local class gets its volume on the node of its Pod', async () => {
  await eventually(
    () => get('/apis/storage.k8s.io/v1/storageclasses/local'),
    ({ kind }) => kind === 'StorageClass',
  );
  await create(`${CORE}/namespaces/default/persistentvolumeclaims`, {
    apiVersion: 'v1',
    kind: 'PersistentVolumeClaim',
    metadata: { name: 'data' },
    spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } },
  });
  await add(aPod('reader').claiming('data'));
  await placed('reader');
  const claim = await get(`${CORE}/namespaces/default/persistentvolumeclaims/data`);
  expect(claim.metadata.annotations['volume.kubernetes.io/selected-node']).toBe('n1');
  expect(claim.spec.volumeName).toBe(`pvc-${claim.metadata.uid}`);
});
