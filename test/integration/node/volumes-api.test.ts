import { readdir, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { Client } from '../../../src/client/client.ts';
import { ConfigMap, Pod, Secret, TokenReview } from '../../../src/client/kinds.ts';
import { VolumeError } from '../../../src/engine/node/volumes/pod-volumes.ts';
import type { Json, KubeObject } from '../../../src/kube/object.ts';
import { startEmbeddedTarget, type EmbeddedTarget } from '../../support/embedded-target.ts';
import { eventually } from '../controllers/eventually.ts';
import { clientOf, exists, VolumesSetting } from './volumes-setting.ts';

let target: EmbeddedTarget;
let client: Client;
let setting: VolumesSetting;

beforeAll(async () => {
  target = await startEmbeddedTarget();
  client = await clientOf(target.kubeconfig);
});
afterAll(async () => {
  await client.close();
  await target.close();
});
beforeEach(async () => {
  setting = await VolumesSetting.make(client);
});
afterEach(() => setting.end());

describe('volumes from the API', () => {
  it('a ConfigMap becomes files, with modes, in links that are replaced at once', async () => {
    await setting.putConfigMap('settings', { colour: 'red', size: '1' });
    const items = [{ key: 'colour', path: 'deep/colour', mode: 0o400 }];
    const pod = await setting.aPod('web', [
      { volume: { name: 'all', configMap: { name: 'settings', defaultMode: 0o640 } } },
      { volume: { name: 'some', configMap: { name: 'settings', items } } },
    ]);
    await setting.volumes.setUp(pod);
    expect(await setting.textOf(pod, 'all', 'colour')).toBe('red');
    expect(await setting.textOf(pod, 'some', 'deep/colour')).toBe('red');
    expect((await stat(join(await setting.sourceOf(pod, 'all'), 'size'))).mode & 0o777).toBe(0o640);
    expect((await stat(join(await setting.sourceOf(pod, 'some'), 'deep', 'colour'))).mode & 0o777).toBe(0o400);
    const mounts = await setting.volumes.mountsOf(pod, pod.spec.containers[0], {});
    expect(mounts.map(({ readOnly }) => readOnly)).toEqual([true, true]);
  });

  it('follows changes of a ConfigMap, keeps the last content when it goes, and says so once', async () => {
    await setting.putConfigMap('settings', { colour: 'red', old: 'x' });
    const pod = await setting.aPod('web', [{ volume: { name: 'all', configMap: { name: 'settings' } } }]);
    await setting.volumes.setUp(pod);
    await setting.client
      .resource(ConfigMap, setting.namespace)
      .patch('settings', { type: 'merge', patch: { data: { colour: 'blue', old: null, new: 'y' } } });
    await eventually(
      () => setting.textOf(pod, 'all', 'colour'),
      (text) => text === 'blue',
    );
    const source = await setting.sourceOf(pod, 'all');
    expect((await readdir(source)).filter((name) => !name.startsWith('..')).toSorted()).toEqual(['colour', 'new']);
    await setting.client.resource(ConfigMap, setting.namespace).delete('settings');
    await eventually(
      () => setting.notes,
      ({ length }) => length > 0,
    );
    expect(setting.notes).toEqual([
      { type: 'Warning', reason: 'FailedMount', message: 'MountVolume.SetUp failed for volume "all" : configmap "settings" not found' },
    ]);
    await setting.volumes.setUp(pod);
    expect(setting.notes).toHaveLength(1);
    expect(await setting.textOf(pod, 'all', 'colour')).toBe('blue');
    await setting.putConfigMap('settings', { colour: 'green' });
    await eventually(
      () => setting.textOf(pod, 'all', 'colour'),
      (text) => text === 'green',
    );
  });

  it('stops watching what will never change, and keeps it', async () => {
    const resource = setting.client.resource<KubeObject>(Secret, setting.namespace);
    await resource.create({ metadata: { name: 'fixed' }, immutable: true, stringData: { a: '1' } });
    const pod = await setting.aPod('web', [{ volume: { name: 'all', secret: { secretName: 'fixed' } } }]);
    await setting.volumes.setUp(pod);
    await setting.volumes.setUp(pod);
    expect(await setting.textOf(pod, 'all', 'a')).toBe('1');
  });

  const missing: [string, Json, string][] = [
    ['no ConfigMap', { configMap: { name: 'no' } }, 'configmap "no" not found'],
    ['no Secret', { secret: { secretName: 'no' } }, 'secret "no" not found'],
    [
      'no key',
      { configMap: { name: 'kube-root-ca.crt', items: [{ key: 'x', path: 'x' }] } },
      'configmap references non-existent config key: x',
    ],
    [
      'several in a projection',
      { projected: { sources: [{ configMap: { name: 'no' } }, { secret: { name: 'gone' } }, { configMap: { name: 'no' } }] } },
      '[configmap "no" not found, secret "gone" not found]',
    ],
  ];

  it.each(missing)('waits: %s', async (_, source, message) => {
    const pod = await setting.aPod('web', [{ volume: { name: 'v', ...source } }]);
    const refused = setting.volumes.setUp(pod);
    await expect(refused).rejects.toThrow(VolumeError);
    await expect(refused).rejects.toMatchObject({ reason: 'FailedMount', message: `MountVolume.SetUp failed for volume "v" : ${message}` });
  });

  it('wakes a Pod whose ConfigMap comes later', async () => {
    const pod = await setting.aPod('web', [{ volume: { name: 'v', configMap: { name: 'later' } } }]);
    await expect(setting.volumes.setUp(pod)).rejects.toThrow('not found');
    await setting.putConfigMap('later', { a: '1' });
    await eventually(
      () => setting.woken,
      ({ length }) => length > 0,
    );
    expect(setting.woken).toContain(pod.metadata.uid);
    await setting.volumes.setUp(pod);
    expect(await setting.textOf(pod, 'v', 'a')).toBe('1');
  });

  it('an optional ConfigMap may come later, too', async () => {
    const pod = await setting.aPod('web', [{ volume: { name: 'v', configMap: { name: 'later', optional: true } } }]);
    await setting.volumes.setUp(pod);
    expect((await readdir(await setting.sourceOf(pod, 'v'))).filter((name) => !name.startsWith('..'))).toEqual([]);
    await setting.putConfigMap('later', { a: '1' });
    await eventually(
      () => setting.textOf(pod, 'v', 'a').catch(() => ''),
      (text) => text === '1',
    );
  });

  it('does not wait for volumes that no container mounts', async () => {
    const pod = await setting.aPod('web', [], { volumes: [{ name: 'v', configMap: { name: 'no' } }] });
    await setting.volumes.setUp(pod);
    expect(await exists(join(setting.folderOf(pod), 'volumes', 'v'))).toBe(false);
  });

  it('shows labels and annotations, and their changes', async () => {
    const fields = [
      { path: 'labels', fieldRef: { fieldPath: 'metadata.labels' } },
      { path: 'name', fieldRef: { fieldPath: 'metadata.name' } },
      { path: 'memory', resourceFieldRef: { containerName: 'main', resource: 'limits.memory', divisor: '1Gi' } },
    ];
    const pod = await setting.aPod('web', [{ volume: { name: 'v', downwardAPI: { items: fields } } }], {}, { labels: { b: '2', a: '1' } });
    await setting.volumes.setUp(pod);
    expect([
      await setting.textOf(pod, 'v', 'labels'),
      await setting.textOf(pod, 'v', 'name'),
      await setting.textOf(pod, 'v', 'memory'),
    ]).toEqual(['a="1"\nb="2"', 'web', '4']);
    const relabelled = await setting.client
      .resource<KubeObject>(Pod, setting.namespace)
      .patch('web', { type: 'merge', patch: { metadata: { labels: { a: '9' } } } });
    await setting.volumes.setUp(relabelled);
    expect(await setting.textOf(relabelled, 'v', 'labels')).toBe('a="9"\nb="2"');
  });

  it('one watch serves all Pods that refer to an object, and ends with the last of them', async () => {
    await setting.putConfigMap('shared', { a: '1' });
    const volume = { name: 'v', configMap: { name: 'shared' } };
    const [first, second] = [await setting.aPod('one', [{ volume }]), await setting.aPod('two', [{ volume }])];
    await Promise.all([setting.volumes.setUp(first), setting.volumes.setUp(second)]);
    expect(setting.objects.watched).toBe(1);
    await setting.volumes.tearDown(first.metadata.uid!);
    await setting.putConfigMap('shared', { a: '2' });
    await eventually(
      () => setting.textOf(second, 'v', 'a'),
      (text) => text === '2',
    );
    await setting.volumes.tearDown(second.metadata.uid!);
    expect(setting.objects.watched).toBe(0);
  });

  it('makes room for mounts inside a volume that the container cannot write to', async () => {
    await setting.putConfigMap('settings', { a: '1' });
    const pod = await setting.aPod('web', [
      { volume: { name: 'settings', configMap: { name: 'settings' } }, mount: { mountPath: '/etc/app' } },
      { volume: { name: 'cache', emptyDir: {} }, mount: { mountPath: '/etc/app/cache/deep' } },
    ]);
    await setting.volumes.setUp(pod);
    const mounts = await setting.volumes.mountsOf(pod, pod.spec.containers[0], {});
    expect((await stat(join(mounts[0].source, 'cache', 'deep'))).isDirectory()).toBe(true);
  });

  it('refuses what it cannot project', async () => {
    const sources = [{ clusterTrustBundle: { name: 'x', path: 'y' } }];
    const pod = await setting.aPod('web', [{ volume: { name: 'v', configMap: { name: 'kube-root-ca.crt' } } }]);
    const other: KubeObject = { ...pod, spec: { ...pod.spec, volumes: [{ name: 'v', projected: { sources } }] } };
    await expect(setting.volumes.setUp(other)).rejects.toThrow(
      'Cannot project "clusterTrustBundle" into a volume: this node does not have it',
    );
  });
});

describe('tokens', () => {
  const token = { serviceAccountToken: { path: 'token', expirationSeconds: 3600 } };
  const projected = { name: 'token', projected: { sources: [token] } };

  async function reviewed(text: string): Promise<Json> {
    const review = await setting.client.resource<KubeObject>(TokenReview).create({ metadata: {}, spec: { token: text } });
    return review.status;
  }

  it('the volume that every Pod gets holds a token of the Pod, the CA and the namespace', async () => {
    const pod = await setting.aPod('web', [], { automountServiceAccountToken: true });
    await setting.volumes.setUp(pod);
    const [mount] = await setting.volumes.mountsOf(pod, pod.spec.containers[0], {});
    expect(mount).toMatchObject({ target: '/var/run/secrets/kubernetes.io/serviceaccount', readOnly: true });
    expect(await readFile(join(mount.source, 'namespace'), 'utf8')).toBe(setting.namespace);
    expect(await readFile(join(mount.source, 'ca.crt'), 'utf8')).toContain('BEGIN CERTIFICATE');
    const text = await readFile(join(mount.source, 'token'), 'utf8');
    expect(await reviewed(text)).toMatchObject({
      authenticated: true,
      user: {
        username: `system:serviceaccount:${setting.namespace}:default`,
        extra: { 'authentication.kubernetes.io/pod-name': ['web'], 'authentication.kubernetes.io/pod-uid': [pod.metadata.uid] },
      },
    });
    await setting.client.resource(Pod, setting.namespace).delete('web', { gracePeriodSeconds: 0 });
    await eventually(
      () => reviewed(text),
      ({ authenticated }) => authenticated !== true,
    );
  });

  it('is renewed at four fifths of its life', async () => {
    const pod = await setting.aPod('web', [{ volume: projected }]);
    await setting.volumes.setUp(pod);
    const first = await setting.textOf(pod, 'token', 'token');
    await setting.volumes.setUp(pod);
    await setting.clock.advance(3600 * 0.79 * 1000);
    expect(await setting.textOf(pod, 'token', 'token')).toBe(first);
    await setting.clock.advance(3600 * 0.02 * 1000);
    await eventually(
      () => setting.textOf(pod, 'token', 'token'),
      (text) => text !== first,
    );
  });

  it('is looked at every ten minutes, and no more when the Pod is gone', async () => {
    const pod = await setting.aPod('web', [{ volume: projected }], {});
    await setting.volumes.setUp(pod);
    expect(setting.clock.pendingTimers).toBe(1);
    await setting.clock.advance(600_000);
    expect(setting.clock.pendingTimers).toBe(1);
    await setting.volumes.tearDown(pod.metadata.uid!);
    expect(setting.clock.pendingTimers).toBe(0);
  });

  it('is for the audience that is asked for, and readable by the user of the Pod only', async () => {
    const source = { serviceAccountToken: { path: 'token', audience: 'vault', expirationSeconds: 600 } };
    const pod = await setting.aPod('web', [{ volume: { name: 'token', projected: { sources: [source] } } }], {
      securityContext: { runAsUser: 1000 },
    });
    await setting.volumes.setUp(pod);
    const [, payload] = (await setting.textOf(pod, 'token', 'token')).split('.');
    const claims = JSON.parse(Buffer.from(payload, 'base64url').toString());
    expect(claims.aud).toEqual(['vault']);
    expect(claims.exp - claims.iat).toBe(600);
    expect((await stat(join(await setting.sourceOf(pod, 'token'), 'token'))).mode & 0o777).toBe(0o600);
  });

  it('is not given for a Pod that is not there', async () => {
    const pod = await setting.aPod('web', [{ volume: projected }]);
    await setting.client.resource(Pod, setting.namespace).delete('web', { gracePeriodSeconds: 0 });
    await expect(setting.volumes.setUp(pod)).rejects.toThrow('MountVolume.SetUp failed for volume "token" : failed to fetch token: ');
  });
});
