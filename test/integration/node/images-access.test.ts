import { describe, expect, test } from 'vitest';
import type { RegistryCredential } from '../../../src/engine/node/images/images.ts';
import type { RegistryConfig } from '../../../src/lib/oci/registry-config.ts';
import { aRegistry, fileIn, HELLO, imagesWith, login, plain, request } from './images-bench.ts';

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
    await imagesWith().ensure(request(`${registry.host}/app`, { policy: 'Never' }));
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
