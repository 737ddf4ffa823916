import { generateKeyPairSync } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startTestRegistry, type TestRegistry } from '../../../../test/support/oci-registry.ts';
import { bundleOf, preAuthenticationEncoding, signStatement } from '../../../lib/cosign/bundle.ts';
import { signImage } from '../../../lib/cosign/sign-image.ts';
import { readSigningKey, type SigningKey } from '../../../lib/cosign/signing-keys.ts';
import { simpleSigningPayload } from '../../../lib/cosign/simple-signing.ts';
import { realClock } from '../../../lib/clock.ts';
import { NO_PROXY } from '../../../lib/oci/proxy-settings.ts';
import { imageReference, Repository } from '../../../lib/oci/repository.ts';
import { imageRegistry } from './image-evidence.ts';
import { judgeSignatures, type Candidate, type PublisherKey } from './judge-signatures.ts';
import { userProblem } from './user-rules.ts';

const NOW = Date.parse('2026-06-01T00:00:00Z');
const IMAGE = `sha256:${'1'.repeat(64)}`;
const OTHER = `sha256:${'2'.repeat(64)}`;

function aKey(curve = 'prime256v1'): SigningKey {
  return readSigningKey(generateKeyPairSync('ec', { namedCurve: curve }).privateKey.export({ type: 'pkcs8', format: 'pem' }).toString());
}
const own = aKey();
const foreign = aKey();
const keyOf = (key: SigningKey, more: Partial<PublisherKey> = {}): PublisherKey => ({ id: 'main', publicKey: key.publicKey, ...more });

/** A signature in the older form of whatever payload. */
function byTag(payload: Buffer, key: SigningKey = own): Candidate {
  return { form: 'tag', payload, signature: key.sign(payload) };
}
function byBundle(statement: Buffer, key: SigningKey = own): Candidate {
  return { form: 'bundle', bundle: bundleOf(statement, key.sign(preAuthenticationEncoding(statement)), key.hint) };
}
const changed = (bytes: Buffer, from: string, to: string): Buffer => Buffer.from(bytes.toString().replace(from, to));
const payload = simpleSigningPayload('registry.example/acme/app', IMAGE);
const statement = signStatement(IMAGE);
const sbom = changed(statement, 'https://sigstore.dev/cosign/sign/v1', 'https://spdx.dev/Document');

function verdict(candidates: Candidate[], keys: PublisherKey[] = [keyOf(own)]): string {
  const judged = judgeSignatures(IMAGE, candidates, keys, NOW);
  return judged.good ? `good by ${judged.keyId} (${judged.form})` : `${judged.reason}: ${judged.message}`;
}

describe('an image is verified', () => {
  it.each<[string, Candidate[], PublisherKey[]?]>([
    ['a signature at its tag', [byTag(payload)]],
    ['a signature that refers to it', [byBundle(statement)]],
    ['one good signature among bad ones', [byTag(payload, foreign), byBundle(sbom), byBundle(statement)]],
    [
      'a second key when the first is revoked',
      [byTag(payload)],
      [keyOf(foreign, { id: 'old', revokedAt: '2026-01-01T00:00:00Z' }), keyOf(own)],
    ],
    ['a key within its time', [byTag(payload)], [keyOf(own, { validFrom: '2026-06-01T00:00:00Z', validUntil: '2026-06-02T00:00:00Z' })]],
  ])('by %s', (_, candidates, keys) => {
    expect(verdict(candidates, keys)).toMatch(/^good by main/);
  });

  it('by keys of other strengths', () => {
    for (const curve of ['secp384r1', 'secp521r1']) {
      const key = aKey(curve);
      expect(verdict([byTag(payload, key), byBundle(statement, key)], [keyOf(key)])).toBe('good by main (tag)');
    }
  });

  it('and what else its publisher said of it is known, not what others did', () => {
    expect(judgeSignatures(IMAGE, [byBundle(sbom), byTag(payload)], [keyOf(own)], NOW)).toMatchObject({
      attested: ['https://spdx.dev/Document'],
    });
    expect(judgeSignatures(IMAGE, [byBundle(sbom, foreign), byTag(payload)], [keyOf(own)], NOW)).toMatchObject({ attested: [] });
  });
});

describe('an image is not verified', () => {
  const revoked = [keyOf(own, { revokedAt: '2026-05-01T00:00:00Z' })];
  it.each<[string, Candidate[], PublisherKey[], string]>([
    ['without a signature', [], [keyOf(own)], 'NotSigned'],
    [
      'with the signature of another image at its tag',
      [byTag(simpleSigningPayload('r/a', OTHER))],
      [keyOf(own)],
      `SignatureInvalid: of 1 found, none is a good signature: it is for another image, "${OTHER}"`,
    ],
    [
      'with the signature of another image as referrer',
      [byBundle(signStatement(OTHER))],
      [keyOf(own)],
      'it is for another image, sha256:222',
    ],
    ['with a signed SBOM', [byBundle(sbom)], [keyOf(own)], 'it is an attestation of the type "https://spdx.dev/Document", not a signature'],
    [
      'with a payload of another type',
      [byTag(changed(payload, 'cosign container image signature', 'atomic'))],
      [keyOf(own)],
      'it is of the type "atomic"',
    ],
    [
      'with a payload changed after signing',
      [{ ...byTag(changed(payload, IMAGE, OTHER)), payload } as Candidate],
      [keyOf(own)],
      'no key of the publisher made it ("main")',
    ],
    [
      'with a statement changed after signing',
      [{ form: 'bundle', bundle: bundleOf(statement, own.sign(preAuthenticationEncoding(sbom)), own.hint) }],
      [keyOf(own)],
      'no key of the publisher made it',
    ],
    [
      'with a signature of the bare statement',
      [{ form: 'bundle', bundle: bundleOf(statement, own.sign(statement), own.hint) }],
      [keyOf(own)],
      'no key of the publisher made it',
    ],
    ['with a foreign key', [byTag(payload, foreign), byBundle(statement, foreign)], [keyOf(own)], 'SignatureInvalid: of 2 found'],
    [
      'with a revoked key',
      [byTag(payload)],
      revoked,
      'KeyRevoked: of 1 found, none is a good signature: it is by the key "main", which was revoked at',
    ],
    ['with a revoked key, in the other form', [byBundle(statement)], revoked, 'KeyRevoked'],
    ['before its key is valid', [byTag(payload)], [keyOf(own, { validFrom: '2026-06-01T00:00:01Z' })], 'KeyNotValid'],
    ['when its key has ended', [byTag(payload)], [keyOf(own, { validUntil: '2026-06-01T00:00:00Z' })], 'KeyNotValid'],
    ['with a key that is none', [byTag(payload)], [{ id: 'main', publicKey: 'hello' }], 'NoUsableKey'],
    ['with bytes that are no signature', [{ form: 'tag', payload, signature: Buffer.from('x') }], [keyOf(own)], 'SignatureInvalid'],
    [
      'with a bundle that is none',
      [{ form: 'bundle', bundle: Buffer.from('{"dsseEnvelope":1}') }],
      [keyOf(own)],
      'not a bundle of version 0.3',
    ],
    ['with a statement that is none', [byBundle(Buffer.from('[]'))], [keyOf(own)], 'no in-toto statement'],
  ])('%s', (_, candidates, keys, message) => {
    expect(verdict(candidates, keys)).toContain(message);
  });
});

describe('userProblem', () => {
  it.each([
    ['', 'has no USER'],
    ['root', 'which is root'],
    ['0:10', 'which is root'],
    ['000', 'which is root'],
    ['app', 'nobody can tell'],
    ['-1', 'nobody can tell'],
    ['10001', undefined],
    ['65532:0', undefined],
  ])('of %j is %s', (user, problem) => {
    const found = userProblem(user, 'linux/amd64');
    if (problem === undefined) expect(found).toBeUndefined();
    else expect(found).toContain(problem);
  });
});

describe('evidence in a registry', () => {
  let registry: TestRegistry;
  const signal = new AbortController().signal;
  beforeAll(async () => {
    registry = await startTestRegistry();
  });
  afterAll(() => registry.close());

  const access = () => ({
    clock: realClock,
    proxy: NO_PROXY,
    registries: { registries: { [registry.host]: { mirrors: [], insecure: true } } },
  });

  async function sign(image: string, key: SigningKey): Promise<void> {
    const repository = new Repository(imageReference(image), [], access());
    const { digest, bytes, contentType } = await repository.manifest(imageReference(image).tag!, signal);
    await signImage(repository, { name: image, digest, mediaType: contentType!, size: bytes.length }, key, new Date(NOW), signal);
    repository.close();
  }
  const push = (repository: string, tag: string, content: string, config: object = { User: '10001' }) =>
    registry.push(repository, tag, { layers: [[{ name: 'app', content }]], config: config as Record<string, unknown> });

  it('is found in both forms, each of which suffices, and stays that of the digest when the tag moves', async () => {
    push('acme/app', '1', 'first');
    const image = `${registry.host}/acme/app:1`;
    await sign(image, own);
    const asked = imageRegistry(access());
    const pinned = await asked.resolve(image, [], signal);
    const digest = pinned.split('@')[1];
    const candidates = await asked.candidates(pinned, [], signal);
    expect(candidates.map(({ form }) => form)).toEqual(['tag', 'bundle']);
    for (const candidate of candidates) expect(judgeSignatures(digest, [candidate], [keyOf(own)], NOW).good).toBe(true);

    push('acme/app', '1', 'evil');
    const moved = await asked.resolve(image, [], signal);
    expect(moved).not.toBe(pinned);
    expect(await asked.candidates(moved, [], signal)).toEqual([]);
    expect(await asked.candidates(pinned, [], signal)).toEqual(candidates);
  });

  it('is that of every signer, when several sign', async () => {
    push('acme/both', '1', 'both');
    const image = `${registry.host}/acme/both:1`;
    await sign(image, foreign);
    await sign(image, own);
    const asked = imageRegistry(access());
    const pinned = await asked.resolve(image, [], signal);
    const candidates = await asked.candidates(pinned, [], signal);
    expect(candidates).toHaveLength(4);
    expect(judgeSignatures(pinned.split('@')[1], candidates, [keyOf(own)], NOW).good).toBe(true);
  });

  it('is found beside what is broken, but not taken for absent when the registry cannot be asked', async () => {
    const { digest } = push('acme/broken', '1', 'broken');
    const image = `${registry.host}/acme/broken:1`;
    const bundle = 'application/vnd.dev.sigstore.bundle.v0.3+json';
    const missing = { mediaType: bundle, digest: OTHER, size: 2 };
    const referrer = { schemaVersion: 2, artifactType: bundle, subject: { digest }, layers: [missing] };
    registry.putManifest('acme/broken', 'x', 'application/vnd.oci.image.manifest.v1+json', referrer);
    await sign(image, own);
    const asked = imageRegistry({ ...access(), retries: { attempts: 1, initialMs: 1, maxMs: 1, longestWaitMs: 1 } });
    const pinned = await asked.resolve(image, [], signal);
    expect((await asked.candidates(pinned, [], signal)).map(({ form }) => form)).toEqual(['tag', 'bundle']);
    registry.intercept = (request, response) => {
      const isBlob = request.url!.includes('/blobs/');
      if (isBlob) response.writeHead(503).end();
      return isBlob;
    };
    await expect(asked.candidates(pinned, [], signal)).rejects.toThrow('the registry has a problem');
    registry.intercept = undefined;
  });

  it('names the user of every platform of an image', async () => {
    const entries = [
      ['amd64', '10001'],
      ['arm64', 'root'],
    ].map(([architecture, User]) => {
      const { digest } = push('acme/multi', architecture, architecture, { User });
      return { mediaType: 'application/vnd.oci.image.manifest.v1+json', digest, size: 1, platform: { os: 'linux', architecture } };
    });
    registry.putManifest('acme/multi', '1', 'application/vnd.oci.image.index.v1+json', { schemaVersion: 2, manifests: entries });
    const asked = imageRegistry(access());
    const pinned = await asked.resolve(`${registry.host}/acme/multi:1`, [], signal);
    expect(await asked.users(pinned, [], signal)).toEqual([
      { platform: 'linux/amd64', user: '10001' },
      { platform: 'linux/arm64', user: 'root' },
    ]);
  });
});
