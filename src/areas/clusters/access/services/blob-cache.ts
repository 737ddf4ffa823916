import { createHash, randomBytes } from 'node:crypto';
import { createReadStream, createWriteStream, type ReadStream } from 'node:fs';
import { mkdir, readdir, rename, rm, stat, utimes } from 'node:fs/promises';
import { join } from 'node:path';
import { finished } from 'node:stream/promises';

/** Blobs on disk by their digest. What was asked for least recently goes when there is no room left. */
export class BlobCache {
  readonly #folder: string;
  readonly #maxBytes: number;

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

  /** Keeps what passes, and hands it on as it comes. What is not what its digest says is not kept, and the reader is told. */
  async *keep(digest: string, chunks: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
    const part = join(this.#folder, `${randomBytes(8).toString('hex')}.part`);
    const file = createWriteStream(part, { mode: 0o600 });
    const hash = createHash('sha256');
    try {
      for await (const chunk of chunks) {
        hash.update(chunk);
        if (!file.write(chunk)) await new Promise<void>((resolve, reject) => file.once('drain', resolve).once('error', reject));
        yield chunk;
      }
      file.end();
      await finished(file);
      if (`sha256:${hash.digest('hex')}` !== digest) throw new Error(`the registry sent something else than ${digest}`);
      await rename(part, this.#path(digest));
      await this.#makeRoom();
    } finally {
      file.destroy();
      await rm(part, { force: true });
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
