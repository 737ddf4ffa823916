import { mkdirSync, renameSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { basename, join } from 'node:path';

/**
 * Folders that nobody needs any more, removed one after the other in the background. To free what a folder takes can keep a file system
 * busy for milliseconds, and for so long the folder above it is locked. That is why each is first moved to a place where nobody works:
 * those that come go to one of two, while the other is emptied.
 */
export class DiscardedFolders {
  readonly #place: string;
  readonly #remove: (path: string) => Promise<void>;
  #at: 0 | 1 = 0;
  #waiting: string[] = [];
  #removing: Promise<void> | undefined;

  /** @param place on the same file system as the folders; it is made when it is needed, and is ours alone */
  constructor(place: string, remove: (path: string) => Promise<void>) {
    this.#place = place;
    this.#remove = remove;
  }

  /** It is gone from its place when this returns. */
  discard(folder: string): void {
    this.#waiting.push(this.#moveAway(folder));
    this.#removing ??= Promise.resolve().then(() => this.#removeAll());
  }

  /** Removes what is left, also by a process before us. */
  async empty(): Promise<void> {
    await this.#removing;
    await rm(this.#place, { recursive: true, force: true });
  }

  /** @returns where it is then */
  #moveAway(folder: string): string {
    // By its own name: whoever puts a link in the place of ours can lead us to nothing but himself.
    const target = join(this.#place, String(this.#at), basename(folder));
    try {
      return moved(folder, target);
    } catch {
      // The place is not there yet; what cannot be moved even then is removed where it is.
    }
    try {
      mkdirSync(join(this.#place, String(this.#at)), { recursive: true, mode: 0o700 });
      return moved(folder, target);
    } catch {
      return folder;
    }
  }

  async #removeAll(): Promise<void> {
    while (this.#waiting.length > 0) {
      const folders = this.#waiting;
      this.#waiting = [];
      this.#at = this.#at === 0 ? 1 : 0;
      // What fails here is found by the next one that begins, or goes with the volume.
      for (const folder of folders) await this.#remove(folder).catch(() => {});
    }
    this.#removing = undefined;
  }
}

function moved(folder: string, target: string): string {
  renameSync(folder, target);
  return target;
}
