import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';

/** Values as they are on disk and in backups, for the keys that must not be readable there. In memory they stay plain. */
export interface Sealer {
  seal(key: string, bytes: Uint8Array): Uint8Array;
  /** @throws SealError */
  open(key: string, sealed: Uint8Array): Buffer;
}

export interface SealingKey {
  /** Stored beside every value, so that the right key is found when there are several. */
  id: string;
  /** 32 bytes. */
  secret: Uint8Array;
}

export class SealError extends Error {
  constructor(message: string, options?: { cause?: unknown }) {
    super(message, options);
    this.name = 'SealError';
  }
}

const FORMAT = 1;
const NONCE_BYTES = 12;
const TAG_BYTES = 16;

/**
 * AES-256-GCM with a random nonce per value. The path of the key is authenticated, so that a value moved to another key does
 * not open. The first of `keys` seals and all of them open: to rotate, put a new one in front; the next snapshot has
 * everything sealed with it. Layout: format u8 · id length u8 · id · nonce · ciphertext · tag.
 */
export function createSealer(keys: readonly SealingKey[], random: (size: number) => Buffer = randomBytes): Sealer {
  if (keys.length === 0) throw new SealError('Cannot seal values: no key was given; give at least one');
  for (const { id, secret } of keys) {
    if (secret.length !== 32) throw new SealError(`Cannot use sealing key "${id}": it has ${secret.length} bytes; give 32`);
    if (id === '' || Buffer.byteLength(id) > 255) throw new SealError(`Cannot use sealing key "${id}": its id must have 1 to 255 bytes`);
  }
  const [{ id, secret }] = keys;
  const prefix = Buffer.from([FORMAT, Buffer.byteLength(id), ...Buffer.from(id)]);
  const secrets = new Map(keys.map((each) => [each.id, each.secret]));
  return {
    seal(key, bytes) {
      const nonce = random(NONCE_BYTES);
      const cipher = createCipheriv('aes-256-gcm', secret, nonce);
      cipher.setAAD(Buffer.from(key));
      return Buffer.concat([prefix, nonce, cipher.update(bytes), cipher.final(), cipher.getAuthTag()]);
    },
    open: (key, sealed) => openSealed(secrets, key, sealed),
  };
}

function openSealed(secrets: ReadonlyMap<string, Uint8Array>, key: string, sealed: Uint8Array): Buffer {
  const bytes = Buffer.from(sealed.buffer, sealed.byteOffset, sealed.length);
  const nonceStart = 2 + (bytes[1] ?? 0);
  const start = nonceStart + NONCE_BYTES;
  if (bytes[0] !== FORMAT || bytes.length < start + TAG_BYTES) {
    throw new SealError(`Cannot open the value of "${key}": it is not a sealed value this release knows`);
  }
  const id = bytes.toString('utf8', 2, nonceStart);
  const secret = secrets.get(id);
  if (!secret) throw new SealError(`Cannot open the value of "${key}": it was sealed with key "${id}", which was not given; give it too`);
  const decipher = createDecipheriv('aes-256-gcm', secret, bytes.subarray(nonceStart, start));
  decipher.setAAD(Buffer.from(key));
  decipher.setAuthTag(bytes.subarray(bytes.length - TAG_BYTES));
  try {
    return Buffer.concat([decipher.update(bytes.subarray(start, bytes.length - TAG_BYTES)), decipher.final()]);
  } catch (error) {
    throw new SealError(`Cannot open the value of "${key}": it was changed, moved, or sealed with another key named "${id}"`, {
      cause: error,
    });
  }
}
