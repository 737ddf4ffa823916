import { createHash, randomBytes } from 'node:crypto';
import { createReadStream, type ReadStream } from 'node:fs';
import { copyFile, mkdir, readdir, readFile, rename, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { readIfPresent, replaceFile } from '../pki/private-file.ts';

/** An image as registries have it. */
export interface OriginalImage {
  /** Absent: its archive has none, as those of older Dockers. */
  manifest?: { bytes: Buffer; mediaType: string };
  config: Buffer;
  /** Files with the layers, the lowest first. */
  layers: readonly string[];
}

export interface SharedManifest {
  digest: string;
  mediaType: string;
  bytes: Buffer;
}

interface Named {
  name: string;
  digest: string;
  mediaType: string;
  /** Of all that it is made of. */
  blobs: string[];
}

/** What nobody names stays so long: somebody may be about to name it. */
const KEPT_MS = 3_600_000;

/** Images that an operator has given to all tenants, in their original form. Everybody may have everything that is in here. */
export class SharedImages {
  readonly #blobs: string;
  readonly #names: string;

  constructor(folder: string) {
    this.#blobs = join(folder, 'blobs');
    this.#names = join(folder, 'names');
  }

  async open(): Promise<void> {
    for (const path of [this.#blobs, this.#names]) await mkdir(path, { recursive: true, mode: 0o755 });
  }

  /** Of names as `docker.io/library/app:1`. What it is made of is there before the names are. */
  async add(names: readonly string[], { manifest, config, layers }: OriginalImage): Promise<void> {
    await this.open();
    const files = await Promise.all(layers.map((path) => this.#keepFile(path)));
    const { bytes, mediaType } = manifest ?? manifestOf(config, files);
    const digest = await this.#keep(bytes);
    const blobs = [digest, await this.#keep(config), ...files.map((file) => file.digest)];
    for (const name of names) {
      await replaceFile(this.#file(name), JSON.stringify({ name, digest, mediaType, blobs } satisfies Named), 0o644);
    }
  }

  /** Takes a name back, and what no other name needs. @returns whether it was one */
  async remove(name: string, now: number): Promise<boolean> {
    if ((await this.#named(name)) === undefined) return false;
    await rm(this.#file(name), { force: true });
    const needed = new Set((await this.#all()).flatMap(({ blobs }) => blobs.map(fileOf)));
    for (const file of await readdir(this.#blobs)) {
      const path = join(this.#blobs, file);
      if (!needed.has(file) && now - (await stat(path)).mtimeMs > KEPT_MS) await rm(path, { force: true });
    }
    return true;
  }

  /** What there is: names, and the digests behind them. */
  async names(): Promise<Map<string, string>> {
    return new Map((await this.#all()).map(({ name, digest }) => [name, digest]));
  }

  /** @param reference a tag, or a digest that one of the repository's names has */
  async manifest(repository: string, reference: string): Promise<SharedManifest | undefined> {
    const named = reference.startsWith('sha256:')
      ? (await this.#all()).find(({ name, digest }) => name.startsWith(`${repository}:`) && digest === reference)
      : await this.#named(`${repository}:${reference}`);
    if (named === undefined) return undefined;
    return { digest: named.digest, mediaType: named.mediaType, bytes: await readFile(join(this.#blobs, fileOf(named.digest))) };
  }

  async blob(digest: string): Promise<{ size: number; stream: ReadStream } | undefined> {
    const path = join(this.#blobs, fileOf(digest));
    const found = await stat(path).catch(() => undefined);
    return found?.isFile() ? { size: found.size, stream: createReadStream(path) } : undefined;
  }

  #named(name: string): Promise<Named | undefined> {
    return read(this.#file(name));
  }

  async #all(): Promise<Named[]> {
    const files = (await readdir(this.#names).catch(() => [])).filter((file) => !file.endsWith('.tmp'));
    const all = await Promise.all(files.map((file) => read(join(this.#names, file))));
    return all.filter((named) => named !== undefined);
  }

  /** Names are longer than those of files may be. */
  #file(name: string): string {
    return join(this.#names, fileOf(digestOf(Buffer.from(name))));
  }

  async #keep(bytes: Buffer): Promise<string> {
    const digest = digestOf(bytes);
    await replaceFile(join(this.#blobs, fileOf(digest)), bytes, 0o644);
    return digest;
  }

  async #keepFile(path: string): Promise<{ digest: string; size: number; isPacked: boolean }> {
    const hash = createHash('sha256');
    let size = 0;
    let isPacked = false;
    for await (const chunk of createReadStream(path) as AsyncIterable<Buffer>) {
      if (size === 0) isPacked = chunk[0] === 0x1f && chunk[1] === 0x8b;
      hash.update(chunk);
      size += chunk.length;
    }
    const digest = `sha256:${hash.digest('hex')}`;
    const draft = join(this.#blobs, `${randomBytes(6).toString('hex')}.tmp`);
    await copyFile(path, draft);
    await rename(draft, join(this.#blobs, fileOf(digest)));
    return { digest, size, isPacked };
  }
}

async function read(path: string): Promise<Named | undefined> {
  const text = await readIfPresent(path);
  return text === undefined ? undefined : (JSON.parse(text) as Named);
}

function manifestOf(
  config: Buffer,
  layers: readonly { digest: string; size: number; isPacked: boolean }[],
): { bytes: Buffer; mediaType: string } {
  const mediaType = 'application/vnd.oci.image.manifest.v1+json';
  const document = {
    schemaVersion: 2,
    mediaType,
    config: { mediaType: 'application/vnd.oci.image.config.v1+json', digest: digestOf(config), size: config.length },
    layers: layers.map(({ digest, size, isPacked }) => ({
      mediaType: `application/vnd.oci.image.layer.v1.tar${isPacked ? '+gzip' : ''}`,
      digest,
      size,
    })),
  };
  return { bytes: Buffer.from(JSON.stringify(document)), mediaType };
}

function digestOf(bytes: Buffer): string {
  return `sha256:${createHash('sha256').update(bytes).digest('hex')}`;
}

function fileOf(digest: string): string {
  return digest.slice('sha256:'.length);
}
