import { afterAll, beforeAll, expect, test } from 'vitest';
import { Namespace, Node, PersistentVolume, PersistentVolumeClaim, Pod, StorageClass } from '../../../src/client/kinds.ts';
import { startScheduler } from '../../../src/engine/scheduler/start-scheduler.ts';
import { aNode } from '../../../src/engine/scheduler/testing/builders.ts';
import { realClock } from '../../../src/lib/clock.ts';
import { silentLog } from '../../../src/lib/log.ts';
import { startInMemoryEngine, type InMemoryEngine } from '../controllers/engine-in-memory.ts';
import { eventually } from '../controllers/eventually.ts';

let engine: InMemoryEngine;
let scheduler: { stop(): Promise<void> };

beforeAll(async () => {
  engine = await startInMemoryEngine();
  const { client } = engine;
  scheduler = startScheduler({ client, clock: realClock, log: silentLog });
  await client.resource(Namespace).create({ metadata: { name: 'x' } });
  await claim('early');
  await claim('without', { storageClassName: '' });
  await podWith('early', 'early');
  const { metadata, status } = aNode('n1').object();
  await client.resource(Node).create({
    metadata: { ...metadata, annotations: { 'tenantry.dev/volume-folder': '/var/lib/volumes/' } },
    status,
  });
  await eventually(
    () => client.resource(StorageClass).list(),
    ({ items }) => items.some((storageClass) => storageClass.metadata.name === 'local'),
  );
});

afterAll(async () => {
  await scheduler?.stop();
  await engine?.stop();
});

const claims = () => engine.client.resource(PersistentVolumeClaim, 'x');
const volumes = () => engine.client.resource(PersistentVolume);
const pods = () => engine.client.resource(Pod, 'x');

async function claim(name: string, spec: object = {}): Promise<void> {
  await claims().create({
    metadata: { name },
    spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } }, ...spec },
  });
}

async function podWith(name: string, claimName: string): Promise<void> {
  const volume = { name: 'data', persistentVolumeClaim: { claimName } };
  await pods().create({ metadata: { name }, spec: { containers: [{ name: 'c', image: 'app' }], volumes: [volume] } });
}

const placed = (name: string) =>
  eventually(
    () => pods().get(name),
    ({ spec }) => Boolean(spec?.nodeName),
  );

test('a claim that was there before the first node gets the default class with it, but for one that wants none', async () => {
  await placed('early');
  const bound = await eventually(
    () => claims().get('early'),
    ({ status }) => status?.phase === 'Bound',
  );
  expect(bound.spec?.storageClassName).toBe('local');
  expect((await claims().get('without')).spec?.storageClassName).toBe('');
  await pods().delete('early', { gracePeriodSeconds: 0 });
  for (const name of ['early', 'without']) await claims().delete(name);
  // Its node would let go of the volume.
  await eventually(
    () => volumes().get(bound.spec!.volumeName!),
    ({ metadata }) => metadata.deletionTimestamp !== undefined && metadata.finalizers?.length === 1,
  );
  await volumes().patch(bound.spec!.volumeName!, { type: 'merge', patch: { metadata: { finalizers: [] } } });
});

test('a claim waits for its Pod, then gets a volume on the node that was chosen, and gives it back', async () => {
  await claim('data');
  await podWith('web', 'data');
  await placed('web');
  const bound = await eventually(
    () => claims().get('data'),
    ({ status }) => status?.phase === 'Bound',
  );
  expect(bound.spec?.storageClassName).toBe('local');
  expect(bound.status).toMatchObject({ capacity: { storage: '1Gi' }, accessModes: ['ReadWriteOnce'] });
  const name = bound.spec!.volumeName!;
  const volume = await eventually(
    () => volumes().get(name),
    ({ status }) => status?.phase === 'Bound',
  );
  expect(volume.spec).toMatchObject({
    local: { path: `/var/lib/volumes/${name}` },
    persistentVolumeReclaimPolicy: 'Delete',
    claimRef: { name: 'data', namespace: 'x', uid: bound.metadata.uid },
  });

  // While the Pod is there the claim stays.
  await claims().delete('data');
  expect((await claims().get('data')).metadata.deletionTimestamp).toBeDefined();
  await pods().delete('web', { gracePeriodSeconds: 0 });
  await eventually(
    () => claims().list(),
    ({ items }) => items.length === 0,
  );
  // The node removes the folder, then lets go of the volume.
  const released = await eventually(
    () => volumes().get(name),
    ({ metadata }) => metadata.deletionTimestamp !== undefined && metadata.finalizers?.length === 1,
  );
  expect(released.status?.phase).toBe('Released');
  expect(released.metadata.finalizers).toEqual(['tenantry.dev/local-volume']);
  await volumes().patch(name, { type: 'merge', patch: { metadata: { finalizers: null } } });
  await eventually(
    () => volumes().list(),
    ({ items }) => items.length === 0,
  );
});

test('a claim without a class takes the smallest volume that satisfies it, which is kept when the claim goes', async () => {
  const volume = (name: string, storage: string) =>
    volumes().create({
      metadata: { name },
      spec: {
        capacity: { storage },
        accessModes: ['ReadWriteOnce'],
        persistentVolumeReclaimPolicy: 'Retain',
        storageClassName: 'by-hand',
        hostPath: { path: `/tmp/${name}` },
      },
    });
  await volume('small', '100Mi');
  await volume('right', '2Gi');
  await volume('large', '20Gi');
  await claim('old', { storageClassName: 'by-hand' });
  const bound = await eventually(
    () => claims().get('old'),
    ({ status }) => status?.phase === 'Bound',
  );
  expect(bound.spec?.volumeName).toBe('right');
  await podWith('db', 'old');
  await placed('db');
  await pods().delete('db', { gracePeriodSeconds: 0 });
  await claims().delete('old');
  const kept = await eventually(
    () => volumes().get('right'),
    ({ status }) => status?.phase === 'Released',
  );
  expect(kept.metadata.deletionTimestamp).toBeUndefined();
});

test('a Pod takes a volume made by hand on a node when its class has no provisioner', async () => {
  await engine.client.resource(StorageClass).create({
    metadata: { name: 'disks' },
    provisioner: 'kubernetes.io/no-provisioner',
    volumeBindingMode: 'WaitForFirstConsumer',
  });
  await claim('disk', { storageClassName: 'disks' });
  await podWith('reader', 'disk');
  await eventually(
    () => pods().get('reader'),
    ({ status }) =>
      status?.conditions?.some(({ message }) => message?.includes("didn't find available persistent volumes to bind")) ?? false,
  );
  await volumes().create({
    metadata: { name: 'disk-1' },
    spec: {
      capacity: { storage: '5Gi' },
      accessModes: ['ReadWriteOnce'],
      storageClassName: 'disks',
      local: { path: '/mnt/disk' },
      nodeAffinity: {
        required: { nodeSelectorTerms: [{ matchExpressions: [{ key: 'kubernetes.io/hostname', operator: 'In', values: ['n1'] }] }] },
      },
    },
  });
  expect((await placed('reader')).spec?.nodeName).toBe('n1');
  expect((await claims().get('disk')).spec?.volumeName).toBe('disk-1');
});

test('nothing had to be warned about', () => {
  expect(engine.warnings).toEqual([]);
});
