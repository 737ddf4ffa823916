import { createHash, createPrivateKey, createPublicKey, sign, verify, type KeyObject } from 'node:crypto';

/** A public key that signatures are checked with. */
export interface VerifyingKey {
  /** SHA-256 of the key (SPKI, DER), in hex. */
  fingerprint: string;
  verify(data: Buffer, signature: Buffer): boolean;
}

const MIN_RSA_BITS = 2048;
/** As Go's sigstore libraries choose them by the key: a signature does not say what it was made with. */
const CURVE_HASHES: Record<string, string> = { prime256v1: 'sha256', secp384r1: 'sha384', secp521r1: 'sha512' };

/** @throws Error that says what kind of key is needed */
export function readPublicKey(pem: string): VerifyingKey {
  if (!/^\s*-----BEGIN (RSA )?PUBLIC KEY-----/.test(pem)) {
    throw new Error('it is no public key in PEM form (`-----BEGIN PUBLIC KEY-----`)');
  }
  const key = readKey(() => createPublicKey(pem));
  const hash = hashOf(key);
  return {
    fingerprint: fingerprintOf(key),
    verify(data, signature) {
      try {
        return verify(hash, data, key, signature);
      } catch {
        // Bytes that are no signature at all.
        return false;
      }
    },
  };
}

export interface SigningKey {
  fingerprint: string;
  /** PEM, as a Publisher has it. */
  publicKey: string;
  /** Base64 of SHA-256 of the key: how a bundle names it. */
  hint: string;
  sign(data: Buffer): Buffer;
}

/** @throws Error that says what kind of key is needed, and how to get one */
export function readSigningKey(pem: string): SigningKey {
  if (/ENCRYPTED (SIGSTORE|COSIGN) PRIVATE KEY/.test(pem)) {
    throw new Error(
      'it is encrypted in cosign’s own form; sign with `cosign sign --key`, which is accepted as well, or make a key with `tenantry plugin sign --generate-key`',
    );
  }
  if (/ENCRYPTED PRIVATE KEY|Proc-Type: 4,ENCRYPTED/.test(pem)) {
    throw new Error('it is encrypted; decrypt it with `openssl pkey -in <file> -out <new file>`');
  }
  const key = readKey(() => createPrivateKey(pem));
  const hash = hashOf(key);
  const publicKey = createPublicKey(key);
  const fingerprint = fingerprintOf(publicKey);
  return {
    fingerprint,
    publicKey: publicKey.export({ type: 'spki', format: 'pem' }).toString(),
    hint: Buffer.from(fingerprint, 'hex').toString('base64'),
    sign: (data) => sign(hash, data, key),
  };
}

function readKey(read: () => KeyObject): KeyObject {
  try {
    return read();
  } catch {
    // Without the parser's own words: it may quote a private key.
    throw new Error('it is damaged: nothing in PEM form can be read from it');
  }
}

/** Undefined for kinds of keys that hash by themselves. */
function hashOf(key: KeyObject): string | undefined {
  const { asymmetricKeyType: type, asymmetricKeyDetails: details } = key;
  if (type === 'ed25519') return undefined;
  if (type === 'rsa' && (details?.modulusLength ?? 0) >= MIN_RSA_BITS) return 'sha256';
  const hash = type === 'ec' ? CURVE_HASHES[details?.namedCurve ?? ''] : undefined;
  if (hash !== undefined) return hash;
  throw new Error(`it is a key of the kind ${type} that is not accepted; use ECDSA P-256, P-384 or P-521, Ed25519, or RSA from 2048 bits`);
}

function fingerprintOf(key: KeyObject): string {
  return createHash('sha256')
    .update(key.export({ type: 'spki', format: 'der' }))
    .digest('hex');
}
