import { afterEach, expect, test } from 'vitest';
import { startTestRegistry, type RegistryBehaviour, type TestRegistry } from '../../../test/support/oci-registry.ts';
import { digestOf } from '../../../test/support/tar-archive.ts';
import { realClock } from '../clock.ts';
import { OCI_MANIFEST } from './manifest.ts';
import { NO_PROXY } from './proxy-settings.ts';
import { imageReference, Repository } from './repository.ts';

const signal = new AbortController().signal;
const closing: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

async function repository(behaviour: RegistryBehaviour = {}): Promise<{ registry: TestRegistry; app: Repository }> {
  const registry = await startTestRegistry(behaviour);
  const registries = { registries: { [registry.host]: { mirrors: [], insecure: true } } };
  const login = behaviour.login && [{ registry: registry.host, ...behaviour.login }];
  const app = new Repository(imageReference(`${registry.host}/team/app:1`), login ?? [], { clock: realClock, registries, proxy: NO_PROXY });
  closing.push(
    () => registry.close(),
    () => app.close(),
  );
  return { registry, app };
}

test.each<[string, RegistryBehaviour]>([
  ['anybody', {}],
  ['those with a password', { login: { scheme: 'basic', username: 'u', password: 'p' } }],
  ['those with a token', { login: { scheme: 'bearer', username: 'u', password: 'p' } }],
])('blobs and manifests that were pushed are read again, on a registry for %s', async (_, behaviour) => {
  const { registry, app } = await repository(behaviour);
  const blob = Buffer.from('content');
  const digest = await app.pushBlob(blob, signal);
  const manifest = { schemaVersion: 2, layers: [{ digest }] };
  await app.pushManifest('1', OCI_MANIFEST, manifest, signal);
  expect(digest).toBe(digestOf(blob));
  expect(await app.blob(digest, 100, signal)).toEqual(blob);
  expect(JSON.parse((await app.manifest('1', signal)).bytes.toString())).toEqual(manifest);
  const before = registry.requests.length;
  await app.pushBlob(blob, signal);
  expect(registry.requests.slice(before)).toEqual([`HEAD /v2/team/app/blobs/${digest}`]);
});

test.each([
  ['lists them', false],
  ['knows no such list', true],
])('referrers are found on a registry that %s', async (_, withoutReferrers) => {
  const { app } = await repository({ withoutReferrers });
  const subject = `sha256:${'a'.repeat(64)}`;
  expect(await app.referrers(subject, signal)).toEqual([]);
  for (const note of ['one', 'two', 'two']) {
    const manifest = { schemaVersion: 2, artifactType: 'x/y', subject: { digest: subject }, annotations: { note } };
    const bytes = JSON.stringify(manifest);
    const referrer = { mediaType: OCI_MANIFEST, digest: digestOf(bytes), size: bytes.length, artifactType: 'x/y', annotations: { note } };
    await app.pushManifest(referrer.digest, OCI_MANIFEST, manifest, signal);
    await app.pushReferrer(subject, referrer, signal);
  }
  const found = await app.referrers(subject, signal);
  expect(found.map(({ artifactType, annotations }) => [artifactType, annotations.note])).toEqual([
    ['x/y', 'one'],
    ['x/y', 'two'],
  ]);
});

test('content that is not what its digest says is refused, and content that is too large', async () => {
  const { registry, app } = await repository();
  const digest = registry.putBlob(Buffer.from('content'));
  await expect(app.blob(digest, 3, signal)).rejects.toThrow('larger than 3 bytes');
  registry.blobs.set(digest, Buffer.from('evil'));
  await expect(app.blob(digest, 100, signal)).rejects.toThrow('it was changed on its way or in the registry');
});

test('what is not there is absent where it may be, and an error where it may not', async () => {
  const { app } = await repository();
  expect(await app.manifestIfAny('2', signal)).toBeUndefined();
  await expect(app.manifest('2', signal)).rejects.toThrow('not found');
  expect(() => imageReference('A B')).toThrow('"A B" is no image');
});
