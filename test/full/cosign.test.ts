import { generateKeyPairSync } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { imageRegistry } from '../../src/areas/plugins/verification/image-evidence.ts';
import { judgeSignatures } from '../../src/areas/plugins/verification/judge-signatures.ts';
import { signImage } from '../../src/lib/cosign/sign-image.ts';
import { readSigningKey } from '../../src/lib/cosign/signing-keys.ts';
import { realClock } from '../../src/lib/clock.ts';
import { NO_PROXY } from '../../src/lib/oci/proxy-settings.ts';
import { imageReference, Repository } from '../../src/lib/oci/repository.ts';
import { type } from '../e2e/command.ts';
import { startTestRegistry, type TestRegistry } from '../support/oci-registry.ts';
import { cosignBinary } from './cosign-binary.ts';

const LEGACY = ['--new-bundle-format=false', '--use-signing-config=false', '--tlog-upload=false'];

describe('the real cosign', () => {
  let program: string;
  let registry: TestRegistry;
  const folder = mkdtempSync(join(tmpdir(), 'tenantry-cosign-'));
  const { signal } = new AbortController();
  const file = (name: string) => join(folder, name);

  async function cosign(...args: string[]): Promise<string> {
    const { code, stdout, stderr } = await type(program, args, { COSIGN_PASSWORD: 'secret', HOME: folder });
    if (code !== 0) throw new Error(`cosign ${args.join(' ')} ended with ${code}: ${stderr}`);
    return stdout;
  }
  const access = () => ({
    clock: realClock,
    proxy: NO_PROXY,
    registries: { registries: { [registry.host]: { mirrors: [], insecure: true } } },
  });
  const push = (name: string): string => {
    const { digest } = registry.push(name, '1', { layers: [[{ name: 'app', content: name }]], config: { User: '10001' } });
    return `${registry.host}/${name}@${digest}`;
  };
  const verdictOf = async (image: string) => {
    const candidates = await imageRegistry(access()).candidates(image, [], signal);
    const keys = [{ id: 'main', publicKey: readFileSync(file('cosign.pub'), 'utf8') }];
    return judgeSignatures(image.split('@')[1], candidates, keys, realClock.now());
  };

  beforeAll(async () => {
    [program, registry] = await Promise.all([cosignBinary(), startTestRegistry()]);
    await cosign('generate-key-pair', '--output-key-prefix', file('cosign'));
    writeFileSync(
      file('signing-config.json'),
      JSON.stringify({ mediaType: 'application/vnd.dev.sigstore.signingconfig.v0.2+json', rekorTlogConfig: {}, tsaConfig: {} }),
    );
  });
  afterAll(async () => {
    await registry?.close();
    rmSync(folder, { recursive: true, force: true });
  });

  it.each([
    ['tag', LEGACY],
    ['bundle', ['--signing-config']],
  ])('signs an image as we verify it: by %s', async (form, flags) => {
    const image = push(`acme/by-${form}`);
    const all = flags[0] === '--signing-config' ? ['--signing-config', file('signing-config.json')] : flags;
    await cosign('sign', '--yes', '--key', file('cosign.key'), '--allow-http-registry', ...all, image);
    expect(await verdictOf(image)).toMatchObject({ good: true, form });
  });

  it('attests an SBOM, which we do not take for a signature', async () => {
    const image = push('acme/attested');
    writeFileSync(file('sbom.json'), '{"spdxVersion":"SPDX-2.3"}');
    const flags = ['--signing-config', file('signing-config.json'), '--predicate', file('sbom.json'), '--type', 'spdxjson'];
    await cosign('attest', '--yes', '--key', file('cosign.key'), '--allow-http-registry', ...flags, image);
    expect(await verdictOf(image)).toMatchObject({
      good: false,
      reason: 'SignatureInvalid',
      message: expect.stringContaining('an attestation'),
    });
  });

  it.each([
    ['tag', '--new-bundle-format=false'],
    ['bundle', '--new-bundle-format=true'],
  ])('verifies what we sign: by %s', async (form, flag) => {
    const image = push(`acme/ours-${form}`);
    const key = readSigningKey(
      generateKeyPairSync('ec', { namedCurve: 'prime256v1' }).privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
    );
    writeFileSync(file('ours.pub'), key.publicKey);
    const repository = new Repository(imageReference(image), [], access());
    const digest = image.split('@')[1];
    const { bytes, contentType } = await repository.manifest(digest, signal);
    await signImage(
      repository,
      { name: image.split('@')[0], digest, mediaType: contentType!, size: bytes.length },
      key,
      new Date(),
      signal,
    );
    repository.close();
    const said = await cosign('verify', '--key', file('ours.pub'), '--insecure-ignore-tlog', '--allow-http-registry', flag, image);
    expect(said).toContain(digest);
    await expect(
      cosign('verify', '--key', file('cosign.pub'), '--insecure-ignore-tlog', '--allow-http-registry', flag, image),
    ).rejects.toThrow();
  });
});
