import { join } from 'node:path';
import { orAborted } from '../../../../lib/abort.ts';
import { chainIds } from '../../../../lib/oci/image-config.ts';
import { removeFolder, type ContentStore } from '../store/content-store.ts';
import { LayerError, type LayerLimits } from './layer-writer.ts';
import { createUnpacker } from './unpack-thread.ts';

export interface StackerOptions {
  store: ContentStore;
  limits: LayerLimits;
  keepOwners: boolean;
  /** Layers unpacked at the same time, each in a thread. */
  parallel: number;
}

/** Turns the layers of images into folders of the store. */
export class LayerStacker {
  readonly #options: StackerOptions;
  /** Layers that images under way count on: they must not be collected. */
  readonly #held = new Map<string, number>();
  readonly #waiting: (() => void)[] = [];
  #running = 0;

  constructor(options: StackerOptions) {
    this.#options = options;
  }

  isHeld(chainId: string): boolean {
    return this.#held.has(chainId);
  }

  /**
   * @param blobs how to get each layer's archive, the lowest first; asked for only when the layer is missing
   * @param scratch a folder for what is not finished
   * @throws LayerError, or what a blob could not be got for
   */
  async stack(diffIds: readonly string[], blobs: readonly (() => Promise<string>)[], scratch: string, signal: AbortSignal): Promise<void> {
    const chain = chainIds(diffIds);
    for (const id of chain) this.#held.set(id, (this.#held.get(id) ?? 0) + 1);
    const unpacker = createUnpacker();
    const { store, keepOwners } = this.#options;
    const target = join(scratch, 'layer');
    let left = this.#options.limits;
    try {
      for (const [index, chainId] of chain.entries()) {
        if (!store.hasLayers([chainId])) {
          const blob = await orAborted(blobs[index](), signal);
          const lower = chain.slice(0, index).map((id) => store.layerPath(id));
          const job = { blob, target, lower, diffId: diffIds[index], limits: left, keepOwners };
          const unpacked = await this.#inTurn(() => orAborted(unpacker.unpack(job), signal));
          await store.addLayer(chainId, target, { diffId: diffIds[index], bytes: unpacked.bytes });
          // When somebody else was faster the folder is still here.
          await removeFolder(target);
        }
        const { bytes = 0 } = (await store.layer(chainId)) ?? {};
        left = { ...left, bytes: left.bytes - bytes };
      }
      if (!store.hasLayers(chain)) throw new LayerError('a layer was removed by somebody while the image was pulled; try again');
    } finally {
      // The thread may be in the middle of a file: only when it is gone can its folder be removed.
      await unpacker.close();
      for (const id of chain) this.#letGo(id);
    }
  }

  #letGo(chainId: string): void {
    const holders = this.#held.get(chainId)! - 1;
    if (holders === 0) this.#held.delete(chainId);
    else this.#held.set(chainId, holders);
  }

  /** Only the work itself is counted, never the waiting for a registry: one that hangs holds up nobody else. */
  async #inTurn<T>(work: () => Promise<T>): Promise<T> {
    if (this.#running >= this.#options.parallel) await new Promise<void>((resolve) => void this.#waiting.push(resolve));
    else this.#running++;
    try {
      return await work();
    } finally {
      const next = this.#waiting.shift();
      if (next === undefined) this.#running--;
      else next();
    }
  }
}
