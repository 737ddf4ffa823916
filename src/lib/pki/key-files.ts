import { createPrivateKey, createPublicKey, generateKeyPairSync, randomBytes, X509Certificate, type KeyObject } from 'node:crypto';
import { join } from 'node:path';
import type { Authority } from './certificate.ts';
import { parsePem } from './pem.ts';
import { readIfPresent, replaceFile, syncDirectoryOf } from './private-file.ts';

export interface KeyPair {
  privateKey: KeyObject;
  publicKey: KeyObject;
}

/** A certificate with its key, in the forms that TLS (PEM) and signing (objects) want. */
export interface CertificateFile extends Authority {
  certificatePem: string;
  keyPem: string;
}

const PRIVATE = 0o600;
const PUBLIC = 0o644;

export function generateKeys(): KeyPair {
  return generateKeyPairSync('ec', { namedCurve: 'prime256v1' });
}

/** Reads and writes `<name>.key` and `<name>.crt` in one directory; remembers whether anything was written. */
export class KeyFiles {
  readonly #directory: string;
  #written = false;

  constructor(directory: string) {
    this.#directory = directory;
  }

  path(file: string): string {
    return join(this.#directory, file);
  }

  async read(name: string): Promise<{ certificatePem?: string; keyPem?: string }> {
    const [certificatePem, keyPem] = await Promise.all([readIfPresent(this.path(`${name}.crt`)), readIfPresent(this.path(`${name}.key`))]);
    return { certificatePem, keyPem };
  }

  /** The key is written first: a certificate on disk always has its key beside it. */
  async writePair(name: string, certificatePem: string, key: KeyObject): Promise<CertificateFile> {
    const keyPem = key.export({ type: 'pkcs8', format: 'pem' }) as string;
    await this.#write(`${name}.key`, keyPem, PRIVATE);
    await this.#write(`${name}.crt`, certificatePem, PUBLIC);
    return { certificatePem, keyPem, certificate: new X509Certificate(certificatePem), key };
  }

  /** The key for signing ServiceAccount tokens. */
  async signingKey(name: string): Promise<KeyPair> {
    const present = await readIfPresent(this.path(`${name}.key`));
    if (present !== undefined) {
      const privateKey = createPrivateKey(present);
      return { privateKey, publicKey: createPublicKey(privateKey) };
    }
    const keys = generateKeys();
    await this.#write(`${name}.key`, keys.privateKey.export({ type: 'pkcs8', format: 'pem' }) as string, PRIVATE);
    await this.#write(`${name}.pub`, keys.publicKey.export({ type: 'spki', format: 'pem' }) as string, PUBLIC);
    return keys;
  }

  /** Public keys after the first in `<name>.pub`: those that signed before. */
  async formerKeys(name: string): Promise<KeyObject[]> {
    return parsePem((await readIfPresent(this.path(`${name}.pub`))) ?? '')
      .slice(1)
      .map(({ der }) => createPublicKey({ key: der, format: 'der', type: 'spki' }));
  }

  /** Keys of 32 bytes by id; the first one encrypts, all of them decrypt. One per line: `<id> <base64>`. */
  async encryptionKeys(name: string): Promise<EncryptionKey[]> {
    const path = this.path(`${name}.key`);
    const present = await readIfPresent(path);
    if (present !== undefined) return parseEncryptionKeys(present, path);
    const id = randomBytes(4).toString('hex');
    const key = randomBytes(32);
    await this.#write(`${name}.key`, `${id} ${key.toString('base64')}\n`, PRIVATE);
    return [{ id, key }];
  }

  async flush(): Promise<void> {
    if (this.#written) await syncDirectoryOf(this.path('x'));
    this.#written = false;
  }

  async #write(file: string, text: string, mode: number): Promise<void> {
    await replaceFile(this.path(file), text, mode);
    this.#written = true;
  }
}

export interface EncryptionKey {
  id: string;
  key: Buffer;
}

function parseEncryptionKeys(text: string, path: string): EncryptionKey[] {
  const keys = text
    .split('\n')
    .filter((line) => line.trim() !== '')
    .map((line) => {
      const [id, base64] = line.trim().split(/\s+/);
      return { id, key: Buffer.from(base64 ?? '', 'base64') };
    });
  if (keys.length === 0 || keys.some(({ key }) => key.length !== 32)) {
    throw new Error(
      `Cannot use encryption keys in "${path}": each line must be "<id> <32 bytes as base64>"; restore the file from a backup`,
    );
  }
  return keys;
}
