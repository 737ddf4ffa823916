import { createHash, randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, open, readdir, readFile, rename, rm, stat, utimes } from 'node:fs/promises';
import { join } from 'node:path';
import type { ImageRecord, LayerRecord } from './image-record.ts';
import { ownerName, ownerLives } from './scratch-owner.ts';

/**
 * The images on disk. Several processes may use one at the same time: everything is made in a scratch folder and appears by one rename,
 * is never changed afterwards, and goes away by one rename. Whoever reads takes what is missing as not pulled.
 *
 *     images/<digest>.json    what an image is; the file's time is its last use
 *     names/<hash>.json       a name and its digest
 *     layers/<chain id>       the files of a layer; <chain id>.json beside it says how much it is
 *     scratch/<owner>         being written, or being removed
 */
export class ContentStore {
  readonly #dir: string;

  constructor(dir: string) {
    this.#dir = dir;
  }

  async open(): Promise<void> {
    // Layers hold other people's setuid programs: nobody else on this machine may reach them.
    for (const part of ['images', 'names', 'layers', 'scratch']) await mkdir(join(this.#dir, part), { recursive: true, mode: 0o700 });
  }

  async scratch(): Promise<string> {
    const folder = join(this.#dir, 'scratch', `${await ownerName()}-${randomBytes(6).toString('hex')}`);
    await mkdir(folder, { mode: 0o700 });
    return folder;
  }

  layerPath(chainId: string): string {
    return join(this.#dir, 'layers', hexOf(chainId));
  }

  hasLayers(chainIds: readonly string[]): boolean {
    return chainIds.every((id) => existsSync(this.layerPath(id)));
  }

  /** @param folder in a scratch folder; moved */
  async addLayer(chainId: string, folder: string, record: LayerRecord): Promise<void> {
    await this.#write(`${this.layerPath(chainId)}.json`, record);
    await rename(folder, this.layerPath(chainId)).catch((error: NodeJS.ErrnoException) => {
      // Somebody else had the same at the same time.
      if (error.code !== 'ENOTEMPTY' && error.code !== 'EEXIST') throw error;
    });
  }

  async layer(chainId: string): Promise<LayerRecord | undefined> {
    return this.#read<LayerRecord>(`${this.layerPath(chainId)}.json`);
  }

  async removeLayer(chainId: string): Promise<void> {
    await this.#discard(this.layerPath(chainId));
    await rm(`${this.layerPath(chainId)}.json`, { force: true });
  }

  /** Chain ids of everything in the layers folder, with the time it came. */
  async layers(): Promise<{ chainId: string; since: number }[]> {
    const folder = join(this.#dir, 'layers');
    const found: { chainId: string; since: number }[] = [];
    for (const name of await readdir(folder)) {
      if (!/^[0-9a-f]{64}$/.test(name)) continue;
      const stats = await stat(join(folder, name)).catch(() => undefined);
      if (stats !== undefined) found.push({ chainId: `sha256:${name}`, since: stats.ctimeMs });
    }
    return found;
  }

  async image(digest: string): Promise<ImageRecord | undefined> {
    return this.#read<ImageRecord>(this.#imagePath(digest));
  }

  async putImage(record: ImageRecord): Promise<void> {
    await this.#write(this.#imagePath(record.digest), record);
  }

  async removeImage(digest: string): Promise<void> {
    await rm(this.#imagePath(digest), { force: true });
  }

  /** Notes that it is in use, for the order of collection. */
  async touch(digest: string, now: number): Promise<void> {
    await utimes(this.#imagePath(digest), now / 1000, now / 1000).catch(() => {});
  }

  async images(): Promise<{ record: ImageRecord; lastUsed: number }[]> {
    const folder = join(this.#dir, 'images');
    const found: { record: ImageRecord; lastUsed: number }[] = [];
    for (const name of await readdir(folder)) {
      const stats = await stat(join(folder, name)).catch(() => undefined);
      const record = await this.#read<ImageRecord>(join(folder, name));
      if (stats !== undefined && record !== undefined) found.push({ record, lastUsed: stats.mtimeMs });
    }
    return found;
  }

  async resolve(name: string): Promise<string | undefined> {
    return (await this.#read<NameRecord>(this.#namePath(name)))?.digest;
  }

  async putName(name: string, digest: string): Promise<void> {
    await this.#write(this.#namePath(name), { name, digest });
  }

  async removeName(name: string): Promise<void> {
    await rm(this.#namePath(name), { force: true });
  }

  async names(): Promise<NameRecord[]> {
    const folder = join(this.#dir, 'names');
    const records = await Promise.all((await readdir(folder)).map((name) => this.#read<NameRecord>(join(folder, name))));
    return records.filter((record) => record !== undefined);
  }

  /** Removes what processes that are gone were making. */
  async removeAbandoned(): Promise<void> {
    const folder = join(this.#dir, 'scratch');
    for (const name of await readdir(folder)) {
      if (!(await ownerLives(name))) await removeFolder(join(folder, name));
    }
  }

  #imagePath(digest: string): string {
    return join(this.#dir, 'images', `${hexOf(digest)}.json`);
  }

  #namePath(name: string): string {
    // A name may be longer than a file name, and has slashes in it.
    return join(this.#dir, 'names', `${createHash('sha256').update(name).digest('hex')}.json`);
  }

  async #discard(path: string): Promise<void> {
    const folder = await this.scratch();
    try {
      await rename(path, join(folder, 'gone'));
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
    }
    await removeFolder(folder);
  }

  async #write(path: string, value: unknown): Promise<void> {
    const folder = await this.scratch();
    try {
      const file = await open(join(folder, 'new'), 'wx', 0o600);
      try {
        await file.writeFile(JSON.stringify(value));
        // A rename that survives a power cut before its content would leave an empty file.
        await file.datasync();
      } finally {
        await file.close();
      }
      await rename(join(folder, 'new'), path);
    } finally {
      await removeFolder(folder);
    }
  }

  async #read<T>(path: string): Promise<T | undefined> {
    try {
      return JSON.parse(await readFile(path, 'utf8')) as T;
    } catch (error) {
      // What cannot be read is as good as absent: it is pulled again.
      if ((error as NodeJS.ErrnoException).code === 'ENOENT' || error instanceof SyntaxError) return undefined;
      throw error;
    }
  }
}

export interface NameRecord {
  name: string;
  digest: string;
}

export async function removeFolder(path: string): Promise<void> {
  await rm(path, { recursive: true, force: true, maxRetries: 2 });
}

function hexOf(digest: string): string {
  return digest.slice(digest.indexOf(':') + 1);
}
