import { randomBytes } from 'node:crypto';
import { existsSync, readdirSync, writeFileSync } from 'node:fs';
import { gzipSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import { pushImage, type TestImage } from '../../support/oci-registry.ts';
import { digestOf, tarOf, type ArchiveEntry } from '../../support/tar-archive.ts';
import { aRegistry, fileIn, HELLO, imagesWith, nothingIsLeft, request, storeFolder } from './images-bench.ts';
import { testCertificate } from './images-certificate.ts';

const signal = new AbortController().signal;
const image: TestImage = { layers: HELLO, config: { Cmd: ['/bin/app'] } };
const hex = (digest: string) => digest.slice('sha256:'.length);

function save(archive: Buffer): string {
  const file = storeFolder('archive.tar');
  writeFileSync(file, archive);
  return file;
}

/** An OCI layout, and what `docker save` adds to it since version 25. */
function layout(options: { annotations?: Record<string, string>; tags?: string[] } = {}): { entries: ArchiveEntry[]; digest: string } {
  const entries: ArchiveEntry[] = [{ name: 'oci-layout', content: '{"imageLayoutVersion":"1.0.0"}' }];
  const put = (bytes: Buffer): string => {
    entries.push({ name: `blobs/sha256/${hex(digestOf(bytes))}`, content: bytes });
    return digestOf(bytes);
  };
  const { digest, config, layers } = pushImage(image, put, (manifest) => put(Buffer.from(JSON.stringify(manifest))));
  const entry = { mediaType: 'application/vnd.oci.image.manifest.v1+json', digest, size: 1, annotations: options.annotations };
  entries.push({ name: 'index.json', content: JSON.stringify({ schemaVersion: 2, manifests: [entry] }) });
  if (options.tags) {
    const blob = (of: string) => `blobs/sha256/${hex(of)}`;
    const saved = [{ Config: blob(config), RepoTags: options.tags, Layers: layers.map(blob) }];
    entries.push({ name: 'manifest.json', content: JSON.stringify(saved) });
  }
  return { entries, digest };
}

/** What `docker save` wrote before: layers in folders of their own, equal ones as links. */
function oldDockerArchive(): ArchiveEntry[] {
  const layers = HELLO.map((entries) => tarOf(entries));
  const config = JSON.stringify({
    os: 'linux',
    architecture: 'amd64',
    config: {},
    rootfs: { diff_ids: layers.map((layer) => digestOf(layer)) },
  });
  return [
    { name: 'real/layer.tar', content: layers[0] },
    { name: 'a/', type: 'directory' },
    { name: 'a/layer.tar', type: 'symlink', link: '../real/layer.tar' },
    { name: 'b/layer.tar', content: layers[1] },
    { name: 'config.json', content: config },
    {
      name: 'manifest.json',
      content: JSON.stringify([{ Config: 'config.json', RepoTags: ['app:1', 'team/app:2'], Layers: ['a/layer.tar', 'b/layer.tar'] }]),
    },
  ];
}

describe('loading an archive', () => {
  test('an OCI layout keeps its name and digest', async () => {
    const { entries, digest } = layout({ annotations: { 'io.containerd.image.name': 'docker.io/library/app:1' } });
    const images = imagesWith();
    const [loaded] = await images.load(save(tarOf(entries)), { signal });
    expect(loaded).toMatchObject({ names: [`docker.io/library/app@${digest}`, 'docker.io/library/app:1'], digest });
    const ready = await images.ensure(request('app:1', { policy: 'Never' }));
    expect(ready).toMatchObject({ id: `docker.io/library/app@${digest}`, config: { cmd: ['/bin/app'] } });
    expect(fileIn(ready, 'etc/world')).toBe('world');
    expect(readdirSync(storeFolder('scratch'))).toEqual([]);
  });

  test('what docker save writes today has its names beside the layout', async () => {
    const { entries } = layout({ annotations: { 'org.opencontainers.image.ref.name': '1' }, tags: ['registry.example/app:1'] });
    const images = imagesWith();
    await images.load(save(gzipSync(tarOf(entries))), { signal });
    expect(fileIn(await images.ensure(request('registry.example/app:1', { policy: 'Never' })), 'etc/hello')).toBe('hello');
  });

  test('what docker save wrote before is known by its configuration', async () => {
    const images = imagesWith();
    const [loaded] = await images.load(save(tarOf(oldDockerArchive())), { signal });
    expect(loaded.names.filter((name) => !name.includes('@')).sort()).toEqual(['docker.io/library/app:1', 'docker.io/team/app:2']);
    expect(fileIn(await images.ensure(request('team/app:2', { policy: 'Never' })), 'etc/hello')).toBe('hello');
  });

  test('a name can be given', async () => {
    const images = imagesWith();
    await images.load(save(tarOf(layout().entries)), { name: 'mine:1', signal });
    expect((await images.ensure(request('mine:1', { policy: 'Never' }))).name).toBe('docker.io/library/mine:1');
  });

  const blobAt = (entries: ArchiveEntry[], index: number) => entries.filter(({ name }) => name.startsWith('blobs/'))[index];
  test.each<[string, () => Buffer, string]>([
    ['no archive', () => randomBytes(2000), 'archive.tar": it'],
    [
      'an archive of something else',
      () => tarOf([{ name: 'a' }]),
      'it has neither index.json nor manifest.json; make it with `docker save`',
    ],
    ['one without a name', () => tarOf(layout().entries), 'it gives its image no name; say one with --name'],
    [
      'a layer that is changed',
      () => {
        const { entries } = layout({ tags: ['app'] });
        blobAt(entries, 0).content = gzipSync(tarOf([{ name: 'evil' }]));
        return tarOf(entries);
      },
      'the image says sha256:',
    ],
    [
      'a configuration that is changed',
      () => {
        const { entries } = layout({ tags: ['app'] });
        blobAt(entries, 2).content = '{}';
        return tarOf(entries);
      },
      'the archive is damaged',
    ],
    [
      'a layer that is missing',
      () => tarOf(layout({ tags: ['app'] }).entries.filter((_, index) => index !== 1)),
      'which is not in it; the archive is not complete',
    ],
    [
      'a layer that is a link out of it',
      () => tarOf(oldDockerArchive().map((entry) => (entry.name === 'a/layer.tar' ? { ...entry, link: '/etc/passwd' } : entry))),
      'it names the file "a/layer.tar", which is not in it',
    ],
    [
      'a configuration out of it',
      () => tarOf([{ name: 'manifest.json', content: JSON.stringify([{ Config: '../../../../../../../../etc/passwd', Layers: [] }]) }]),
      'which is not in it',
    ],
    ['a name that leads out', () => tarOf([{ name: '../../escape', content: '' }]), 'the name "../../escape" leads out of its folder'],
  ])('%s is refused and leaves nothing', async (_name, archive, message) => {
    const images = imagesWith();
    const file = save(archive());
    await expect(images.load(file, { signal })).rejects.toMatchObject({ message: expect.stringContaining(`Cannot load "${file}": `) });
    await expect(images.load(file, { signal })).rejects.toThrow(message);
    expect(await images.list()).toEqual([]);
    expect(readdirSync(storeFolder('scratch'))).toEqual([]);
    expect(existsSync(storeFolder('..', 'escape'))).toBe(false);
  });

  test('a file that is not there is told', async () => {
    await expect(imagesWith().load('/no/such.tar', { signal })).rejects.toThrow('Cannot load "/no/such.tar": ');
    nothingIsLeft();
  });
});

describe('TLS', () => {
  test('an authority of the registry alone is trusted when it is named, and only then', async () => {
    const tls = testCertificate();
    const registry = await aRegistry({ tls });
    registry.push('app', 'latest', image);
    await expect(imagesWith().ensure(request(`${registry.host}/app`))).rejects.toThrow(
      /the certificate of 127\.0\.0\.1:\d+ is not trusted \(.+\); name its authority as `ca` in registries\.yaml/,
    );
    const config = { registries: { [registry.host]: { mirrors: [], insecure: false, ca: tls.cert } } };
    expect(fileIn(await imagesWith(config).ensure(request(`${registry.host}/app`)), 'etc/hello')).toBe('hello');
  });

  test('a redirect from TLS to plain HTTP is not followed', async () => {
    const tls = testCertificate();
    const storage = await aRegistry();
    const registry = await aRegistry({ tls });
    registry.push('app', 'latest', image);
    registry.intercept = (_, response) => (response.writeHead(307, { location: `http://${storage.host}/` }).end(), true);
    const config = { registries: { [registry.host]: { mirrors: [], insecure: false, ca: tls.cert } } };
    await expect(imagesWith(config).ensure(request(`${registry.host}/app`))).rejects.toThrow(
      'would be asked by plain HTTP, which is only done',
    );
    expect(storage.requests).toEqual([]);
  });
});
