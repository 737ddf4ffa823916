import { mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { SharedImages } from './shared-images.ts';

const HOUR = 3_600_000;
const APP = 'docker.io/library/app';

describe('SharedImages', () => {
  let folder: string;
  let shared: SharedImages;
  const image = (layer: string) => {
    const path = join(folder, layer);
    writeFileSync(path, layer);
    return { config: Buffer.from('{}'), layers: [path] };
  };
  const blobs = () => readdirSync(join(folder, 'blobs'));

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'tenantry-shared-'));
    shared = new SharedImages(folder);
  });
  afterEach(() => rmSync(folder, { recursive: true, force: true }));

  it('has nothing that nobody gave', async () => {
    expect(await shared.manifest(APP, '1')).toBeUndefined();
    expect(await shared.blob(`sha256:${'a'.repeat(64)}`)).toBeUndefined();
    expect(await shared.remove(`${APP}:1`, 0)).toBe(false);
  });

  it('makes a manifest for an image that has none, which leads to all that it is made of', async () => {
    await shared.add([`${APP}:1`], image('layer'));
    const found = (await shared.manifest(APP, '1'))!;
    const { config, layers } = JSON.parse(found.bytes.toString()) as Record<'config', { digest: string }> & {
      layers: { digest: string }[];
    };
    expect(found.mediaType).toBe('application/vnd.oci.image.manifest.v1+json');
    expect(await text((await shared.blob(config.digest))!.stream)).toBe('{}');
    expect(await text((await shared.blob(layers[0].digest))!.stream)).toBe('layer');
    // Whoever serves it is somebody else than whoever gave it.
    for (const name of blobs()) expect(statSync(join(folder, 'blobs', name)).mode & 0o004).toBe(0o004);
  });

  it('keeps a manifest to the byte, and finds it by its digest in its own repository only', async () => {
    const bytes = Buffer.from('{ "schemaVersion": 2 }');
    await shared.add([`${APP}:1`, `${APP}:2`], { ...image('layer'), manifest: { bytes, mediaType: 'x/y' } });
    const { digest } = (await shared.manifest(APP, '2'))!;
    const names = [1, 2].map((tag): [string, string] => [`${APP}:${tag}`, digest]);
    expect(await shared.names()).toEqual(new Map(names));
    expect(await shared.manifest(APP, digest)).toEqual({ digest, mediaType: 'x/y', bytes });
    expect(await shared.manifest('docker.io/library/ap', digest)).toBeUndefined();
    expect(await shared.manifest(APP, 'latest')).toBeUndefined();
  });

  it('removes with a name what no other needs, and nothing that somebody may be about to name', async () => {
    await shared.add([`${APP}:1`], image('one'));
    await shared.add([`${APP}:2`], image('two'));
    const all = blobs().length;
    expect(await shared.remove(`${APP}:1`, Date.now())).toBe(true);
    expect(await shared.manifest(APP, '1')).toBeUndefined();
    expect(blobs()).toHaveLength(all);
    await shared.add([`${APP}:1`], image('one'));
    await shared.remove(`${APP}:1`, Date.now() + 2 * HOUR);
    // Its manifest and its layer; the configuration is that of the other too.
    expect(blobs()).toHaveLength(all - 2);
    expect(await shared.manifest(APP, '2')).toBeDefined();
  });
});
