import { generateKeyPairSync } from 'node:crypto';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { FakeApi } from '../../../../../test/support/fake-api.ts';
import { startTestRegistry, type TestRegistry } from '../../../../../test/support/oci-registry.ts';
import type { PluginVersion } from '../../../../api/plugins.tenantry.dev/v1alpha1/plugin-version.ts';
import type { Publisher } from '../../../../api/plugins.tenantry.dev/v1alpha1/publisher.ts';
import { createClient } from '../../../../client/client.ts';
import { createInMemoryTransport } from '../../../../client/in-memory/in-memory-transport.ts';
import type { Json } from '../../../../kube/object.ts';
import { FakeClock } from '../../../../lib/clock-fake.ts';
import { realClock } from '../../../../lib/clock.ts';
import { signImage } from '../../../../lib/cosign/sign-image.ts';
import { readSigningKey, type SigningKey } from '../../../../lib/cosign/signing-keys.ts';
import { silentLog } from '../../../../lib/log.ts';
import { MetricsRegistry } from '../../../../lib/metrics.ts';
import { NO_PROXY } from '../../../../lib/oci/proxy-settings.ts';
import { imageReference, Repository, type RegistryAccess } from '../../../../lib/oci/repository.ts';
import { EventRecorder } from '../../../../runtime/event-recorder.ts';
import { SharedInformers } from '../../../../runtime/informer/shared-informers.ts';
import { imageRegistry } from '../../verification/image-evidence.ts';
import { versionController } from './version.controller.ts';

const newKey = (): SigningKey =>
  readSigningKey(generateKeyPairSync('ec', { namedCurve: 'prime256v1' }).privateKey.export({ type: 'pkcs8', format: 'pem' }).toString());
const acmeKey = newKey();
const globexKey = newKey();

let registry: TestRegistry;
let api: FakeApi;
let clock: FakeClock;
let access: RegistryAccess;
let stop: () => Promise<void>;

beforeEach(async () => {
  registry = await startTestRegistry();
  api = new FakeApi();
  clock = new FakeClock('2026-06-01T00:00:00Z');
  access = {
    clock: realClock,
    proxy: NO_PROXY,
    registries: { registries: { [registry.host]: { mirrors: [], insecure: true } } },
    retries: { attempts: 1, initialMs: 1, maxMs: 1, longestWaitMs: 1 },
  };
  const client = createClient(createInMemoryTransport(api.handler), { clock });
  const informers = new SharedInformers({ client, log: silentLog });
  const events = new EventRecorder({ client, log: silentLog, controller: 'test', instance: 'test' });
  const own = { instance: 'test', registry: imageRegistry(access), informers, events };
  const controller = versionController({ client, clock, log: silentLog, metrics: new MetricsRegistry(), ...own });
  controller.start();
  stop = async () => {
    await controller.stop();
    await informers.stop();
  };
});
afterEach(async () => {
  await stop();
  await registry.close();
});

function push(repository: string, content: string, user = '10001'): string {
  registry.push(repository, '1.0.0', { layers: [[{ name: 'app', content }]], config: { User: user } });
  return `${registry.host}/${repository}:1.0.0`;
}

async function sign(image: string, key: SigningKey): Promise<void> {
  const { signal } = new AbortController();
  const repository = new Repository(imageReference(image), [], access);
  const { digest, bytes, contentType } = await repository.manifest('1.0.0', signal);
  await signImage(repository, { name: image, digest, mediaType: contentType!, size: bytes.length }, key, new Date(), signal);
  repository.close();
}

function putPublisher(name: string, keys: Publisher['spec']['keys'], more: object = {}): void {
  api.put({ apiVersion: 'plugins.tenantry.dev/v1alpha1', kind: 'Publisher', metadata: { name }, spec: { keys, ...more } }, 'publishers');
}

function publish(publisher: string, image: string, change: (spec: Json) => void = () => {}): string {
  const amounts = { cpu: '100m', memory: '64Mi' };
  const manifest = {
    apiVersion: 'adapstory.com/v1',
    kind: 'Plugin',
    metadata: { name: 'hello', version: '1.0.0', publisher },
    spec: { runtime: { image, resources: { requests: amounts, limits: amounts } } },
  };
  const spec: Json = { publisher, plugin: 'hello', version: '1.0.0', manifest };
  change(spec);
  const metadata = { name: `${publisher}.hello.1.0.0`, generation: 1 };
  api.put({ apiVersion: 'plugins.tenantry.dev/v1alpha1', kind: 'PluginVersion', metadata, spec }, 'pluginversions');
  return metadata.name;
}

const versionNamed = (name: string) => api.get('pluginversions', '', name) as PluginVersion | undefined;

async function becomes(name: string, phase: string, reason?: string): Promise<PluginVersion> {
  return vi.waitFor(
    async () => {
      await clock.advance(0);
      const version = versionNamed(name)!;
      const ready = version.status?.conditions?.find(({ type }) => type === 'Ready');
      expect([version.status?.phase, reason === undefined ? undefined : ready?.reason], ready?.message).toEqual([phase, reason]);
      return version;
    },
    { timeout: 20_000, interval: 10 },
  );
}

const eventReasons = (): string[] =>
  api.requests.filter(({ method, path }) => method === 'POST' && path.includes('/events')).map(({ body }) => (body as Json).reason);

test('a version is a draft until it is signed, then verified and pinned to its digest', async () => {
  putPublisher('acme', [{ id: 'main', publicKey: acmeKey.publicKey }]);
  const image = push('acme/hello', 'one');
  const name = publish('acme', image);
  const draft = await becomes(name, 'DRAFT', 'NotSigned');
  expect(draft.status!.image).toMatch(/\/acme\/hello@sha256:[0-9a-f]{64}$/);
  await sign(image, acmeKey);
  await clock.advance(60_000);
  const verified = await becomes(name, 'VERIFIED', 'Ready');
  expect(verified.status).toMatchObject({
    image: draft.status!.image,
    signature: { keyId: 'main', form: 'tag', fingerprint: acmeKey.fingerprint },
  });
  expect(eventReasons()).toEqual(['Draft', 'Signed', 'Verified']);
});

test('a tag that moves after verification changes nothing, and nothing is asked of the registry again', async () => {
  putPublisher('acme', [{ id: 'main', publicKey: acmeKey.publicKey }]);
  const image = push('acme/hello', 'one');
  await sign(image, acmeKey);
  const name = publish('acme', image);
  const before = await becomes(name, 'VERIFIED');
  push('acme/hello', 'evil');
  const asked = registry.requests.length;
  putPublisher('acme', [{ id: 'main', publicKey: acmeKey.publicKey, validUntil: '2026-01-01T00:00:00Z' }]);
  await clock.advance(120_000);
  expect((await becomes(name, 'VERIFIED')).status!.image).toBe(before.status!.image);
  expect(registry.requests.length).toBe(asked);
});

test('a revoked key revokes what it signed, also when the registry is down; another signature brings it back', async () => {
  putPublisher('acme', [{ id: 'main', publicKey: acmeKey.publicKey }]);
  const image = push('acme/hello', 'one');
  await sign(image, acmeKey);
  const name = publish('acme', image);
  await becomes(name, 'VERIFIED');
  registry.intercept = (_request, response) => {
    response.writeHead(503).end();
    return true;
  };
  const second = newKey();
  const keys = [
    { id: 'main', publicKey: acmeKey.publicKey, revokedAt: '2026-06-01T00:00:00Z' },
    { id: 'second', publicKey: second.publicKey },
  ];
  putPublisher('acme', keys);
  expect((await becomes(name, 'REVOKED', 'ImageUnavailable')).status!.signature).toBeUndefined();
  registry.intercept = undefined;
  await clock.advance(60_000);
  await becomes(name, 'REVOKED', 'KeyRevoked');
  await sign(image, second);
  await clock.advance(60_000);
  expect((await becomes(name, 'VERIFIED', 'Ready')).status!.signature!.keyId).toBe('second');
});

test('two publishers with one plugin name are each verified by their own key alone', async () => {
  putPublisher('acme', [{ id: 'main', publicKey: acmeKey.publicKey }]);
  putPublisher('globex', [{ id: 'main', publicKey: globexKey.publicKey }]);
  const image = push('shared/hello', 'one');
  await sign(image, acmeKey);
  const mine = publish('acme', image);
  const theirs = publish('globex', image);
  await becomes(mine, 'VERIFIED');
  await becomes(theirs, 'SIGNED', 'SignatureInvalid');
});

test.each<[string, string, string, (spec: Json) => void]>([
  ['a manifest that is none', 'ManifestInvalid', 'spec.runtime', (spec) => delete spec.manifest.spec.runtime],
  ['the tag latest', 'ManifestInvalid', 'the tag "latest" moves', (spec) => (spec.manifest.spec.runtime.image = 'r.example/a/b:latest')],
  ['a spec that says something else than the manifest', 'ManifestInvalid', 'spec.plugin is "other"', (spec) => (spec.plugin = 'other')],
  [
    'a registry that its publisher does not use',
    'RepositoryNotAllowed',
    'come from',
    (spec) => (spec.manifest.spec.runtime.image = 'r.example/acme-evil/b:1'),
  ],
  [
    'a pull Secret that is not its publisher’s',
    'ImageUnavailable',
    'no pull Secret "x"',
    (spec) => (spec.manifest.spec.runtime.imagePullSecret = 'x'),
  ],
])('a version stays a draft with %s', async (_, reason, message, change) => {
  putPublisher('acme', [{ id: 'main', publicKey: acmeKey.publicKey }], { repositories: [`${registry.host}/acme`, 'r.example/acme'] });
  const name = publish('acme', push('acme/hello', 'one'), change);
  const { status } = await becomes(name, 'DRAFT', reason);
  expect(status!.conditions!.find(({ type }) => type === 'Ready')!.message).toContain(message);
});

test('an image that runs as root is not verified, however well signed', async () => {
  putPublisher('acme', [{ id: 'main', publicKey: acmeKey.publicKey }]);
  const image = push('acme/hello', 'one', 'root');
  await sign(image, acmeKey);
  await becomes(publish('acme', image), 'SIGNED', 'RunsAsRoot');
});

test('a version of an unknown publisher waits for it', async () => {
  const image = push('acme/hello', 'one');
  await sign(image, acmeKey);
  const name = publish('acme', image);
  await becomes(name, 'DRAFT', 'PublisherUnknown');
  putPublisher('acme', [{ id: 'main', publicKey: acmeKey.publicKey }]);
  await becomes(name, 'VERIFIED', 'Ready');
});
