import { readdirSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { aRegistry, fileIn, HELLO, imagesWith, plain, request, storeFolder } from './images-bench.ts';

describe('pulling', () => {
  test('an image is pulled by its tag, once, and unpacked', async () => {
    const registry = await aRegistry();
    const { digest } = registry.push('team/app', '1', { layers: HELLO, config: { Entrypoint: ['/app'], Env: ['A=b'], User: '1000' } });
    const images = imagesWith(plain(registry.host));
    const image = await images.ensure(request(`${registry.host}/team/app:1`));
    expect(image).toMatchObject({
      name: `${registry.host}/team/app:1`,
      id: `${registry.host}/team/app@${digest}`,
      config: { entrypoint: ['/app'], cmd: [], env: ['A=b'], user: '1000' },
    });
    expect(fileIn(image, 'etc/hello')).toBe('hello');
    expect(fileIn(image, 'etc/world')).toBe('world');
    const asked = registry.requests.length;
    expect(await images.ensure(request(`${registry.host}/team/app:1`))).toEqual(image);
    expect(await images.ensure(request(`${registry.host}/team/app@${digest}`))).toMatchObject({ id: image.id });
    expect(registry.requests).toHaveLength(asked);
    expect(readdirSync(storeFolder('scratch'))).toEqual([]);
  });

  test('another process finds what the first one pulled', async () => {
    const registry = await aRegistry();
    registry.push('app', 'latest', { layers: HELLO });
    await imagesWith(plain(registry.host)).ensure(request(`${registry.host}/app`));
    const image = await imagesWith().ensure(request(`${registry.host}/app`, { policy: 'Never' }));
    expect(fileIn(image, 'etc/hello')).toBe('hello');
  });

  test('equal requests at the same time share one pull', async () => {
    const registry = await aRegistry();
    registry.push('app', 'latest', { layers: HELLO });
    const images = imagesWith(plain(registry.host));
    const found = await Promise.all(Array.from({ length: 10 }, () => images.ensure(request(`${registry.host}/app`))));
    expect(new Set(found.map(({ id }) => id)).size).toBe(1);
    // The manifest, the configuration and two layers.
    expect(registry.requests).toHaveLength(4);
  });

  test('one that gives up does not take the others along', async () => {
    const registry = await aRegistry();
    registry.push('app', 'latest', { layers: HELLO });
    const images = imagesWith(plain(registry.host));
    const controller = new AbortController();
    const first = images.ensure(request(`${registry.host}/app`, { signal: controller.signal }));
    const second = images.ensure(request(`${registry.host}/app`));
    controller.abort();
    await expect(first).rejects.toMatchObject({ reason: 'ErrImagePull', message: `Cannot pull "${registry.host}/app": it was given up` });
    expect(fileIn(await second, 'etc/hello')).toBe('hello');
  });

  test('layers that two images share are fetched and kept once', async () => {
    const registry = await aRegistry();
    registry.push('app', '1', { layers: HELLO });
    const next = registry.push('app', '2', { layers: [HELLO[0], [{ name: 'new', content: 'new' }]] });
    const images = imagesWith(plain(registry.host));
    const first = await images.ensure(request(`${registry.host}/app:1`));
    registry.requests.length = 0;
    const second = await images.ensure(request(`${registry.host}/app:2`));
    expect((second.root as { layers: string[] }).layers[0]).toBe((first.root as { layers: string[] }).layers[0]);
    expect(registry.requests.filter((line) => line.includes('/blobs/'))).toEqual([
      `GET /v2/app/blobs/${next.config}`,
      `GET /v2/app/blobs/${next.layers[1]}`,
    ]);
  });

  test('the manifest for this machine is chosen from an index, and the index is its identity', async () => {
    const registry = await aRegistry();
    const arm = registry.push('app', 'arm', { layers: HELLO, architecture: 'arm64' });
    const amd = registry.push('app', 'amd', { layers: [[{ name: 'which', content: 'amd64' }]] });
    const entry = (digest: string, architecture: string) => ({
      mediaType: 'application/vnd.oci.image.manifest.v1+json',
      digest,
      size: 1,
      platform: { os: 'linux', architecture },
    });
    const index = registry.putManifest('app', 'latest', 'application/vnd.oci.image.index.v1+json', {
      schemaVersion: 2,
      manifests: [entry(arm.digest, 'arm64'), entry(amd.digest, 'amd64')],
    });
    const image = await imagesWith(plain(registry.host)).ensure(request(`${registry.host}/app`));
    expect(image.id).toBe(`${registry.host}/app@${index}`);
    expect(fileIn(image, 'which')).toBe('amd64');
  });

  test('Always asks for the tag again and fetches only what changed', async () => {
    const registry = await aRegistry();
    registry.push('app', 'latest', { layers: HELLO });
    const images = imagesWith(plain(registry.host));
    const before = await images.ensure(request(`${registry.host}/app`, { policy: 'Always' }));
    registry.requests.length = 0;
    await images.ensure(request(`${registry.host}/app`, { policy: 'Always' }));
    expect(registry.requests).toEqual(['HEAD /v2/app/manifests/latest']);
    registry.push('app', 'latest', { layers: [HELLO[0], [{ name: 'new', content: 'new' }]] });
    expect((await images.ensure(request(`${registry.host}/app`))).id).toBe(before.id);
    const after = await images.ensure(request(`${registry.host}/app`, { policy: 'Always' }));
    expect(fileIn(after, 'new')).toBe('new');
  });

  test('Always fails when the registry is gone, even if the image is here', async () => {
    const registry = await aRegistry();
    registry.push('app', 'latest', { layers: HELLO });
    const images = imagesWith(plain(registry.host));
    await images.ensure(request(`${registry.host}/app`));
    await registry.close();
    await expect(images.ensure(request(`${registry.host}/app`, { policy: 'Always' }))).rejects.toMatchObject({
      reason: 'ErrImagePull',
      message: `Cannot pull "${registry.host}/app": ${registry.host} refuses connections (ECONNREFUSED); is the registry running?`,
    });
    expect((await images.ensure(request(`${registry.host}/app`))).name).toBe(`${registry.host}/app:latest`);
  });

  test('Never takes what is here or nothing', async () => {
    await expect(imagesWith().ensure(request('busybox', { policy: 'Never' }))).rejects.toMatchObject({
      reason: 'ErrImageNeverPull',
      message: 'Container image "busybox" is not present with pull policy of Never',
    });
  });
});

describe('built-in images', () => {
  test.each(['tenantry.dev/hello', 'tenantry.dev/hello:latest', 'tenantry.dev/hello:1.2.3'])('%s needs no registry', async (reference) => {
    const image = await imagesWith().ensure(request(reference, { policy: 'Always' }));
    expect(image.root).toEqual({ builtIn: 'hello' });
    expect(image.config.entrypoint).toEqual(['/usr/bin/node', '/opt/dist/hello.js']);
    expect(image.id).toMatch(/^tenantry\.dev\/hello@sha256:[0-9a-f]{64}$/);
    expect((await imagesWith().ensure(request(image.id))).id).toBe(image.id);
  });

  test.each([
    ['tenantry.dev/helo', 'there is no such built-in image; there are tenantry.dev/hello, tenantry.dev/tools'],
    ['tenantry.dev/hello:2', 'built-in images have the version of the product, 1.2.3; leave the tag out'],
  ])('%s is refused', async (reference, message) => {
    await expect(imagesWith().ensure(request(reference))).rejects.toMatchObject({
      reason: 'ErrImagePull',
      message: expect.stringContaining(`Cannot pull "${reference}": ${message}`),
    });
  });

  test('one that there is not is simply not here for Never', async () => {
    await expect(imagesWith().ensure(request('tenantry.dev/helo', { policy: 'Never' }))).rejects.toMatchObject({
      reason: 'ErrImageNeverPull',
    });
  });
});
