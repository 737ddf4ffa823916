import { createHash } from 'node:crypto';
import { existsSync, readdirSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import type { ImagesOptions } from '../../../src/engine/node/images/create-images.ts';
import { refuse, type TestRegistry } from '../../support/oci-registry.ts';
import { aRegistry, fileIn, HELLO, imagesWith, nothingIsLeft, plain, request, storeFolder } from './images-bench.ts';

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
  const impatient = { connectMs: 10_000, idleMs: 200 };
  const onBlobs = (registry: TestRegistry, act: NonNullable<TestRegistry['intercept']>) => {
    registry.intercept = (incoming, response) => incoming.url!.includes('/blobs/') && act(incoming, response);
  };

  test('an unknown image', async () => {
    expect(
      await failing((registry) => (registry.intercept = (_, response) => (refuse(response, 404, 'NAME_UNKNOWN', 'no such'), true))),
    ).toBe('Cannot pull "HOST/app": not found (HOST answered 404 Not Found, NAME_UNKNOWN: no such); check its name and tag');
  });

  test('one that never answers is asked once', async () => {
    let asked = 0;
    const silent = () => {
      asked++;
      return true;
    };
    const message = await failing((registry) => (registry.intercept = silent), { timeouts: impatient });
    expect(message).toBe('Cannot pull "HOST/app": HOST did not answer within 0.2 s');
    expect(asked).toBe(1);
  });

  test('one that stops in the middle of a layer, again and again', async () => {
    let attempts = 0;
    const message = await failing(
      (registry) =>
        onBlobs(registry, (_, response) => {
          attempts++;
          response.writeHead(200, { 'content-length': 1000 }).write('x');
          return true;
        }),
      { timeouts: impatient },
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
    expect(existsSync(storeFolder('escape'))).toBe(false);
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

  test('a digest of another kind is verified too', async () => {
    const registry = await aRegistry();
    const bytes = (digest: string) => `sha512:${digest}`;
    const manifest = JSON.stringify({ schemaVersion: 2 });
    const right = createHash('sha512').update(manifest).digest('hex');
    for (const digest of [right, '0'.repeat(128)]) {
      registry.putManifest('app', bytes(digest), 'application/vnd.oci.image.manifest.v1+json', manifest);
    }
    const pull = (digest: string) => imagesWith(plain(registry.host)).ensure(request(`${registry.host}/app@${bytes(digest)}`));
    await expect(pull(right)).rejects.toThrow('its manifest does not say type, digest and size of the configuration');
    await expect(pull('0'.repeat(128))).rejects.toThrow(/instead of sha512:0{128}/);
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
    await expect(imagesWith().ensure(request(`${registry.host}/app`))).rejects.toThrow(
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
    await expect.poll(() => readdirSync(storeFolder('scratch'))).toEqual([]);
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
