import { mkdir, readdir, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { Client } from '../../../src/client/client.ts';
import {
  ClusterRole,
  ClusterRoleBinding,
  Node,
  PersistentVolume,
  PersistentVolumeClaim,
  Pod,
  Secret,
  StorageClass,
} from '../../../src/client/kinds.ts';
import { nodeRights, nodeUser } from '../../../src/engine/node/registration/node-rights.ts';
import { reclaimVolumes } from '../../../src/engine/node/volumes/reclaim-volumes.ts';
import type { Json, KubeObject } from '../../../src/kube/object.ts';
import { realClock } from '../../../src/lib/clock.ts';
import { silentLog } from '../../../src/lib/log.ts';
import { startEmbeddedTarget, type EmbeddedTarget } from '../../support/embedded-target.ts';
import { eventually } from '../controllers/eventually.ts';
import { clientOf, exists, VolumesSetting } from './volumes-setting.ts';

let target: EmbeddedTarget;
let client: Client;
/** With the rights of a node and no others. */
let nodeClient: Client;
let setting: VolumesSetting;
let folder: string;
let reclaim: { stop(): Promise<void> };
let mountedElsewhere: string[];

beforeAll(async () => {
  target = await startEmbeddedTarget();
  client = await clientOf(target.kubeconfig);
  const user = nodeUser('n1');
  nodeClient = await clientOf(target.kubeconfig, { 'Impersonate-User': user.name, 'Impersonate-Group': user.groups[0] });
  for (const right of nodeRights()) {
    const kind = right.kind === 'ClusterRole' ? ClusterRole : ClusterRoleBinding;
    await client.resource<KubeObject>(kind).apply(right, { fieldManager: 'test' });
  }
  folder = join(target.data, 'node', 'volumes');
  await mkdir(folder, { recursive: true });
  await client.resource(Node).create({
    metadata: { name: 'n1', labels: { 'kubernetes.io/hostname': 'n1' }, annotations: { 'tenantry.dev/volume-folder': folder } },
  });
  const allocatable = { cpu: '8', memory: '8Gi', pods: '100' };
  const conditions = [
    { type: 'Ready', status: 'True', lastHeartbeatTime: new Date().toISOString(), lastTransitionTime: new Date().toISOString() },
  ];
  await client.resource(Node).status.patch('n1', { type: 'merge', patch: { status: { allocatable, capacity: allocatable, conditions } } });
  await client.resource(Node).patch('n1', { type: 'merge', patch: { spec: { taints: null } } });
  await eventually(
    () => client.resource(StorageClass).list(),
    ({ items }) => items.length > 0,
  );
});
afterAll(async () => {
  await Promise.all([client.close(), nodeClient.close()]);
  await target.close();
});
beforeEach(async () => {
  mountedElsewhere = [];
  setting = await VolumesSetting.make(client, { client: nodeClient, node: { name: 'n1', allocatable: () => ({}), volumeFolder: folder } });
  const isMounted = (path: string): boolean => mountedElsewhere.includes(path) || setting.volumes.isMounted(path);
  reclaim = reclaimVolumes({ client: nodeClient, clock: realClock, log: silentLog, volumeFolder: folder, isMounted });
});
afterEach(async () => {
  await reclaim.stop();
  await setting.end();
});

function claims() {
  return client.resource<KubeObject>(PersistentVolumeClaim, setting.namespace);
}

const request = { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } };

function aClaim(name: string, spec: Json = {}): Promise<KubeObject> {
  return claims().create({ metadata: { name }, spec: { ...request, ...spec } });
}

const mounting = (claimName: string, source: Json = {}): { volume: Json } => ({
  volume: { name: 'data', persistentVolumeClaim: { claimName, ...source } },
});

/** Calls setUp as the agent does: again whenever something changed. */
async function setUp(pod: KubeObject): Promise<void> {
  await eventually(
    () =>
      setting.volumes.setUp(pod).then(
        () => true,
        () => false,
      ),
    (done) => done,
  );
}

async function remove(pod: KubeObject): Promise<void> {
  await setting.volumes.tearDown(pod.metadata.uid!);
  await client.resource(Pod, setting.namespace).delete(pod.metadata.name!, { gracePeriodSeconds: 0 });
}

const gone = (name: string): Promise<unknown> =>
  eventually(
    async () => (await client.resource(PersistentVolume).list()).items.map(({ metadata }) => metadata.name),
    (names) => !names.includes(name),
  );

describe('claims', () => {
  it('a Pod gets the folder of its claim, and the next Pod finds what it wrote', async () => {
    await aClaim('data');
    const first = await setting.aPod('one', [mounting('data')]);
    await setUp(first);
    const source = await setting.sourceOf(first, 'data');
    const { spec } = await claims().get('data');
    expect(source).toBe(join(folder, spec.volumeName));
    expect((await stat(source)).mode & 0o7777).toBe(0o777);
    await writeFile(join(source, 'file'), 'x');
    await remove(first);
    const second = await setting.aPod('two', [mounting('data', { readOnly: true })]);
    await setUp(second);
    expect(await setting.textOf(second, 'data', 'file')).toBe('x');
    const [mount] = await setting.volumes.mountsOf(second, second.spec.containers[0], {});
    expect(mount.readOnly).toBe(true);
    await remove(second);
  });

  it('wakes a Pod when its claim is bound', async () => {
    await aClaim('data');
    const pod = await setting.aPod('one', [mounting('data')], { schedulerName: 'nobody' });
    await expect(setting.volumes.setUp(pod)).rejects.toMatchObject({
      reason: 'FailedMount',
      message: `Unable to attach or mount volumes: unmounted volumes=[data], unattached volumes=[], failed to process volumes=[data]: error processing PVC ${setting.namespace}/data: PVC is not bound`,
    });
    expect(setting.objects.watched).toBe(1);
    await claims().patch('data', { type: 'merge', patch: { metadata: { annotations: { 'volume.kubernetes.io/selected-node': 'n1' } } } });
    await eventually(
      () => claims().get('data'),
      ({ status }) => status.phase === 'Bound',
    );
    await eventually(
      () => setting.woken,
      (woken) => woken.includes(pod.metadata.uid!),
    );
    await setting.volumes.setUp(pod);
    expect(setting.objects.watched).toBe(0);
    await remove(pod);
  });

  it('Pods that start together make one folder', async () => {
    await aClaim('data');
    const pods = await Promise.all(['a', 'b', 'c', 'd'].map((name) => setting.aPod(name, [mounting('data')])));
    await setUp(pods[0]);
    const source = await setting.sourceOf(pods[0], 'data');
    await rm(source, { recursive: true });
    const inodes = await Promise.all(
      pods.slice(1).map(async (pod) => {
        await setting.volumes.setUp(pod);
        return (await stat(source)).ino;
      }),
    );
    expect(new Set([...inodes, (await stat(source)).ino]).size).toBe(1);
    for (const pod of pods) await remove(pod);
  });

  it('says what is wrong with a claim', async () => {
    const pod = await setting.aPod('one', [mounting('absent')]);
    await expect(setting.volumes.setUp(pod)).rejects.toThrow(
      `error processing PVC ${setting.namespace}/absent: failed to fetch PVC from API server: persistentvolumeclaims "absent" not found`,
    );
  });

  it('volumes of the machine need the policy, others are refused', async () => {
    const cases: [string, Json, string][] = [
      ['host', { hostPath: { path: setting.dir } }, `Cannot mount hostPath "${setting.dir}": this node lets Pods use none`],
      ['share', { nfs: { server: 's', path: '/p' } }, 'of type "nfs": this node does not have it; use a claim of the class "local"'],
    ];
    for (const [name, source, message] of cases) {
      const claim = await aClaim(name, { storageClassName: '', volumeName: `${setting.namespace}-${name}` });
      await client.resource<KubeObject>(PersistentVolume).create({
        metadata: { name: `${setting.namespace}-${name}` },
        spec: {
          capacity: { storage: '1Gi' },
          accessModes: ['ReadWriteOnce'],
          claimRef: { namespace: setting.namespace, name, uid: claim.metadata.uid },
          ...source,
        },
      });
      await eventually(
        () => claims().get(name),
        ({ status }) => status.phase === 'Bound',
      );
      const pod = await setting.aPod(name, [mounting(name)]);
      await expect(setting.volumes.setUp(pod)).rejects.toThrow(message);
      setting.restart({ hostPathPolicy: [setting.dir], node: { name: 'n1', allocatable: () => ({}), volumeFolder: folder } });
      if (name === 'host') {
        await setting.volumes.setUp(pod);
        expect(await setting.sourceOf(pod, 'data')).toBe(setting.dir);
      }
      await client.resource(PersistentVolume).delete(`${setting.namespace}-${name}`);
    }
  });
});

describe('the rights of a node', () => {
  it('suffice for tokens, ConfigMaps and Secrets', async () => {
    const sources = [
      { serviceAccountToken: { path: 'token' } },
      { configMap: { name: 'kube-root-ca.crt' } },
      { secret: { name: 'keys', optional: true } },
    ];
    const pod = await setting.aPod('web', [{ volume: { name: 'all', projected: { sources } } }], { schedulerName: 'nobody' });
    await expect(setting.volumes.setUp(pod)).rejects.toThrow("no relationship found between node 'n1' and this object");
    await client
      .resource<KubeObject>(Pod, setting.namespace)
      .subresource<KubeObject>('binding')
      .create('web', {
        apiVersion: 'v1',
        kind: 'Binding',
        metadata: { name: 'web' },
        target: { kind: 'Node', name: 'n1' },
      });
    await setting.volumes.setUp(pod);
    expect(await setting.textOf(pod, 'all', 'ca.crt')).toContain('CERTIFICATE');
    await client.resource<KubeObject>(Secret, setting.namespace).create({ metadata: { name: 'keys' }, stringData: { a: '1' } });
    await eventually(
      () => setting.textOf(pod, 'all', 'a').catch(() => ''),
      (text) => text === '1',
    );
  });
});

describe('ephemeral volumes', () => {
  const ephemeral = {
    volume: { name: 'scratch', ephemeral: { volumeClaimTemplate: { metadata: { labels: { a: 'b' } }, spec: request } } },
  };

  it('get a claim that goes with the Pod, and its folder with it', async () => {
    const pod = await setting.aPod('web', [ephemeral]);
    await setUp(pod);
    const claim = await claims().get('web-scratch');
    expect(claim.metadata.labels).toEqual({ a: 'b' });
    expect(claim.metadata.ownerReferences).toMatchObject([{ kind: 'Pod', name: 'web', uid: pod.metadata.uid, controller: true }]);
    const source = await setting.sourceOf(pod, 'scratch');
    await writeFile(join(source, 'file'), 'x');
    await remove(pod);
    await gone(claim.spec.volumeName);
    expect(await exists(source)).toBe(false);
  });

  it('never take a claim that was there before', async () => {
    const other = await aClaim('web-scratch');
    await claims().patch('web-scratch', {
      type: 'merge',
      patch: { metadata: { annotations: { 'volume.kubernetes.io/selected-node': 'n1' } } },
    });
    await eventually(
      () => claims().get('web-scratch'),
      ({ status }) => status.phase === 'Bound',
    );
    const pod = await setting.aPod('web', [ephemeral]);
    await expect(setting.volumes.setUp(pod)).rejects.toThrow(
      `PVC ${setting.namespace}/web-scratch was not created for pod ${setting.namespace}/web (pod is not owner)`,
    );
    expect((await claims().get('web-scratch')).metadata.uid).toBe(other.metadata.uid);
  });
});

describe('reclaimVolumes', () => {
  async function boundFolder(name: string): Promise<{ path: string; volume: string }> {
    await aClaim(name);
    const pod = await setting.aPod(name, [mounting(name)]);
    await setUp(pod);
    const path = await setting.sourceOf(pod, 'data');
    await writeFile(join(path, 'file'), 'x');
    await remove(pod);
    return { path, volume: path.slice(folder.length + 1) };
  }

  it('removes the folder with the claim', async () => {
    const { path, volume } = await boundFolder('data');
    await claims().delete('data');
    await gone(volume);
    expect(await exists(path)).toBe(false);
    expect((await readdir(folder)).filter((name) => name.includes(volume))).toEqual([]);
  });

  it('keeps the files of a volume that is to be retained', async () => {
    const { path, volume } = await boundFolder('kept');
    await client.resource(PersistentVolume).patch(volume, { type: 'merge', patch: { spec: { persistentVolumeReclaimPolicy: 'Retain' } } });
    await claims().delete('kept');
    await eventually(
      () => client.resource<KubeObject>(PersistentVolume).get(volume),
      ({ status }) => status.phase === 'Released',
    );
    await client.resource(PersistentVolume).delete(volume);
    await gone(volume);
    expect(await readdir(path)).toEqual(['file']);
  });

  it('touches nothing while a claim uses the volume, or a Pod has it mounted', async () => {
    const { path, volume } = await boundFolder('busy');
    await client.resource(PersistentVolume).delete(volume);
    mountedElsewhere.push(path);
    expect(await readdir(path)).toEqual(['file']);
    await claims().delete('busy');
    await eventually(
      () => client.resource<KubeObject>(PersistentVolume).get(volume),
      ({ metadata }) => !metadata.finalizers!.includes('kubernetes.io/pv-protection'),
    );
    expect(await readdir(path)).toEqual(['file']);
    mountedElsewhere.pop();
    await client.resource(PersistentVolume).patch(volume, { type: 'merge', patch: { metadata: { labels: { poke: 'yes' } } } });
    await gone(volume);
    expect(await exists(path)).toBe(false);
  });

  it('leaves folders alone that are not of the name of their volume', async () => {
    await mkdir(join(folder, 'mine'), { recursive: true });
    await client.resource<KubeObject>(PersistentVolume).create({
      metadata: { name: 'strange', finalizers: ['tenantry.dev/local-volume'] },
      spec: {
        capacity: { storage: '1Gi' },
        accessModes: ['ReadWriteOnce'],
        persistentVolumeReclaimPolicy: 'Delete',
        storageClassName: 'other',
        local: { path: join(folder, 'mine') },
        nodeAffinity: {
          required: { nodeSelectorTerms: [{ matchExpressions: [{ key: 'kubernetes.io/hostname', operator: 'In', values: ['n1'] }] }] },
        },
      },
    });
    await client.resource(PersistentVolume).delete('strange');
    const { volume } = await boundFolder('after');
    await claims().delete('after');
    await gone(volume);
    expect(await exists(join(folder, 'mine'))).toBe(true);
    await client.resource(PersistentVolume).patch('strange', { type: 'merge', patch: { metadata: { finalizers: null } } });
  });
});
