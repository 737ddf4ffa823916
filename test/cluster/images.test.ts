import {
  chmodSync,
  chownSync,
  cpSync,
  existsSync,
  linkSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { standardBuiltIns } from '../../src/engine/node/images/built-in.ts';
import { createImages, type NodeImages } from '../../src/engine/node/images/create-images.ts';
import type { Image, RegistryCredential } from '../../src/engine/node/images/images.ts';
import { realClock } from '../../src/lib/clock.ts';
import { silentLog } from '../../src/lib/log.ts';
import { imageTools, run, startRealRegistry, type RealRegistry } from './images-tools.ts';

/** Images made by umoci, moved by skopeo, served by docker-registry; what we unpack is compared with what umoci unpacks. */
const folder = mkdtempSync(join(tmpdir(), 'tenantry-real-images-'));
const place = (...parts: string[]) => join(folder, ...parts);
const signal = new AbortController().signal;
const login: RegistryCredential = { registry: '', username: 'me', password: 'secret' };
let open: RealRegistry;
let guarded: RealRegistry;

beforeAll(async () => {
  imageTools();
  open = await startRealRegistry(place('open'), { login: false });
  guarded = await startRealRegistry(place('guarded'), { login: true });
  makeImage();
  push(open.host, 'team/app', '1');
  push(guarded.host, 'team/app', '1', '--dest-creds', 'me:secret');
});

afterAll(async () => {
  await open?.stop();
  await guarded?.stop();
  rmSync(folder, { recursive: true, force: true });
});

/** Two layers: one with all kinds of files, one that changes and removes. */
function makeImage(): void {
  const layout = place('layout');
  run('umoci', ['init', '--layout', layout]);
  run('umoci', ['new', '--image', `${layout}:app`]);
  run('umoci', ['config', '--image', `${layout}:app`, '--config.cmd', '/bin/app', '--config.user', '1000:1000', '--config.env', 'A=b']);
  change('first', (root) => {
    for (const name of ['etc', 'bin', 'usr/share/opaque/deep', 'var/tmp', 'removed/deep']) mkdirSync(join(root, name), { recursive: true });
    cpSync('/etc/ssl', join(root, 'etc/ssl'), { recursive: true, verbatimSymlinks: true });
    writeFileSync(join(root, 'bin/su'), 'su');
    chownSync(join(root, 'bin/su'), 0, 42);
    chmodSync(join(root, 'bin/su'), 0o4755);
    chmodSync(join(root, 'var/tmp'), 0o1777);
    linkSync(join(root, 'bin/su'), join(root, 'bin/sudo'));
    symlinkSync('/bin/su', join(root, 'bin/absolute'));
    symlinkSync('../etc', join(root, 'bin/relative'));
    run('mkfifo', [join(root, 'bin/pipe')]);
    writeFileSync(Buffer.from(`${root}/etc/caf\xe9`, 'latin1'), 'latin');
    writeFileSync(join(root, 'etc', 'n'.repeat(200)), 'long');
    for (const name of ['usr/share/opaque/a', 'usr/share/opaque/deep/b', 'removed/deep/c', 'etc/gone', 'etc/changed']) {
      writeFileSync(join(root, name), name);
      chownSync(join(root, name), 1000, 2000);
    }
    run('setfattr', ['-n', 'user.note', '-v', 'kept', join(root, 'etc/changed')]);
  });
  change('second', (root) => {
    rmSync(join(root, 'etc/gone'));
    rmSync(join(root, 'removed'), { recursive: true });
    rmSync(join(root, 'usr/share/opaque'), { recursive: true });
    mkdirSync(join(root, 'usr/share/opaque'));
    writeFileSync(join(root, 'usr/share/opaque/new'), 'new');
    writeFileSync(join(root, 'etc/changed'), 'changed content');
    rmSync(join(root, 'bin/absolute'));
    mkdirSync(join(root, 'bin/absolute'));
  });
}

function change(name: string, act: (root: string) => void): void {
  const bundle = place(`bundle-${name}`);
  run('umoci', ['unpack', '--image', `${place('layout')}:app`, bundle]);
  act(join(bundle, 'rootfs'));
  run('umoci', ['repack', '--image', `${place('layout')}:app`, bundle]);
}

function push(host: string, repository: string, tag: string, ...options: string[]): void {
  run('skopeo', ['copy', '--dest-tls-verify=false', ...options, `oci:${place('layout')}:app`, `docker://${host}/${repository}:${tag}`]);
}

function imagesIn(name: string): NodeImages {
  const insecure = { mirrors: [], insecure: true };
  return createImages({
    dir: place(name),
    registries: { registries: { [open.host]: insecure, [guarded.host]: insecure } },
    builtIns: standardBuiltIns('0', '', ''),
    clock: realClock,
    log: silentLog,
  });
}

const ask = (reference: string, credentials: RegistryCredential[] = []) =>
  ({ reference, policy: 'IfNotPresent', credentials, signal }) as const;

/** Every file with everything about it, and what is in it. Overlayfs counts no links of folders. */
const DESCRIBE = [
  `find . -printf '%P|%y|%m|%U:%G|%l\\n' | sort`,
  `find . -type f -printf '%P %n %s %Ts\\n' | sort`,
  'find . -type f -print0 | sort -z | xargs -0 sha256sum',
].join('; ');

function describeTree(root: string): string {
  return run('sh', ['-c', `cd "$0" && ${DESCRIBE}`, root], { env: { ...process.env, LC_ALL: 'C' } });
}

/** The image as a container would see it: its layers under an overlay, in a mount namespace that ends with the command. */
function describeImage(image: Image, mountPoint: string): string {
  const { layers } = image.root as { layers: string[] };
  for (const name of ['view', 'upper', 'work']) mkdirSync(join(mountPoint, name), { recursive: true });
  const options = `lowerdir=${[...layers].reverse().join(':')},upperdir=${mountPoint}/upper,workdir=${mountPoint}/work`;
  const script = `mount -t overlay overlay -o "$1" "$0" && cd "$0" && ${DESCRIBE}`;
  return run('unshare', ['--mount', '--propagation', 'private', 'sh', '-c', script, join(mountPoint, 'view'), options], {
    env: { ...process.env, LC_ALL: 'C' },
  });
}

describe('images of a real registry', () => {
  test('a pulled image looks as the tool that made it says it should', async () => {
    const image = await imagesIn('pulled').ensure(ask(`${open.host}/team/app:1`));
    expect(image.config).toMatchObject({ cmd: ['/bin/app'], user: '1000:1000' });
    expect(image.config.env).toContain('A=b');
    const digest = JSON.parse(run('skopeo', ['inspect', '--tls-verify=false', `docker://${open.host}/team/app:1`])).Digest;
    expect(image.id).toBe(`${open.host}/team/app@${digest}`);
    run('umoci', ['unpack', '--image', `${place('layout')}:app`, place('expected')]);
    const seen = describeImage(image, place('mount'));
    expect(seen).toBe(describeTree(place('expected', 'rootfs')));
    expect(seen).toContain('bin/su|f|4755|0:42|');
    expect(seen).toContain('bin/su 2 2 ');
    const changed = (image.root as { layers: string[] }).layers
      .map((layer) => join(layer, 'etc/changed'))
      .find((path) => existsSync(path))!;
    expect(run('getfattr', ['-n', 'user.note', '--only-values', changed])).toBe('kept');
  });

  test('a guarded one needs the credential', async () => {
    const images = imagesIn('guarded-store');
    await expect(images.ensure(ask(`${guarded.host}/team/app:1`))).rejects.toThrow(/unauthorized \(.* 401 Unauthorized, UNAUTHORIZED: /);
    await expect(images.ensure(ask(`${guarded.host}/team/app:1`, [{ ...login, registry: guarded.host, password: 'no' }]))).rejects.toThrow(
      'unauthorized',
    );
    const image = await images.ensure(ask(`${guarded.host}/team/app:1`, [{ ...login, registry: guarded.host }]));
    expect((image.root as { layers: string[] }).layers).toHaveLength(2);
  });

  test.each([
    ['a repository', 'nothing:1'],
    ['a tag', 'team/app:2'],
    ['a digest', `team/app@sha256:${'0'.repeat(64)}`],
  ])('%s that is not there is not found', async (_name, reference) => {
    await expect(imagesIn('none').ensure(ask(`${open.host}/${reference}`))).rejects.toMatchObject({
      reason: 'ErrImagePull',
      message: expect.stringMatching(/: not found \(.* answered 404 Not Found, (MANIFEST|NAME)_UNKNOWN: /),
    });
  });

  test.each(['docker-archive', 'oci-archive'])('the same image loaded from a %s has the same layers', async (form) => {
    const file = place(`${form}.tar`);
    run('skopeo', ['copy', `oci:${place('layout')}:app`, `${form}:${file}:team/app:1`]);
    const images = imagesIn(form);
    await images.load(file, { name: form === 'oci-archive' ? 'docker.io/team/app:1' : undefined, signal });
    const loaded = await images.ensure({ ...ask('team/app:1'), policy: 'Never' });
    const pulled = await imagesIn('pulled').ensure(ask(`${open.host}/team/app:1`));
    const names = ({ root }: Image) => (root as { layers: string[] }).layers.map((layer) => layer.split('/').at(-1));
    expect(names(loaded)).toEqual(names(pulled));
  });

  test('a layer that a container has mounted is neither collected nor removed', async () => {
    const images = imagesIn('mounted');
    const image = await images.ensure(ask(`${open.host}/team/app:1`));
    const { layers } = image.root as { layers: string[] };
    for (const name of readdirSync(place('mounted', 'images'))) utimesSync(place('mounted', 'images', name), 1, 1);
    const view = place('held');
    mkdirSync(view);
    run('mount', ['-t', 'overlay', 'overlay', '-o', `lowerdir=${layers.join(':')}`, view]);
    try {
      await expect(images.remove(`${open.host}/team/app:1`)).rejects.toThrow('a container uses it; delete its Pod first');
      expect(await images.collect(new Set(), 1)).toBe(0);
    } finally {
      run('umount', [view]);
    }
    expect(await images.collect(new Set(), 1)).toBeGreaterThan(0);
    expect(readdirSync(place('mounted', 'layers'))).toEqual([]);
  });
});

describe('a full disk', () => {
  test.each([
    ['while a layer comes', '400k'],
    ['while it is unpacked', '1200k'],
  ])('%s fails the pull and leaves nothing', async (_name, size) => {
    const content = Buffer.from(Array.from({ length: 60_000 }, () => Math.random().toString(36).slice(2)).join(''));
    const big = place(`big-${size}`);
    run('umoci', ['init', '--layout', big]);
    run('umoci', ['new', '--image', `${big}:app`]);
    run('umoci', ['unpack', '--image', `${big}:app`, place(`bundle-${size}`)]);
    writeFileSync(place(`bundle-${size}`, 'rootfs/big'), content);
    run('umoci', ['repack', '--image', `${big}:app`, place(`bundle-${size}`)]);
    run('skopeo', ['copy', '--dest-tls-verify=false', `oci:${big}:app`, `docker://${open.host}/big:${size}`]);
    const disk = `disk-${size}`;
    mkdirSync(place(disk));
    run('mount', ['-t', 'tmpfs', '-o', `size=${size}`, 'tmpfs', place(disk)]);
    try {
      await expect(imagesIn(disk).ensure(ask(`${open.host}/big:${size}`))).rejects.toMatchObject({
        reason: 'ErrImagePull',
        message: expect.stringContaining('the disk is full; free some space'),
      });
      for (const part of ['images', 'names', 'layers', 'scratch']) expect(readdirSync(place(disk, part))).toEqual([]);
    } finally {
      run('umount', [place(disk)]);
    }
  });
});

describe('tenantry image', () => {
  const data = place('instance');
  const tenantry = (...args: string[]) => run(process.execPath, ['bin/tenantry', 'image', ...args, '--data', data]);

  test('pull, list and rm work without an instance, in a thread of the built program', () => {
    expect(tenantry('list')).toContain('No images yet.');
    mkdirSync(join(data, 'node'), { recursive: true });
    writeFileSync(join(data, 'node/registries.yaml'), `registries:\n  "${open.host}":\n    insecure: true\n`);
    expect(tenantry('pull', `${open.host}/team/app:1`)).toMatch(new RegExp(`^${open.host}/team/app@sha256:[0-9a-f]{64}\\n.+ s\\n$`));
    expect(tenantry('list')).toMatch(
      new RegExp(`^NAME +DIGEST +SIZE +TENANTS\\n${open.host}/team/app:1 +[0-9a-f]{12} +[\\d.]+ [kM]B +-\\n$`),
    );
    expect(tenantry('rm', `${open.host}/team/app:1`)).toMatch(/removed, [\d.]+ [kM]B freed/);
    expect(readdirSync(join(data, 'node/images/layers'))).toEqual([]);
    expect(readdirSync(join(data, 'node/images/scratch'))).toEqual([]);
  });

  test('a mistake in registries.yaml is told with its place', () => {
    writeFileSync(join(data, 'node/registries.yaml'), `registries:\n  "${open.host}":\n    insecur: true\n`);
    expect(() => tenantry('list')).toThrow(`registries["${open.host}"] has the unknown field "insecur"`);
  });
});
