import { mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { Rounds } from '../rounds.ts';
import type { AddressPoolState } from './address-pool.ts';

export interface NetworkState extends AddressPoolState {
  podCidr: string;
}

/**
 * The addresses on disk. Replaced as a whole by a rename; without a sync, because a power cut takes the namespaces along, and the kernel
 * keeps what a crash of this process leaves behind.
 */
export class AddressFile {
  #path: string;
  #state: () => NetworkState;
  #rounds = new Rounds(() => this.#replace());

  constructor(folder: string, state: () => NetworkState) {
    this.#path = join(folder, 'addresses.json');
    this.#state = state;
  }

  /** A file that is missing or damaged is an empty one: what it held can be read from the kernel. */
  static async read(folder: string): Promise<Partial<NetworkState>> {
    try {
      const state: unknown = JSON.parse(await readFile(join(folder, 'addresses.json'), 'utf8'));
      return typeof state === 'object' && state !== null ? state : {};
    } catch {
      return {};
    }
  }

  /** Resolves when the state of now is in place. */
  write(): Promise<void> {
    return this.#rounds.request();
  }

  async #replace(): Promise<void> {
    await mkdir(dirname(this.#path), { recursive: true, mode: 0o700 });
    await writeFile(`${this.#path}.new`, JSON.stringify(this.#state()), { mode: 0o600 });
    await rename(`${this.#path}.new`, this.#path);
  }
}
