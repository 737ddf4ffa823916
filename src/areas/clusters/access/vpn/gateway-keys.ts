import { generateKeyPairSync, createPrivateKey, createPublicKey } from 'node:crypto';
import { mkdir } from 'node:fs/promises';
import { dirname } from 'node:path';
import { readIfPresent, replaceFile } from '../../../../lib/pki/private-file.ts';

/** Both in base64, as WireGuard writes them. */
export interface GatewayKeys {
  privateKey: string;
  publicKey: string;
}

/** The keys of a gateway, for its life. The private one is in a file of the platform's and nowhere else. */
export async function gatewayKeys(path: string): Promise<GatewayKeys> {
  const text = (await readIfPresent(path))?.trim();
  if (text !== undefined) return { privateKey: text, publicKey: publicKeyOf(text) };
  const { d, x } = generateKeyPairSync('x25519').privateKey.export({ format: 'jwk' });
  const [privateKey, publicKey] = [d!, x!].map((part) => Buffer.from(part, 'base64url').toString('base64'));
  await mkdir(dirname(path), { recursive: true, mode: 0o700 });
  await replaceFile(path, `${privateKey}\n`, 0o600);
  return { privateKey, publicKey };
}

/** What goes before the 32 bytes of an X25519 key in PKCS #8. */
const PREFIX = Buffer.from('302e020100300506032b656e04220420', 'hex');

function publicKeyOf(privateKey: string): string {
  const der = Buffer.concat([PREFIX, Buffer.from(privateKey, 'base64')]);
  const { x } = createPublicKey(createPrivateKey({ key: der, format: 'der', type: 'pkcs8' })).export({ format: 'jwk' });
  return Buffer.from(x!, 'base64url').toString('base64');
}
