import { describe, expect, test } from 'vitest';
import { chainIds, parseImageConfig } from './image-config.ts';
import { choosePlatform, parseManifest, type PlatformDescriptor } from './manifest.ts';

const digest = (letter: string) => `sha256:${letter.repeat(64)}`;
const config = { mediaType: 'application/vnd.oci.image.config.v1+json', digest: digest('c'), size: 10 };
const layer = { mediaType: 'application/vnd.oci.image.layer.v1.tar+gzip', digest: digest('1'), size: 20 };
const bytes = (value: unknown) => Buffer.from(JSON.stringify(value));
const amd64 = { os: 'linux', architecture: 'amd64' };

describe('parseManifest', () => {
  test('an OCI manifest is read', () => {
    expect(parseManifest(bytes({ schemaVersion: 2, config, layers: [layer] }), undefined)).toEqual({
      kind: 'manifest',
      manifest: { config, layers: [layer] },
    });
  });

  test.each([
    'application/vnd.docker.image.rootfs.diff.tar.gzip',
    'application/vnd.docker.image.rootfs.foreign.diff.tar.gzip',
    'application/vnd.oci.image.layer.v1.tar',
    'application/vnd.oci.image.layer.v1.tar+zstd',
    'application/vnd.oci.image.layer.nondistributable.v1.tar+gzip',
  ])('a layer of type %s is known', (mediaType) => {
    expect(parseManifest(bytes({ config, layers: [{ ...layer, mediaType }] }), undefined).kind).toBe('manifest');
  });

  test('a list of Docker is an index by the type the registry says', () => {
    const entry = { mediaType: 'application/vnd.docker.distribution.manifest.v2+json', digest: digest('2'), size: 3, platform: amd64 };
    const read = parseManifest(
      bytes({ schemaVersion: 2, manifests: [entry] }),
      'application/vnd.docker.distribution.manifest.list.v2+json',
    );
    expect(read).toEqual({ kind: 'index', manifests: [entry] });
  });

  test.each<[string, unknown, string]>([
    ['text', undefined, 'its manifest is no JSON'],
    ['a list', [], 'its manifest is no JSON object'],
    ['schema version 1', { schemaVersion: 1 }, 'schema version 1'],
    ['no config', { layers: [] }, 'its manifest does not say type, digest and size of the configuration'],
    ['a chart', { config: { ...config, mediaType: 'application/vnd.cncf.helm.config.v1+json' }, layers: [] }, 'it is no container image'],
    ['an index and an image at once', { config, layers: [layer], manifests: [] }, 'its manifest is an index and an image at once'],
    ['no layers', { config }, 'its manifest lists no layers'],
    ['a layer by md5', { config, layers: [{ ...layer, digest: 'md5:abc' }] }, 'which is no sha256 digest'],
    ['a path as digest', { config, layers: [{ ...layer, digest: `sha256:../../${'a'.repeat(58)}` }] }, 'which is no sha256 digest'],
    ['a negative size', { config, layers: [{ ...layer, size: -1 }] }, 'does not say type, digest and size of a layer'],
    ['an encrypted layer', { config, layers: [{ ...layer, mediaType: `${layer.mediaType}+encrypted` }] }, 'a layer of the unknown type'],
    ['a thousand layers', { config, layers: Array.from({ length: 1000 }, () => layer) }, 'it has 1000 layers; 500 is the most'],
  ])('%s is refused', (_name, value, message) => {
    expect(() => parseManifest(value === undefined ? Buffer.from('<html>') : bytes(value), undefined)).toThrow(message);
  });
});

describe('choosePlatform', () => {
  const entry = (os: string, architecture: string, letter: string): PlatformDescriptor => ({
    mediaType: 'm',
    digest: digest(letter),
    size: 1,
    platform: { os, architecture },
  });

  test('the one of this machine is chosen', () => {
    const all = [entry('linux', 'arm64', 'a'), entry('unknown', 'unknown', 'b'), entry('linux', 'amd64', 'd')];
    expect(choosePlatform(all, amd64).digest).toBe(digest('d'));
  });

  test('an index without one for this machine says what there is', () => {
    expect(() => choosePlatform([entry('linux', 'arm64', 'a'), entry('unknown', 'unknown', 'b')], amd64)).toThrow(
      'there is none for linux/amd64, only for linux/arm64; choose an image built for this machine',
    );
  });

  test('the only one is taken when it says no platform', () => {
    expect(choosePlatform([{ mediaType: 'm', digest: digest('a'), size: 1 }], amd64).digest).toBe(digest('a'));
  });
});

describe('parseImageConfig', () => {
  test('what says how to run it is read, and nothing else', () => {
    const value = {
      os: 'linux',
      architecture: 'amd64',
      config: {
        Entrypoint: ['/bin/app'],
        Cmd: null,
        Env: ['A=b'],
        WorkingDir: '/srv',
        User: '1000:app',
        StopSignal: 'SIGINT',
        Volumes: {},
      },
      rootfs: { type: 'layers', diff_ids: [digest('1')] },
    };
    expect(parseImageConfig(bytes(value), amd64)).toEqual({
      config: { entrypoint: ['/bin/app'], cmd: [], env: ['A=b'], workingDir: '/srv', user: '1000:app', stopSignal: 'SIGINT' },
      diffIds: [digest('1')],
    });
  });

  test('an empty one is an image that says nothing', () => {
    expect(parseImageConfig(bytes({}), amd64)).toEqual({
      config: { entrypoint: [], cmd: [], env: [], workingDir: '', user: '' },
      diffIds: [],
    });
  });

  test.each<[string, unknown, string]>([
    ['another architecture', { os: 'linux', architecture: 's390x' }, 'it is built for linux/s390x, this machine is linux/amd64'],
    ['another system', { os: 'windows', architecture: 'amd64' }, 'it is built for windows/amd64'],
    ['a command that is text', { config: { Cmd: 'sh' } }, 'a Cmd that is no list of strings'],
    ['layers that are no digests', { rootfs: { diff_ids: ['x'] } }, 'does not name its layers by sha256 digests'],
  ])('%s is refused', (_name, value, message) => {
    expect(() => parseImageConfig(bytes(value), amd64)).toThrow(message);
  });
});

test('chainIds names a layer by all that is below it', () => {
  const [base, first] = chainIds([digest('a'), digest('b')]);
  const [other, second] = chainIds([digest('c'), digest('b')]);
  expect(base).toBe(digest('a'));
  expect(other).toBe(digest('c'));
  // From the OCI image specification: sha256 of "<chain below> <diff id>".
  expect(first).toBe('sha256:ccd722928bd92476ba1745586fed6e45a102504185ad88cd89e01ff116fd146c');
  expect(first).not.toBe(second);
});
