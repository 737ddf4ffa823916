import { readdir, readFile, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { Client } from '../../../src/client/client.ts';
import type { Json, KubeObject } from '../../../src/kube/object.ts';
import { startEmbeddedTarget, type EmbeddedTarget } from '../../support/embedded-target.ts';
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

describe('emptyDir', () => {
  it('is a folder for everybody that keeps its content', async () => {
    const pod = await setting.aPod('web', [{ volume: { name: 'data', emptyDir: {} } }]);
    await setting.volumes.setUp(pod);
    const source = await setting.sourceOf(pod, 'data');
    expect((await stat(source)).mode & 0o7777).toBe(0o777);
    await writeFile(join(source, 'file'), 'x');
    await setting.volumes.setUp(pod);
    setting.restart();
    await setting.volumes.setUp(pod);
    expect(await setting.textOf(pod, 'data', 'file')).toBe('x');
  });

  it('says when memory is only a folder', async () => {
    const pod = await setting.aPod('web', [{ volume: { name: 'data', emptyDir: { medium: 'Memory' } } }]);
    await setting.volumes.setUp(pod);
    await setting.volumes.setUp(pod);
    expect(setting.notes).toEqual([
      { type: 'Warning', reason: 'VolumeOnDisk', message: expect.stringContaining('Volume "data" is an emptyDir of medium Memory') },
    ]);
  });

  it('tells when it is larger than it may be', async () => {
    const pod = await setting.aPod('web', [
      { volume: { name: 'free', emptyDir: {} } },
      { volume: { name: 'data', emptyDir: { sizeLimit: '1Mi' } } },
    ]);
    await setting.volumes.setUp(pod);
    await writeFile(join(await setting.sourceOf(pod, 'free'), 'file'), Buffer.alloc(3_000_000, 1));
    expect(await setting.volumes.overLimit(pod)).toBeUndefined();
    await writeFile(join(await setting.sourceOf(pod, 'data'), 'file'), Buffer.alloc(2_000_000, 1));
    expect(await setting.volumes.overLimit(pod)).toBeUndefined();
    await setting.clock.advance(10_000);
    expect(await setting.volumes.overLimit(pod)).toBe('Usage of EmptyDir volume "data" exceeds the limit "1Mi". ');
  });

  it('refuses huge pages', async () => {
    const pod = await setting.aPod('web', [{ volume: { name: 'data', emptyDir: {} } }]);
    const other: KubeObject = { ...pod, spec: { ...pod.spec, volumes: [{ name: 'data', emptyDir: { medium: 'HugePages' } }] } };
    await expect(setting.volumes.setUp(other)).rejects.toThrow('Cannot make an emptyDir of medium "HugePages"');
  });
});

describe('hostPath and others', () => {
  it('is refused without a policy', async () => {
    const pod = await setting.aPod('web', [{ volume: { name: 'host', hostPath: { path: '/etc' } } }]);
    await expect(setting.volumes.setUp(pod)).rejects.toMatchObject({
      reason: 'FailedMount',
      message:
        'MountVolume.SetUp failed for volume "host" : Cannot mount hostPath "/etc": this node lets Pods use none of its own folders; start the node with --allow-host-path /etc',
    });
  });

  it('is looked at again for every container', async () => {
    setting.restart({ hostPathPolicy: [join(setting.dir, 'shared')] });
    const pod = await setting.aPod('web', [
      { volume: { name: 'host', hostPath: { path: join(setting.dir, 'shared', 'data'), type: 'DirectoryOrCreate' } } },
    ]);
    await setting.volumes.setUp(pod);
    expect(await setting.sourceOf(pod, 'host')).toBe(join(setting.dir, 'shared', 'data'));
    await rm(join(setting.dir, 'shared', 'data'), { recursive: true });
    await symlink('/etc', join(setting.dir, 'shared', 'data'));
    await expect(setting.sourceOf(pod, 'host')).rejects.toMatchObject({
      reason: 'CreateContainerConfigError',
      message: expect.stringContaining('(which is "/etc")'),
    });
  });

  it('refuses types that it does not have', async () => {
    const pod = await setting.aPod('web', [{ volume: { name: 'share', nfs: { server: 's', path: '/p' } } }]);
    await expect(setting.volumes.setUp(pod)).rejects.toThrow(
      'MountVolume.SetUp failed for volume "share" : Cannot mount a volume of type "nfs": this node does not have it; mount the share on the machine and use a hostPath volume',
    );
  });
});

describe('mounts of a container', () => {
  const data = { name: 'data', emptyDir: {} };

  it('finds paths inside volumes, by name and by expression', async () => {
    await setting.putConfigMap('settings', { key: 'red' });
    const pod = await setting.aPod('web', [
      { volume: data, mount: { mountPath: '/sub', subPath: 'a/b' } },
      { volume: { name: 'settings', configMap: { name: 'settings' } }, mount: { mountPath: '/etc/key', subPath: 'key' } },
    ]);
    await setting.volumes.setUp(pod);
    const [container] = pod.spec.containers;
    const mounts = await setting.volumes.mountsOf(pod, container, {});
    expect(mounts.map(({ target: path, readOnly }) => [path, readOnly])).toEqual([
      ['/sub', false],
      ['/etc/key', true],
    ]);
    expect((await stat(mounts[0].source)).mode & 0o777).toBe(0o777);
    expect(await readFile(mounts[1].source, 'utf8')).toBe('red');
    const byName = { ...container, volumeMounts: [{ name: 'data', mountPath: '/sub', subPathExpr: 'logs/$(POD)' }] };
    const [expanded] = await setting.volumes.mountsOf(pod, byName, { POD: 'web' });
    expect(expanded.source.endsWith('/data/logs/web')).toBe(true);
  });

  const refusals: [string, Json, string][] = [
    ['an unknown volume', { name: 'no', mountPath: '/x' }, 'cannot find volume "no" to mount into container "main"'],
    ['an expression without a value', { name: 'data', mountPath: '/x', subPathExpr: '$(NO)' }, 'missing value for NO'],
    [
      'an expression that becomes absolute',
      { name: 'data', mountPath: '/x', subPathExpr: '$(ROOT)' },
      'error SubPath `/etc` must not be an absolute path',
    ],
    [
      'an expression that leads back',
      { name: 'data', mountPath: '/x', subPathExpr: 'a/$(UP)' },
      "unable to provision SubPath `a/../..`: must not contain '..'",
    ],
    [
      'a link out of the volume',
      { name: 'data', mountPath: '/x', subPath: 'link' },
      'failed to prepare subPath for volumeMount "data" of container "main"',
    ],
    [
      'a mode that it does not have',
      { name: 'data', mountPath: '/x', readOnly: true, recursiveReadOnly: 'Enabled' },
      'volume "data" requested recursive read-only mode, but it is not supported by the runtime',
    ],
    ['an unknown propagation', { name: 'data', mountPath: '/x', mountPropagation: 'Wild' }, 'invalid MountPropagation mode: "Wild"'],
  ];

  it.each(refusals)('refuses %s', async (_, mount, message) => {
    const pod = await setting.aPod('web', [{ volume: data }]);
    await setting.volumes.setUp(pod);
    await symlink('/etc', join(await setting.sourceOf(pod, 'data'), 'link'));
    const container = { name: 'main', volumeMounts: [mount] };
    const refused = setting.volumes.mountsOf(pod, container, { ROOT: '/etc', UP: '../..' });
    await expect(refused).rejects.toMatchObject({ reason: 'CreateContainerConfigError', message });
  });

  it('sets up what a container that came later is the first to mount', async () => {
    const pod = await setting.aPod('web', [], { volumes: [data] });
    await setting.volumes.setUp(pod);
    const debug = { name: 'debug', volumeMounts: [{ name: 'data', mountPath: '/data' }] };
    const later: KubeObject = { ...pod, spec: { ...pod.spec, ephemeralContainers: [debug] } };
    const [mount] = await setting.volumes.mountsOf(later, debug, {});
    expect((await stat(mount.source)).isDirectory()).toBe(true);
  });

  it('passes on propagation and read-only', async () => {
    const pod = await setting.aPod('web', [{ volume: data }]);
    await setting.volumes.setUp(pod);
    const volumeMounts = [
      { name: 'data', mountPath: 'relative', readOnly: true },
      { name: 'data', mountPath: '/p', mountPropagation: 'HostToContainer' },
    ];
    expect(await setting.volumes.mountsOf(pod, { name: 'main', volumeMounts }, {})).toEqual([
      { source: expect.any(String), target: '/relative', readOnly: true },
      { source: expect.any(String), target: '/p', readOnly: false, propagation: 'HostToContainer' },
    ]);
  });
});

describe('the end of volumes', () => {
  it('tearDown removes everything, can be repeated, and leaves host paths alone', async () => {
    setting.restart({ hostPathPolicy: [setting.dir] });
    const host = join(setting.dir, 'host');
    const pod = await setting.aPod('web', [
      { volume: { name: 'data', emptyDir: {} } },
      { volume: { name: 'ca', configMap: { name: 'kube-root-ca.crt' } } },
      { volume: { name: 'host', hostPath: { path: host } } },
    ]);
    await setting.volumes.setUp(pod);
    await writeFile(join(host, 'precious'), 'x');
    await symlink(host, join(await setting.sourceOf(pod, 'data'), 'link'));
    await setting.volumes.tearDown(pod.metadata.uid!);
    await setting.volumes.tearDown(pod.metadata.uid!);
    expect(await exists(setting.folderOf(pod))).toBe(false);
    expect(await readdir(host)).toEqual(['precious']);
  });

  it('tearDown leaves what others keep of the Pod', async () => {
    const pod = await setting.aPod('web', [{ volume: { name: 'data', emptyDir: {} } }]);
    await setting.volumes.setUp(pod);
    await writeFile(join(setting.folderOf(pod), 'hosts'), 'x');
    await setting.volumes.tearDown(pod.metadata.uid!);
    expect(await readdir(setting.folderOf(pod))).toEqual(['hosts']);
  });

  it('cleanUp removes what Pods left that are gone', async () => {
    const volume = { name: 'data', emptyDir: {} };
    const [live, dead] = [await setting.aPod('live', [{ volume }]), await setting.aPod('dead', [{ volume }])];
    await setting.volumes.setUp(live);
    await setting.volumes.setUp(dead);
    setting.restart();
    await setting.volumes.cleanUp(new Set([live.metadata.uid!]));
    expect(await readdir(join(setting.dir, 'pods'))).toEqual([live.metadata.uid]);
    await setting.volumes.setUp(live);
    expect(await exists(await setting.sourceOf(live, 'data'))).toBe(true);
  });

  it('nothing is written after tearDown, whatever changes', async () => {
    await setting.putConfigMap('settings', { a: '1' });
    const pod = await setting.aPod('web', [{ volume: { name: 'v', configMap: { name: 'settings' } } }]);
    const both = Promise.all([setting.volumes.setUp(pod), setting.volumes.tearDown(pod.metadata.uid!)]);
    await setting.putConfigMap('settings', { a: '2' });
    await both;
    await setting.clock.advance(0);
    expect(await exists(setting.folderOf(pod))).toBe(false);
  });
});
