import type { Sealing } from '../engine/store/log/stored-values.ts';
import { createSealer } from '../engine/store/sealer.ts';
import type { EncryptionKey } from '../lib/pki/key-files.ts';

/** What of a store is encrypted, and with which keys. */
export function sealingWith(keys: readonly EncryptionKey[]): Sealing {
  return { prefixes: ['core/secrets/'], sealer: createSealer(keys.map(({ id, key }) => ({ id, secret: key }))) };
}
