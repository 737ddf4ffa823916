import { createHash, randomBytes } from 'node:crypto';
import { createReadStream, type ReadStream } from 'node:fs';
import { mkdir, open, readdir, rename, rm, stat, utimes, type FileHandle } from 'node:fs/promises';
import { join } from 'node:path';

/** Blobs on disk by their digest. What was asked for least recently goes when there is no room left. */
export class BlobCache {
  readonly #folder: string;
  readonly #maxBytes: number;
  /** Of blobs that are on their way. */
  #comingBytes = 0;
  readonly #coming = new Set<string>();

  constructor(folder: string, maxBytes: number) {
    this.#folder = folder;
    this.#maxBytes = maxBytes;
  }

  /** Leaves of a crash are gone after it. */
  async open(): Promise<void> {
    await mkdir(this.#folder, { recursive: true, mode: 0o700 });
    for (const name of await readdir(this.#folder)) if (name.endsWith('.part')) await rm(join(this.#folder, name), { force: true });
  }

  async read(digest: string, now: Date): Promise<{ size: number; stream: ReadStream } | undefined> {
    const path = this.#path(digest);
    try {
      const { size } = await stat(path);
      await utimes(path, now, now);
      return { size, stream: createReadStream(path) };
    } catch {
      return undefined;
    }
  }

  /**
   * Keeps what passes, and hands it on as it comes. What is not what its digest says is not kept, and the reader is told. What many ask for at once is kept
   * once, and what there is no room for not at all: it passes all the same.
   */
  async *keep(digest: string, chunks: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
    const part = join(this.#folder, `${randomBytes(8).toString('hex')}.part`);
    const isFirst = !this.#coming.has(digest);
    this.#coming.add(digest);
    let file: FileHandle | undefined;
    let written = 0;
    const hash = createHash('sha256');
    try {
      if (isFirst) file = await open(part, 'wx', 0o600).catch(() => undefined);
      for await (const chunk of chunks) {
        hash.update(chunk);
        if (file !== undefined && !(await this.#append(file, chunk))) {
          await file.close();
          file = undefined;
        }
        if (file !== undefined) written += chunk.length;
        yield chunk;
      }
      if (`sha256:${hash.digest('hex')}` !== digest) throw new Error(`the registry sent something else than ${digest}`);
      if (file === undefined) return;
      await rename(part, this.#path(digest));
      await this.#makeRoom();
    } finally {
      this.#comingBytes -= written;
      if (isFirst) this.#coming.delete(digest);
      await file?.close();
      await rm(part, { force: true });
    }
  }

  /** @returns whether it is kept: neither a full disk nor too much at once keeps a worker from its image */
  async #append(file: FileHandle, chunk: Buffer): Promise<boolean> {
    if (this.#comingBytes + chunk.length > this.#maxBytes) return false;
    this.#comingBytes += chunk.length;
    try {
      await file.appendFile(chunk);
      return true;
    } catch {
      this.#comingBytes -= chunk.length;
      return false;
    }
  }

  async #makeRoom(): Promise<void> {
    const names = (await readdir(this.#folder)).filter((name) => !name.endsWith('.part'));
    const files = await Promise.all(
      names.map(async (name) => ({ name, facts: await stat(join(this.#folder, name)).catch(() => undefined) })),
    );
    const present = files.flatMap(({ name, facts }) => (facts ? [{ name, size: facts.size, used: facts.mtimeMs }] : []));
    let total = present.reduce((sum, { size }) => sum + size, 0);
    for (const { name, size } of present.toSorted((a, b) => a.used - b.used)) {
      if (total <= this.#maxBytes) return;
      await rm(join(this.#folder, name), { force: true });
      total -= size;
    }
  }

  #path(digest: string): string {
    return join(this.#folder, digest.slice('sha256:'.length));
  }
}
