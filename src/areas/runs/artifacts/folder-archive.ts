import { createHash } from 'node:crypto';
import { constants, createWriteStream, type Stats } from 'node:fs';
import { lstat, open, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { Readable, Transform } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGzip } from 'node:zlib';
import { ArtifactInvalidError } from './artifact-store.ts';
import { nameProblem } from './model/artifact-keys.ts';
import { openFolder } from './opened-folder.ts';
import { permissionsOf, tarEnd, tarHeader, tarPadding } from './tar-writer.ts';

/** A link might lead to what the program itself may not read; a pipe would keep us waiting. */
const OPEN_FLAGS = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;

export interface ArchiveLimits {
  /** Of the archive itself. */
  archiveBytes: number;
  /** Of all that goes into it. */
  contentBytes: number;
}

/** Each level keeps a folder open. */
const DEEPEST = 100;

/**
 * Writes a folder as a tar.gz, entries sorted, without the folder itself: the same content gives the same bytes.
 * @param folder the path of an opened folder
 * @throws ArtifactInvalidError for links, special files and what is too large
 */
export async function archiveFolder(folder: string, name: string, target: string, limits: ArchiveLimits, signal: AbortSignal) {
  const hash = createHash('sha256');
  let sizeBytes = 0;
  const measure = new Transform({
    transform(chunk: Buffer, _encoding, done) {
      sizeBytes += chunk.length;
      hash.update(chunk);
      if (sizeBytes <= limits.archiveBytes) done(null, chunk);
      else done(new ArtifactInvalidError(`artifact "${name}" is larger than ${limits.archiveBytes} bytes`));
    },
  });
  const entries = Readable.from(archiveBytes(folder, name, limits.contentBytes), { objectMode: false });
  await pipeline(entries, createGzip(), measure, createWriteStream(target, { mode: 0o600, flags: 'wx' }), { signal });
  return { sizeBytes, digest: `sha256:${hash.digest('hex')}` };
}

async function* archiveBytes(folder: string, name: string, contentBytes: number): AsyncGenerator<Buffer> {
  let left = contentBytes;
  for await (const { path, full, stats } of filesBelow(folder, name, '', 1)) {
    if (stats.isDirectory()) {
      yield tarHeader({ path: `${path}/`, mode: permissionsOf(stats), sizeBytes: 0, isFolder: true });
      continue;
    }
    left -= stats.size;
    if (left < 0) throw new ArtifactInvalidError(`artifact "${name}" has more than ${contentBytes} bytes in it`);
    yield tarHeader({ path, mode: permissionsOf(stats), sizeBytes: stats.size, isFolder: false });
    yield* exactly(full, `${name}/${path}`, stats.size);
    yield tarPadding(stats.size);
  }
  yield tarEnd();
}

interface Found {
  path: string;
  full: string;
  stats: Stats;
}

async function* filesBelow(folder: string, name: string, below: string, depth: number): AsyncGenerator<Found> {
  if (depth > DEEPEST) throw new ArtifactInvalidError(`artifact "${name}" has folders in folders, more than ${DEEPEST} deep`);
  const names = await readdir(folder);
  for (const entry of names.toSorted(byBytes)) {
    const path = below === '' ? entry : `${below}/${entry}`;
    const full = join(folder, entry);
    const problem = nameProblem(entry);
    if (problem !== undefined) throw new ArtifactInvalidError(`artifact "${name}/${path}" ${problem}`);
    const stats = await lstat(full);
    if (!stats.isFile() && !stats.isDirectory()) throw notPlain(`${name}/${path}`, stats);
    yield { path, full, stats };
    if (!stats.isDirectory()) continue;
    const inner = await openFolder(full).catch((error: unknown) => {
      throw new ArtifactInvalidError(`artifact "${name}/${path}" cannot be read (${(error as NodeJS.ErrnoException).code})`, {
        cause: error,
      });
    });
    try {
      yield* filesBelow(inner.path, name, path, depth + 1);
    } finally {
      await inner.close();
    }
  }
}

/** Not by the rules of a language: they change. */
function byBytes(a: string, b: string): number {
  return Buffer.compare(Buffer.from(a), Buffer.from(b));
}

/** So many bytes of a file, even if it changes meanwhile: an archive has no place for surprises. */
async function* exactly(path: string, shown: string, sizeBytes: number): AsyncGenerator<Buffer> {
  const file = await openPlain(path, shown);
  try {
    let left = sizeBytes;
    while (left > 0) {
      const { bytesRead, buffer } = await file.read(Buffer.allocUnsafe(Math.min(left, 64 << 10)));
      if (bytesRead === 0) throw new ArtifactInvalidError(`artifact "${shown}" became shorter while it was stored`);
      left -= bytesRead;
      yield buffer.subarray(0, bytesRead);
    }
  } finally {
    await file.close();
  }
}

/** Opens a regular file and nothing else. */
export async function openPlain(path: string, shown: string) {
  let file;
  try {
    file = await open(path, OPEN_FLAGS);
  } catch (error) {
    throw new ArtifactInvalidError(`artifact "${shown}" cannot be read (${(error as NodeJS.ErrnoException).code})`, { cause: error });
  }
  const stats = await file.stat();
  if (stats.isFile()) return file;
  await file.close();
  throw notPlain(shown, stats);
}

export function notPlain(shown: string, stats: Stats): ArtifactInvalidError {
  const what = stats.isSymbolicLink() ? 'a symbolic link' : 'a special file';
  return new ArtifactInvalidError(`artifact "${shown}" is ${what}; only regular files and folders can be stored`);
}
