import { chmod, chown, lstat, mkdir, readdir, readFile, readlink, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { Client } from '../../src/client/client.ts';
import { PersistentVolume, PersistentVolumeClaim, Secret } from '../../src/client/kinds.ts';
import type { PodVolumesOptions } from '../../src/engine/node/volumes/create-pod-volumes.ts';
import type { Json, KubeObject } from '../../src/kube/object.ts';
import { eventually } from '../integration/controllers/eventually.ts';
import { clientOf, exists, VolumesSetting } from '../integration/node/volumes-setting.ts';
import { startEmbeddedTarget, type EmbeddedTarget } from '../support/embedded-target.ts';

/** What volumes need root for: file systems in memory, owners, and paths that are pinned while containers move things about. */

let target: EmbeddedTarget;
let client: Client;
let setting: VolumesSetting;
let folder: string;
let options: Partial<PodVolumesOptions>;

beforeAll(async () => {
  expect(process.getuid?.(), 'these tests need root').toBe(0);
  target = await startEmbeddedTarget();
  client = await clientOf(target.kubeconfig);
});
afterAll(async () => {
  await client.close();
  await target.close();
});
beforeEach(async () => {
  setting = await VolumesSetting.make(client);
  folder = join(setting.dir, 'volumes');
  await mkdir(folder);
  const node = { name: 'n1', allocatable: () => ({ memory: '64Mi' }), volumeFolder: folder };
  options = { isRoot: true, node, hostPathPolicy: [join(setting.dir, 'host')] };
  setting.restart(options);
});
afterEach(async () => {
  setting.restart(options);
  await setting.volumes.cleanUp(new Set());
  expect(await mounts()).toEqual([]);
  await setting.end();
});

async function mounts(): Promise<string[]> {
  const table = await readFile('/proc/self/mountinfo', 'utf8');
  return table
    .split('\n')
    .map((line) => line.split(' ')[4] ?? '')
    .filter((path) => path.startsWith(setting.dir));
}

/** A claim that is bound to a folder of this node, without a scheduler. */
async function aClaim(name: string): Promise<string> {
  const claims = client.resource<KubeObject>(PersistentVolumeClaim, setting.namespace);
  const volume = `${setting.namespace}-${name}`;
  const common = { accessModes: ['ReadWriteOnce'], storageClassName: '' };
  const claim = await claims.create({
    metadata: { name },
    spec: { ...common, volumeName: volume, resources: { requests: { storage: '1Gi' } } },
  });
  const match = { matchExpressions: [{ key: 'kubernetes.io/hostname', operator: 'In', values: ['n1'] }] };
  await client.resource<KubeObject>(PersistentVolume).create({
    metadata: { name: volume },
    spec: {
      ...common,
      capacity: { storage: '1Gi' },
      claimRef: { namespace: setting.namespace, name, uid: claim.metadata.uid },
      local: { path: join(folder, volume) },
      nodeAffinity: { required: { nodeSelectorTerms: [match] } },
    },
  });
  await eventually(
    () => claims.get(name),
    ({ status }) => status.phase === 'Bound',
  );
  return join(folder, volume);
}

const claimed = { name: 'data', persistentVolumeClaim: { claimName: 'data' } };
const mode = async (path: string): Promise<string> => ((await lstat(path)).mode & 0o7777).toString(8);
const group = async (path: string): Promise<number> => (await lstat(path)).gid;

describe('memory', () => {
  it('an emptyDir of medium Memory is a file system of its size, which goes with the Pod', async () => {
    const pod = await setting.aPod('web', [{ volume: { name: 'data', emptyDir: { medium: 'Memory', sizeLimit: '1Mi' } } }]);
    await setting.volumes.setUp(pod);
    const source = await setting.sourceOf(pod, 'data');
    expect(await mounts()).toEqual([source]);
    expect(await mode(source)).toBe('777');
    await writeFile(join(source, 'file'), Buffer.alloc(512 * 1024));
    await expect(writeFile(join(source, 'more'), Buffer.alloc(1024 * 1024))).rejects.toThrow('ENOSPC');
    await setting.volumes.setUp(pod);
    setting.restart(options);
    await setting.volumes.setUp(pod);
    expect((await readdir(source)).toSorted()).toEqual(['file', 'more']);
    expect(await setting.volumes.overLimit(pod)).toBeUndefined();
    await setting.volumes.tearDown(pod.metadata.uid!);
    expect(await mounts()).toEqual([]);
    expect(await exists(setting.folderOf(pod))).toBe(false);
  });

  it('without a limit it is no larger than the node', async () => {
    const pod = await setting.aPod('web', [{ volume: { name: 'data', emptyDir: { medium: 'Memory' } } }]);
    await setting.volumes.setUp(pod);
    const table = await readFile('/proc/self/mounts', 'utf8');
    expect(table).toMatch(new RegExp(`tmpfs ${await setting.sourceOf(pod, 'data')} tmpfs \\S*size=65536k`));
  });

  it('secrets and tokens never reach the disk; one file system serves all Pods and goes with the last', async () => {
    await client.resource<KubeObject>(Secret, setting.namespace).create({ metadata: { name: 'keys' }, stringData: { a: '1' } });
    const volume = { name: 'keys', secret: { secretName: 'keys' } };
    const first = await setting.aPod('one', [{ volume }], { automountServiceAccountToken: true });
    const second = await setting.aPod('two', [{ volume }]);
    await Promise.all([setting.volumes.setUp(first), setting.volumes.setUp(second)]);
    expect(await mounts()).toEqual([join(setting.dir, 'memory')]);
    for (const { source } of await setting.volumes.mountsOf(first, first.spec.containers[0], {})) {
      expect(source.startsWith(join(setting.dir, 'memory', first.metadata.uid!))).toBe(true);
    }
    expect(await setting.textOf(second, 'keys', 'a')).toBe('1');
    await setting.volumes.tearDown(first.metadata.uid!);
    expect(await setting.textOf(second, 'keys', 'a')).toBe('1');
    setting.restart(options);
    await setting.volumes.cleanUp(new Set([second.metadata.uid!]));
    expect(await mounts()).toHaveLength(1);
    await setting.volumes.setUp(second);
    await setting.volumes.tearDown(second.metadata.uid!);
    expect(await mounts()).toEqual([]);
    expect(await readdir(setting.dir)).not.toContain('memory');
  });
});

it('cleanUp unmounts what a killed agent left behind, also when it is empty', async () => {
  const token = { serviceAccountToken: { path: 'token', expirationSeconds: 3600 } };
  const pod = await setting.aPod('web', [{ volume: { name: 'token', projected: { sources: [token] } } }]);
  await setting.volumes.setUp(pod);
  await rm(join(setting.dir, 'memory', pod.metadata.uid!), { recursive: true });
  setting.restart(options);
  await setting.volumes.cleanUp(new Set());
  expect(await mounts()).toEqual([]);
});

describe('owners', () => {
  const securityContext = { fsGroup: 4321 };

  it('an emptyDir belongs to the group of the Pod', async () => {
    const pod = await setting.aPod(
      'web',
      [{ volume: { name: 'disk', emptyDir: {} } }, { volume: { name: 'memory', emptyDir: { medium: 'Memory' } } }],
      { securityContext },
    );
    await setting.volumes.setUp(pod);
    for (const name of ['disk', 'memory']) {
      const source = await setting.sourceOf(pod, name);
      expect([await group(source), await mode(source)]).toEqual([4321, '2777']);
    }
  });

  it('files from the API are readable by the group, a token by nobody else', async () => {
    await setting.putConfigMap('settings', { a: '1' });
    const token = { serviceAccountToken: { path: 'token', expirationSeconds: 3600 } };
    const pod = await setting.aPod(
      'web',
      [
        { volume: { name: 'settings', configMap: { name: 'settings', defaultMode: 0o400 } } },
        { volume: { name: 'token', projected: { sources: [token] } } },
      ],
      { securityContext },
    );
    await setting.volumes.setUp(pod);
    const settings = join(await setting.sourceOf(pod, 'settings'), '..data', 'a');
    expect([await group(settings), await mode(settings)]).toEqual([4321, '440']);
    const file = join(await setting.sourceOf(pod, 'token'), '..data', 'token');
    expect([await group(file), await mode(file)]).toEqual([4321, '640']);
    await setting.putConfigMap('settings', { a: '2' });
    await eventually(
      () => readFile(settings, 'utf8'),
      (text) => text === '2',
    );
    expect(await group(settings)).toBe(4321);
  });

  it('a token belongs to the user of all containers', async () => {
    const token = { serviceAccountToken: { path: 'token', expirationSeconds: 3600 } };
    const pod = await setting.aPod('web', [{ volume: { name: 'token', projected: { sources: [token] } } }], {
      securityContext: { runAsUser: 1234 },
    });
    await setting.volumes.setUp(pod);
    const file = join(await setting.sourceOf(pod, 'token'), '..data', 'token');
    expect([(await lstat(file)).uid, await mode(file)]).toEqual([1234, '600']);
  });

  it('a claim is given to the group with all that is in it, once, and no link is followed', async () => {
    const source = await aClaim('data');
    await mkdir(join(source, 'sub'), { recursive: true });
    await writeFile(join(source, 'sub', 'file'), 'x', { mode: 0o600 });
    await writeFile(join(setting.dir, 'outside'), 'x', { mode: 0o600 });
    await symlink(join(setting.dir, 'outside'), join(source, 'link'));
    await chmod(join(source, 'sub'), 0o700);
    const pod = await setting.aPod('web', [{ volume: claimed }], { securityContext });
    await setting.volumes.setUp(pod);
    expect([await group(source), await group(join(source, 'sub', 'file')), await group(join(source, 'link'))]).toEqual([4321, 4321, 4321]);
    expect([await mode(join(source, 'sub')), await mode(join(source, 'sub', 'file'))]).toEqual(['2770', '660']);
    expect([await group(join(setting.dir, 'outside')), await mode(join(setting.dir, 'outside'))]).toEqual([0, '600']);
    await writeFile(join(source, 'later'), 'x');
    await chown(join(source, 'later'), 0, 0);
    setting.restart(options);
    await setting.volumes.setUp(pod);
    expect(await group(join(source, 'later'))).toBe(0);
    await setting.volumes.tearDown(pod.metadata.uid!);
    expect((await readdir(source)).toSorted()).toEqual(['later', 'link', 'sub']);
  });

  it('OnRootMismatch looks at the top only', async () => {
    const source = await aClaim('data');
    await mkdir(source);
    await chown(source, 0, 4321);
    await chmod(source, 0o2770);
    await writeFile(join(source, 'file'), 'x');
    await chown(join(source, 'file'), 0, 0);
    const spec = { securityContext: { ...securityContext, fsGroupChangePolicy: 'OnRootMismatch' } };
    const pod = await setting.aPod('web', [{ volume: claimed }], spec);
    await setting.volumes.setUp(pod);
    expect(await group(join(source, 'file'))).toBe(0);
    await setting.volumes.tearDown(pod.metadata.uid!);
    await chmod(source, 0o750);
    await setting.volumes.setUp(pod);
    expect([await group(join(source, 'file')), await mode(source)]).toEqual([4321, '2770']);
  });
});

describe('paths inside volumes', () => {
  const mounting = (volume: Json, subPath: string): { volume: Json; mount: Json } => ({ volume, mount: { mountPath: '/x', subPath } });

  it('are pinned: what a container puts in their place later does not matter', async () => {
    const claim = await aClaim('data');
    const pod = await setting.aPod('web', [mounting(claimed, 'a/b')]);
    await setting.volumes.setUp(pod);
    const source = await setting.sourceOf(pod, 'x');
    expect(await mounts()).toEqual([source]);
    await writeFile(join(claim, 'a', 'b', 'file'), 'mine');
    await rm(join(claim, 'a', 'b', 'file'));
    await rm(join(claim, 'a'), { recursive: true });
    await symlink('/etc', join(claim, 'a'));
    expect(await readdir(source)).toEqual([]);
    await expect(setting.sourceOf(pod, 'x')).rejects.toThrow('failed to prepare subPath for volumeMount "data" of container "main"');
    await setting.volumes.tearDown(pod.metadata.uid!);
    expect(await mounts()).toEqual([]);
    expect(await readlink(join(claim, 'a'))).toBe('/etc');
  });

  it('keep their content when the Pod goes, also after kill -9', async () => {
    const claim = await aClaim('data');
    const host = { name: 'host', hostPath: { path: join(setting.dir, 'host'), type: 'DirectoryOrCreate' } };
    const pod = await setting.aPod('web', [mounting(claimed, 'sub'), { volume: host, mount: { mountPath: '/y', subPath: 'deep/er' } }]);
    await setting.volumes.setUp(pod);
    await setting.volumes.mountsOf(pod, pod.spec.containers[0], {});
    await writeFile(join(claim, 'sub', 'file'), 'precious');
    await writeFile(join(setting.dir, 'host', 'deep', 'er', 'file'), 'precious');
    expect(await mounts()).toHaveLength(2);
    setting.restart(options);
    await setting.volumes.cleanUp(new Set());
    expect(await mounts()).toEqual([]);
    expect(await exists(setting.folderOf(pod))).toBe(false);
    expect(await readFile(join(claim, 'sub', 'file'), 'utf8')).toBe('precious');
    expect(await readFile(join(setting.dir, 'host', 'deep', 'er', 'file'), 'utf8')).toBe('precious');
  });

  it('are not mounted again for the next container, unless they lead elsewhere now', async () => {
    await setting.putConfigMap('settings', { key: '1' });
    const pod = await setting.aPod('web', [mounting({ name: 'settings', configMap: { name: 'settings' } }, 'key')]);
    await setting.volumes.setUp(pod);
    const source = await setting.sourceOf(pod, 'x');
    const { ino } = await stat(source);
    expect((await stat(await setting.sourceOf(pod, 'x'))).ino).toBe(ino);
    expect(await mounts()).toHaveLength(1);
    await setting.putConfigMap('settings', { key: '2' });
    await eventually(
      async () => readFile(await setting.sourceOf(pod, 'x'), 'utf8'),
      (text) => text === '2',
    );
    expect(await mounts()).toHaveLength(1);
  });

  it('never lead out while a container swaps folders for links', async () => {
    const claim = await aClaim('data');
    await mkdir(join(setting.dir, 'secret'));
    const pod = await setting.aPod('web', [mounting(claimed, 'race/inner')]);
    await setting.volumes.setUp(pod);
    const outside = (await stat(join(setting.dir, 'secret'))).ino;
    const stop = new AbortController();
    const attacker = (async () => {
      while (!stop.signal.aborted) {
        await rm(join(claim, 'race'), { recursive: true, force: true }).catch(() => {});
        await symlink(join(setting.dir, 'secret'), join(claim, 'race')).catch(() => {});
        await rm(join(claim, 'race'), { recursive: true, force: true }).catch(() => {});
        await mkdir(join(claim, 'race', 'inner'), { recursive: true }).catch(() => {});
        // Long enough for one look, seldom for two.
        await new Promise((resolve) => void setTimeout(resolve, 2));
      }
    })();
    let bound = 0;
    for (let attempt = 0; attempt < 150; attempt++) {
      const source = await setting.sourceOf(pod, 'x').catch(() => undefined);
      if (source === undefined) continue;
      bound++;
      expect((await stat(source)).ino).not.toBe(outside);
    }
    stop.abort();
    await attacker;
    expect(bound).toBeGreaterThan(0);
    expect(await readdir(join(setting.dir, 'secret'))).toEqual([]);
  });
});
