import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { createImages, type ImagesOptions, type NodeImages } from '../../../src/engine/node/images/create-images.ts';
import { standardBuiltIns } from '../../../src/engine/node/images/built-in.ts';
import type { Image, ImageRequest, RegistryCredential } from '../../../src/engine/node/images/images.ts';
import type { RegistryConfig, RegistrySettings } from '../../../src/engine/node/images/model/registry-config.ts';
import { refuse, startTestRegistry, type RegistryBehaviour, type TestRegistry } from '../../../src/engine/node/images/testing/registry.ts';
import { realClock } from '../../../src/lib/clock.ts';
import { silentLog } from '../../../src/lib/log.ts';

const HELLO = [[{ name: 'etc/hello', content: 'hello' }], [{ name: 'etc/world', content: 'world' }]];
const login = { scheme: 'bearer' as const, username: 'me', password: 'secret' };

let dir: string;
const registries: TestRegistry[] = [];

beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'tenantry-images-'));
});
afterEach(async () => {
  for (const registry of registries.splice(0)) await registry.close();
  rmSync(dir, { recursive: true, force: true });
});

async function aRegistry(behaviour: RegistryBehaviour = {}): Promise<TestRegistry> {
  const registry = await startTestRegistry(behaviour);
  registries.push(registry);
  return registry;
}

function plain(...hosts: string[]): RegistryConfig {
  return { registries: Object.fromEntries(hosts.map((host): [string, RegistrySettings] => [host, { mirrors: [], insecure: true }])) };
}

function imagesWith(registryConfig: RegistryConfig, options: Partial<ImagesOptions> = {}): NodeImages {
  return createImages({
    dir,
    registries: registryConfig,
    builtIns: standardBuiltIns('1.2.3', '/usr/bin/node', '/opt/dist'),
    clock: realClock,
    log: silentLog,
    platform: { os: 'linux', architecture: 'amd64' },
    timeouts: { connectMs: 1000, idleMs: 200 },
    retries: { attempts: 3, initialMs: 5, maxMs: 10, longestWaitMs: 2000 },
    ...options,
  });
}

function request(reference: string, more: Partial<ImageRequest> = {}): ImageRequest {
  return { reference, policy: 'IfNotPresent', credentials: [], signal: new AbortController().signal, ...more };
}

/** A file as a container would see it, without whiteouts in play. */
function fileIn(image: Image, path: string): string {
  const { layers } = image.root as { layers: string[] };
  return readFileSync(
    join(
      layers.findLast((layer) => existsSync(join(layer, path)))!,
      path,
    ),
    'utf8',
  );
}

function nothingIsLeft(): void {
  for (const part of ['images', 'names', 'layers', 'scratch']) expect(readdirSync(join(dir, part))).toEqual([]);
}

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
    expect(readdirSync(join(dir, 'scratch'))).toEqual([]);
  });

  test('another process finds what the first one pulled', async () => {
    const registry = await aRegistry();
    registry.push('app', 'latest', { layers: HELLO });
    await imagesWith(plain(registry.host)).ensure(request(`${registry.host}/app`));
    const image = await imagesWith(plain()).ensure(request(`${registry.host}/app`, { policy: 'Never' }));
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
    expect(registry.requests).toEqual(['GET /v2/app/manifests/latest']);
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
    await expect(imagesWith(plain()).ensure(request('busybox', { policy: 'Never' }))).rejects.toMatchObject({
      reason: 'ErrImageNeverPull',
      message: 'Container image "busybox" is not present with pull policy of Never',
    });
  });
});

describe('credentials', () => {
  const wrong = (host: string): RegistryCredential => ({ registry: host, username: 'me', password: 'wrong' });
  const right = (host: string): RegistryCredential => ({ registry: host, username: 'me', password: 'secret' });

  test.each(['basic', 'bearer'] as const)('%s: the first that works is taken', async (scheme) => {
    const registry = await aRegistry({ login: { ...login, scheme } });
    registry.push('app', 'latest', { layers: HELLO });
    const credentials = [{ ...right(registry.host), registry: 'other.example' }, wrong(registry.host), right(registry.host)];
    const image = await imagesWith(plain(registry.host)).ensure(request(`${registry.host}/app`, { credentials }));
    expect(fileIn(image, 'etc/hello')).toBe('hello');
  });

  test.each(['basic', 'bearer'] as const)('%s: without one the message says what to do, and no secret', async (scheme) => {
    const registry = await aRegistry({ login: { ...login, scheme } });
    registry.push('app', 'latest', { layers: HELLO });
    const images = imagesWith(plain(registry.host));
    for (const credentials of [[], [wrong(registry.host)]]) {
      const failure = await images.ensure(request(`${registry.host}/app`, { credentials })).catch((error: unknown) => error as Error);
      expect(failure).toMatchObject({ reason: 'ErrImagePull' });
      expect((failure as Error).message).toMatch(
        /^Cannot pull "\S+": unauthorized \(\S+ answered 401 Unauthorized, UNAUTHORIZED: .+\); it is private or does not exist: .+imagePullSecret/,
      );
      expect((failure as Error).message).not.toContain('wrong"');
    }
  });

  test('the node has credentials of its own, for everybody', async () => {
    const registry = await aRegistry({ login });
    registry.push('app', 'latest', { layers: HELLO });
    const config = { registries: { [registry.host]: { mirrors: [], insecure: true, credential: right(registry.host) } } };
    await imagesWith(config).ensure(request(`${registry.host}/app`));
    await imagesWith(plain()).ensure(request(`${registry.host}/app`, { policy: 'Never' }));
  });

  test('a stored image is only for those who could have pulled it', async () => {
    const registry = await aRegistry({ login });
    const { digest } = registry.push('app', 'latest', { layers: HELLO });
    const images = imagesWith(plain(registry.host));
    const owner = { credentials: [right(registry.host)] };
    await images.ensure(request(`${registry.host}/app`, owner));
    for (const reference of [`${registry.host}/app`, `${registry.host}/app@${digest}`]) {
      await expect(images.ensure(request(reference))).rejects.toMatchObject({ reason: 'ErrImagePull' });
      await expect(images.ensure(request(reference, { policy: 'Never' }))).rejects.toMatchObject({ reason: 'ErrImageNeverPull' });
      expect((await images.ensure(request(reference, { policy: 'Never', ...owner }))).id).toBe(`${registry.host}/app@${digest}`);
    }
    // By another name of the same content neither.
    await expect(images.ensure(request(`${registry.host}/other@${digest}`, { policy: 'Never', ...owner }))).rejects.toMatchObject({
      reason: 'ErrImageNeverPull',
    });
  });

  test('a second tenant with a credential of its own fetches nothing twice', async () => {
    const registry = await aRegistry({ login });
    registry.push('app', 'latest', { layers: HELLO });
    const images = imagesWith(plain(registry.host));
    await images.ensure(request(`${registry.host}/app`, { credentials: [right(registry.host)] }));
    registry.requests.length = 0;
    const other = [{ ...right(registry.host), registry: `${registry.host}/app` }];
    await images.ensure(request(`${registry.host}/app`, { credentials: other }));
    expect(registry.requests.filter((line) => line.includes('/blobs/'))).toEqual([]);
    await images.ensure(request(`${registry.host}/app`, { credentials: other, policy: 'Never' }));
  });

  test('a redirect to another host carries no authorization, one on the same host does', async () => {
    const storage = await aRegistry();
    const registry = await aRegistry({ login });
    registry.push('app', 'latest', { layers: HELLO });
    for (const blob of registry.blobs.values()) storage.putBlob(blob);
    registry.intercept = (incoming, response) => {
      if (!incoming.url!.includes('/blobs/')) return false;
      response.writeHead(307, { location: `http://${storage.host}${incoming.url}` }).end();
      return true;
    };
    await imagesWith(plain(registry.host)).ensure(request(`${registry.host}/app`, { credentials: [right(registry.host)] }));
    expect(storage.requests).toHaveLength(3);
    expect(storage.authorizations).toEqual([undefined, undefined, undefined]);
    expect(registry.authorizations.at(-1)).toMatch(/^Bearer /);
  });
});

describe('mirrors', () => {
  const mirrored = (of: string, ...mirrors: string[]): RegistryConfig => ({
    registries: { ...plain(of, ...mirrors.map((mirror) => mirror.split('/')[0])).registries, [of]: { mirrors, insecure: true } },
  });

  test('a mirror is asked first, below its path, and the image keeps its name', async () => {
    const mirror = await aRegistry();
    const { digest } = mirror.push('hub/library/app', 'latest', { layers: HELLO });
    const config = mirrored('docker.io', `${mirror.host}/hub`);
    const image = await imagesWith(config).ensure(request('app'));
    expect(image).toMatchObject({ name: 'docker.io/library/app:latest', id: `docker.io/library/app@${digest}` });
  });

  test('what a mirror has not, or serves wrongly, comes from the next', async () => {
    const empty = await aRegistry();
    const broken = await aRegistry();
    const registry = await aRegistry();
    broken.push('app', 'latest', { layers: HELLO });
    registry.push('app', 'latest', { layers: HELLO });
    for (const [digest, blob] of broken.blobs) broken.blobs.set(digest, Buffer.alloc(blob.length));
    const image = await imagesWith(mirrored(registry.host, empty.host, broken.host)).ensure(request(`${registry.host}/app`));
    expect(fileIn(image, 'etc/hello')).toBe('hello');
    expect(empty.requests.length).toBeGreaterThan(0);
    expect(broken.requests.length).toBeGreaterThan(0);
  });

  test('no mirror sees the credentials of a Pod', async () => {
    const mirror = await aRegistry({ login });
    const registry = await aRegistry({ login });
    mirror.push('app', 'latest', { layers: HELLO });
    registry.push('app', 'latest', { layers: HELLO });
    const credentials = [{ registry: registry.host, username: 'me', password: 'secret' }];
    await imagesWith(mirrored(registry.host, mirror.host)).ensure(request(`${registry.host}/app`, { credentials }));
    expect(mirror.requests.length).toBeGreaterThan(0);
    expect(mirror.authorizations.every((value) => value === undefined)).toBe(true);
  });
});

describe('registries that misbehave', () => {
  async function failing(prepare: (registry: TestRegistry) => void, options: Partial<ImagesOptions> = {}): Promise<string> {
    const registry = await aRegistry();
    registry.push('app', 'latest', { layers: HELLO });
    prepare(registry);
    const failure = await imagesWith(plain(registry.host), options)
      .ensure(request(`${registry.host}/app`))
      .then(
        () => expect.unreachable('it was pulled'),
        (error: unknown) => error as Error & { reason: string },
      );
    expect(failure.reason).toBe('ErrImagePull');
    nothingIsLeft();
    return failure.message.replaceAll(registry.host, 'HOST');
  }
  const onBlobs = (registry: TestRegistry, act: NonNullable<TestRegistry['intercept']>) => {
    registry.intercept = (incoming, response) => incoming.url!.includes('/blobs/') && act(incoming, response);
  };

  test('an unknown image', async () => {
    expect(
      await failing((registry) => (registry.intercept = (_, response) => (refuse(response, 404, 'NAME_UNKNOWN', 'no such'), true))),
    ).toBe('Cannot pull "HOST/app": not found (HOST answered 404 Not Found, NAME_UNKNOWN: no such); check its name and tag');
  });

  test('one that never answers', async () => {
    const started = performance.now();
    expect(await failing((registry) => (registry.intercept = () => true))).toBe('Cannot pull "HOST/app": HOST did not answer within 0.2 s');
    expect(performance.now() - started).toBeLessThan(2000);
  });

  test('one that stops in the middle of a layer, again and again', async () => {
    let attempts = 0;
    const message = await failing((registry) =>
      onBlobs(registry, (_, response) => {
        attempts++;
        response.writeHead(200, { 'content-length': 1000 }).write('x');
        return true;
      }),
    );
    expect(message).toMatch(/^Cannot pull "HOST\/app": HOST (did not answer within 0\.2 s|sent)/);
    expect(attempts).toBeLessThan(40);
  });

  test('a layer that was tampered with', async () => {
    const message = await failing((registry) => {
      for (const [digest, blob] of registry.blobs) {
        if (blob[0] === 0x1f) registry.blobs.set(digest, Buffer.concat([blob.subarray(0, -1), Buffer.from([blob.at(-1)! ^ 1])]));
      }
    });
    expect(message).toMatch(/^Cannot pull "HOST\/app": HOST sent content with the digest sha256:\w+ instead of sha256:\w+; it was changed/);
  });

  test('a layer that does not unpack to what the configuration says', async () => {
    const message = await failing((registry) => {
      registry.push('app', 'latest', { layers: [[{ name: '../escape', content: 'x' }]] });
    });
    expect(message).toBe('Cannot pull "HOST/app": a layer is refused: the name "../escape" leads out of its folder');
    expect(existsSync(join(dir, 'escape'))).toBe(false);
  });

  test('a manifest with another digest than its header says', async () => {
    const message = await failing((registry) => {
      registry.intercept = (_, response) => {
        response.writeHead(200, { 'docker-content-digest': `sha256:${'0'.repeat(64)}` }).end('{}');
        return true;
      };
    });
    expect(message).toMatch(/HOST sent a manifest with the digest sha256:\w+ instead of sha256:0{64}/);
  });

  test('a manifest asked for by digest that is another', async () => {
    const registry = await aRegistry();
    registry.putManifest('app', `sha256:${'0'.repeat(64)}`, 'application/vnd.oci.image.manifest.v1+json', {});
    await expect(imagesWith(plain(registry.host)).ensure(request(`${registry.host}/app@sha256:${'0'.repeat(64)}`))).rejects.toThrow(
      /instead of sha256:0{64}/,
    );
  });

  test('a manifest without end', async () => {
    const message = await failing((registry) => {
      registry.intercept = (_, response) => {
        response.writeHead(200).end(Buffer.alloc(5 * 1024 * 1024, ' '));
        return true;
      };
    });
    expect(message).toBe('Cannot pull "HOST/app": the manifest from HOST is larger than 4194304 bytes');
  });

  test('more bytes than the manifest says', async () => {
    const message = await failing((registry) =>
      onBlobs(registry, (_, response) => {
        response.writeHead(200).end(Buffer.alloc(100_000));
        return true;
      }),
    );
    expect(message).toMatch(/HOST sent more than the \d+ bytes of sha256:/);
  });

  test('redirects without end', async () => {
    const message = await failing((registry) => {
      registry.intercept = (incoming, response) => (response.writeHead(302, { location: incoming.url! }).end(), true);
    });
    expect(message).toBe('Cannot pull "HOST/app": HOST redirects more than 5 times');
  });

  test('an image larger than the node takes', async () => {
    const limits = { compressedBytes: 10, unpackedBytes: 1e9, entries: 1000 };
    expect(await failing(() => {}, { limits })).toMatch(/it is \d+ bytes large; 10 is the most this node takes/);
    const unpacked = { compressedBytes: 1e9, unpackedBytes: 100, entries: 1000 };
    expect(await failing(() => {}, { limits: unpacked })).toContain('it unpacks to more bytes than this node takes for one image');
  });

  test('an image for another machine', async () => {
    const message = await failing((registry) => void registry.push('app', 'latest', { layers: HELLO, architecture: 's390x' }));
    expect(message).toBe('Cannot pull "HOST/app": it is built for linux/s390x, this machine is linux/amd64; choose an image built for it');
  });

  test('plain HTTP that nobody asked for', async () => {
    const registry = await aRegistry();
    registry.push('app', 'latest', { layers: HELLO });
    await expect(imagesWith(plain()).ensure(request(`${registry.host}/app`))).rejects.toThrow(
      `Cannot pull "${registry.host}/app": ${registry.host} does not speak TLS; if plain HTTP is what you want, say \`insecure: true\` for it in registries.yaml`,
    );
    expect(registry.requests).toEqual([]);
  });

  test('a pull that is given up in the middle leaves nothing and ends at once', async () => {
    const registry = await aRegistry();
    registry.push('app', 'latest', { layers: HELLO });
    const controller = new AbortController();
    onBlobs(registry, () => {
      controller.abort();
      return true;
    });
    const images = imagesWith(plain(registry.host), { timeouts: { connectMs: 60_000, idleMs: 60_000 } });
    await expect(images.ensure(request(`${registry.host}/app`, { signal: controller.signal }))).rejects.toThrow('it was given up');
    await expect.poll(() => readdirSync(join(dir, 'scratch'))).toEqual([]);
  });
});

describe('what goes away by itself', () => {
  test.each([
    ['503', (response: Parameters<typeof refuse>[0]) => refuse(response, 503, 'UNAVAILABLE', 'later')],
    [
      '429 with Retry-After',
      (response: Parameters<typeof refuse>[0]) => {
        response.setHeader('retry-after', '0');
        refuse(response, 429, 'TOOMANYREQUESTS', 'slow down');
      },
    ],
    ['a connection that is cut', (response: Parameters<typeof refuse>[0]) => void response.destroy()],
  ])('%s is tried again', async (_name, fail) => {
    const registry = await aRegistry();
    registry.push('app', 'latest', { layers: HELLO });
    let left = 2;
    registry.intercept = (_, response) => left-- > 0 && (fail(response), true);
    expect(fileIn(await imagesWith(plain(registry.host)).ensure(request(`${registry.host}/app`)), 'etc/hello')).toBe('hello');
  });

  test('a registry that wants a long rest is not waited for', async () => {
    const registry = await aRegistry();
    registry.intercept = (_, response) => {
      response.setHeader('retry-after', '3600');
      refuse(response, 429, 'TOOMANYREQUESTS', 'slow down');
      return true;
    };
    await expect(imagesWith(plain(registry.host)).ensure(request(`${registry.host}/app`))).rejects.toThrow(
      'too many requests (HOST answered 429 Too Many Requests, TOOMANYREQUESTS: slow down)'.replace('HOST', registry.host),
    );
    expect(registry.requests).toHaveLength(1);
  });

  test('a layer that breaks off is continued where it broke', async () => {
    const registry = await aRegistry();
    const content = Array.from({ length: 50_000 }, () => Math.random().toString(36)).join('');
    const { layers } = registry.push('app', 'latest', { layers: [[{ name: 'big', content }]] });
    const blob = registry.blobs.get(layers[0])!;
    const ranges: (string | undefined)[] = [];
    registry.intercept = (incoming, response) => {
      if (!incoming.url!.endsWith(layers[0])) return false;
      ranges.push(incoming.headers.range);
      if (ranges.length > 2) return false;
      const start = Number(/\d+/.exec(incoming.headers.range ?? '0')![0]);
      response.writeHead(start > 0 ? 206 : 200, {
        'content-length': blob.length - start,
        'content-range': `bytes ${start}-${blob.length - 1}/${blob.length}`,
      });
      response.write(blob.subarray(start, start + 100_000), () => setTimeout(() => response.destroy(), 20));
      return true;
    };
    const image = await imagesWith(plain(registry.host)).ensure(request(`${registry.host}/app`));
    expect(fileIn(image, 'big')).toBe(content);
    expect(ranges).toEqual([undefined, 'bytes=100000-', 'bytes=200000-']);
  });
});

describe('keeping', () => {
  test('list says names, digest and size', async () => {
    const registry = await aRegistry();
    const { digest } = registry.push('app', '1', { layers: HELLO });
    registry.push('app', 'latest', { layers: HELLO });
    const images = imagesWith(plain(registry.host));
    await images.ensure(request(`${registry.host}/app:1`));
    await images.ensure(request(`${registry.host}/app`));
    const [only, ...others] = await images.list();
    expect(others).toEqual([]);
    expect(only.digest).toBe(digest);
    expect([...only.names].sort()).toEqual([`${registry.host}/app:1`, `${registry.host}/app:latest`]);
    expect(only.sizeBytes).toBeGreaterThan(10);
  });

  test('collect takes the least recently used first, spares what is in use and layers that others have', async () => {
    const registry = await aRegistry();
    const images = imagesWith(plain(registry.host));
    const content = 'x'.repeat(10_000);
    const ids: string[] = [];
    for (const tag of ['old', 'used', 'new']) {
      registry.push('app', tag, { layers: [HELLO[0], [{ name: tag, content }]] });
      ids.push((await images.ensure(request(`${registry.host}/app:${tag}`))).id);
    }
    for (const [age, id] of ids.entries()) utimesSync(join(dir, 'images', `${id.split(':').at(-1)}.json`), age + 1, age + 1);
    expect(await images.collect(new Set([ids[1]]), 1)).toBeGreaterThanOrEqual(10_000);
    expect((await images.list()).flatMap(({ names }) => names).sort()).toEqual([`${registry.host}/app:new`, `${registry.host}/app:used`]);
    expect(await images.collect(new Set([ids[1].split('@')[1]]), 1e9)).toBeLessThan(20_000);
    const used = await images.ensure(request(`${registry.host}/app:used`, { policy: 'Never' }));
    expect(fileIn(used, 'etc/hello')).toBe('hello');
    expect(readdirSync(join(dir, 'layers')).filter((name) => !name.endsWith('.json'))).toHaveLength(2);
    expect(await images.collect(new Set(), 0)).toBe(0);
  });

  test('a layer that is gone is pulled again', async () => {
    const registry = await aRegistry();
    registry.push('app', 'latest', { layers: HELLO });
    const images = imagesWith(plain(registry.host));
    const { root } = await images.ensure(request(`${registry.host}/app`));
    rmSync((root as { layers: string[] }).layers[1], { recursive: true });
    expect(fileIn(await images.ensure(request(`${registry.host}/app`)), 'etc/world')).toBe('world');
  });

  test('remove takes a name, and the image with its last name', async () => {
    const registry = await aRegistry();
    registry.push('app', '1', { layers: HELLO });
    registry.push('app', '2', { layers: HELLO });
    const images = imagesWith(plain(registry.host));
    await images.ensure(request(`${registry.host}/app:1`));
    await images.ensure(request(`${registry.host}/app:2`));
    expect(await images.remove(`${registry.host}/app:1`)).toBe(0);
    expect(await images.remove(`${registry.host}/app:2`)).toBeGreaterThan(0);
    nothingIsLeft();
    await expect(images.remove('app')).rejects.toThrow('Cannot remove "app": there is no such image here; `tenantry image list` shows');
  });

  test('cleanUp removes what processes that died were making, and nothing of the living', async () => {
    const images = imagesWith(plain());
    await images.cleanUp();
    const start = readFileSync('/proc/self/stat', 'utf8').split(') ')[1].split(' ')[19];
    for (const name of ['999999999-5-dead', `${process.pid}-1-reused`, `${process.pid}-${start}-mine`, 'nonsense']) {
      writeFileSync(join(dir, 'scratch', name), '');
    }
    await images.cleanUp();
    expect(readdirSync(join(dir, 'scratch'))).toEqual([`${process.pid}-${start}-mine`]);
  });
});

describe('built-in images', () => {
  test.each(['tenantry.dev/hello', 'tenantry.dev/hello:latest', 'tenantry.dev/hello:1.2.3'])('%s needs no registry', async (reference) => {
    const image = await imagesWith(plain()).ensure(request(reference, { policy: 'Always' }));
    expect(image.root).toEqual({ builtIn: 'hello' });
    expect(image.config.entrypoint).toEqual(['/usr/bin/node', '/opt/dist/hello.js']);
    expect(image.id).toMatch(/^tenantry\.dev\/hello@sha256:[0-9a-f]{64}$/);
    expect((await imagesWith(plain()).ensure(request(image.id))).id).toBe(image.id);
  });

  test.each([
    ['tenantry.dev/helo', 'there is no such built-in image; there are tenantry.dev/hello, tenantry.dev/tools'],
    ['tenantry.dev/hello:2', 'built-in images have the version of the product, 1.2.3; leave the tag out'],
  ])('%s is refused', async (reference, message) => {
    await expect(imagesWith(plain()).ensure(request(reference))).rejects.toMatchObject({
      reason: 'ErrImagePull',
      message: `Cannot pull "${reference}": ${message}`,
    });
  });
});
