import { SealError, type Sealer } from '../sealer.ts';
import { StoreError } from '../store.ts';

/** Which keys' values are sealed on disk, and by what. */
export interface Sealing {
  /** Everything under these prefixes. */
  prefixes: readonly string[];
  sealer: Sealer;
}

const LONGEST_KEY = 0xffff;

/** Values on their way to the disk and back. */
export class StoredValues {
  readonly #sealing: Sealing | undefined;

  constructor(sealing: Sealing | undefined) {
    this.#sealing = sealing;
  }

  /** The form to store: `bytes` themselves unless the key is to be sealed. @throws StoreError when the key cannot be stored. */
  toStored(key: string, bytes: Uint8Array): Uint8Array {
    const keyBytes = Buffer.byteLength(key);
    if (keyBytes > LONGEST_KEY) {
      throw new StoreError('WriteFailed', `Cannot write "${key.slice(0, 64)}…": its key has ${keyBytes} bytes; use at most ${LONGEST_KEY}`);
    }
    // Half of a surrogate pair has no UTF-8 form: it would come back from the disk as another key.
    if (keyBytes !== key.length && Buffer.from(key).toString() !== key) {
      throw new StoreError('WriteFailed', `Cannot write ${JSON.stringify(key)}: its key is not well-formed Unicode; use another`);
    }
    if (!this.#sealing?.prefixes.some((prefix) => key.startsWith(prefix))) return bytes;
    return this.#sealing.sealer.seal(key, bytes);
  }

  /** The value in `from[start..end)`, where it stays unless it is sealed. @throws StoreError when it is sealed and does not open. */
  fromStored(key: string, sealed: boolean, from: Buffer, start: number, end: number): Uint8Array {
    if (!sealed) return from.subarray(start, end);
    if (!this.#sealing) {
      throw new StoreError(
        'Corrupt',
        `Cannot open the value of "${key}": it is sealed and no key was given; give the keys it was sealed with`,
      );
    }
    try {
      return this.#sealing.sealer.open(key, from.subarray(start, end));
    } catch (error) {
      if (!(error instanceof SealError)) throw error;
      throw new StoreError('Corrupt', error.message, { cause: error });
    }
  }
}
