import { generateKeyPairSync } from 'node:crypto';
import { readFile, writeFile } from 'node:fs/promises';
import { stringify } from 'yaml';
import { signImage } from '../../lib/cosign/sign-image.ts';
import { readSigningKey, type SigningKey } from '../../lib/cosign/signing-keys.ts';
import type { RegistryCredential } from '../../lib/oci/credentials.ts';
import { MANIFEST_TYPES } from '../../lib/oci/manifest.ts';
import { repositoryName } from '../../lib/oci/reference.ts';
import { RegistryError } from '../../lib/oci/registry-error.ts';
import { imageReference, Repository, type RegistryAccess } from '../../lib/oci/repository.ts';
import { readGoodPlugin, type Terminal } from './lint.ts';

export interface SignPorts extends Terminal {
  /** How to reach a registry. */
  accessTo(registry: string): RegistryAccess;
  credentials: RegistryCredential[];
  signal: AbortSignal;
}

/** Signs the image of a plugin, in both forms that are looked for, with a key in PEM form. @returns the exit code */
export async function sign(
  ports: SignPorts,
  path: string,
  { key: file, generateKey }: { key: string; generateKey?: boolean },
): Promise<number> {
  const { manifest } = await readGoodPlugin(path, `sign "${path}"`);
  const key = generateKey ? await newKey(file) : await existingKey(file);
  const { image } = manifest.spec.runtime;
  const reference = imageReference(image);
  const access = ports.accessTo(reference.registry);
  const repository = new Repository(reference, ports.credentials, access);
  const name = repositoryName(reference);
  try {
    const found = await repository.manifest(reference.digest ?? reference.tag!, ports.signal);
    const { mediaType = '' } = JSON.parse(found.bytes.toString('utf8')) as { mediaType?: string };
    const type = MANIFEST_TYPES.includes(mediaType) ? mediaType : (found.contentType ?? '');
    const now = new Date(access.clock.now());
    await signImage(repository, { name, digest: found.digest, mediaType: type, size: found.bytes.length }, key, now, ports.signal);
    ports.err(`signed ${name}@${found.digest}\n`);
  } catch (error) {
    if (error instanceof RegistryError) throw new Error(`Cannot sign "${image}": ${error.message}`, { cause: error });
    throw error;
  } finally {
    repository.close();
  }
  if (generateKey) {
    ports.err(`the key is ${file}: keep it secret; its public half is ${file}.pub. The platform knows you by this Publisher:\n`);
    ports.out(publisherOf(manifest.metadata.publisher, key));
  }
  return 0;
}

async function newKey(file: string): Promise<SigningKey> {
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'prime256v1' });
  const pem = privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();
  const key = readSigningKey(pem);
  try {
    await writeFile(file, pem, { mode: 0o600, flag: 'wx' });
    await writeFile(`${file}.pub`, key.publicKey, { flag: 'wx' });
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code !== 'EEXIST') throw cause;
    throw new Error(`Cannot make the key "${file}": there is a file of that name; leave --generate-key out to use it`, { cause });
  }
  return key;
}

async function existingKey(file: string): Promise<SigningKey> {
  let pem: string;
  try {
    pem = await readFile(file, 'utf8');
  } catch (cause) {
    throw new Error(`Cannot read the key "${file}": there is no such file; --generate-key makes one`, { cause });
  }
  try {
    return readSigningKey(pem);
  } catch (cause) {
    throw new Error(`Cannot use the key "${file}": ${(cause as Error).message}`, { cause });
  }
}

function publisherOf(name: string, key: SigningKey): string {
  const keys = [{ id: key.fingerprint.slice(0, 12), publicKey: key.publicKey }];
  return stringify({ apiVersion: 'plugins.tenantry.dev/v1alpha1', kind: 'Publisher', metadata: { name }, spec: { keys } });
}
