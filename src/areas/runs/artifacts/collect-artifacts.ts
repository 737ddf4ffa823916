import { createHash } from 'node:crypto';
import { lstat, mkdir, readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { randomSuffix } from '../../../lib/ids.ts';
import { ArtifactInvalidError, type ArtifactContent } from './artifact-store.ts';
import { archiveFolder, notPlain, openPlain } from './folder-archive.ts';
import { isNoFolder, openFolder, openFolderInside, type OpenedFolder } from './opened-folder.ts';
import { nameProblem } from './model/artifact-keys.ts';

export interface ArtifactLimits {
  /** Of one artifact. */
  artifactBytes: number;
  /** Of all artifacts of a Run. */
  artifactsBytes: number;
}

export const DEFAULT_ARTIFACT_LIMITS: ArtifactLimits = { artifactBytes: 2 ** 30, artifactsBytes: 10 * 2 ** 30 };
const MOST_ARTIFACTS = 32;
const ARCHIVES_PREFIX = '.archives-';

/** Files that stay readable until they are released. */
export interface CollectedArtifacts {
  contents: ArtifactContent[];
  release(): Promise<void>;
}

export interface ArtifactPlaces {
  /** The folder of all Runs: nobody can put another in its place. */
  root: string;
  /** The names that lead from there to what the Run left. Programs of the Run may still be there, and may put links in the way. */
  names: readonly string[];
  /** Where archives are made meanwhile, below the root: a name that nobody can guess. */
  archives: string;
}

/**
 * What a Run left in its artifacts folder, ready to be stored: folders as archives.
 * @throws ArtifactInvalidError
 */
export async function collectArtifacts(places: ArtifactPlaces, limits: ArtifactLimits, signal: AbortSignal): Promise<CollectedArtifacts> {
  const folder = await openFolderInside(places.root, places.names).catch((error: unknown) => {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw isNoFolder(error) ? new ArtifactInvalidError('the artifacts folder is not a folder any more') : error;
  });
  if (folder === undefined) return { contents: [], release: async () => {} };
  const archives = join(places.root, places.archives);
  let made: OpenedFolder | undefined;
  const archiveFolderPath = async (): Promise<string> => {
    if (made === undefined) {
      await mkdir(archives, { mode: 0o700 });
      made = await openFolder(archives);
    }
    return made.path;
  };
  const release = async (): Promise<void> => {
    await folder.close();
    await made?.close();
    if (made !== undefined) await rm(archives, { recursive: true, force: true });
  };
  try {
    return { contents: await contentsOf(folder.path, archiveFolderPath, limits, signal), release };
  } catch (error) {
    await release();
    throw error;
  }
}

/** Where the next archives are made. */
export function newArchivesName(): string {
  return `${ARCHIVES_PREFIX}${randomSuffix(16)}`;
}

/** What a runtimed that was killed left behind. */
export async function removeOldArchives(root: string): Promise<void> {
  const names = await readdir(root).catch(() => []);
  for (const name of names) if (name.startsWith(ARCHIVES_PREFIX)) await rm(join(root, name), { recursive: true, force: true });
}

async function contentsOf(
  folder: string,
  archives: () => Promise<string>,
  limits: ArtifactLimits,
  signal: AbortSignal,
): Promise<ArtifactContent[]> {
  const names = await readdir(folder);
  if (names.length > MOST_ARTIFACTS) throw new ArtifactInvalidError(`there are more than ${MOST_ARTIFACTS} artifacts`);
  const contents: ArtifactContent[] = [];
  let left = limits.artifactsBytes;
  for (const [index, name] of names.toSorted().entries()) {
    signal.throwIfAborted();
    const problem = nameProblem(name);
    if (problem !== undefined) throw new ArtifactInvalidError(`artifact "${name}" ${problem}`);
    const content = await contentOf(join(folder, name), name, async () => join(await archives(), `${index}.tar.gz`), limits, signal);
    left -= content.sizeBytes;
    if (left < 0) throw new ArtifactInvalidError(`the artifacts are larger than ${limits.artifactsBytes} bytes together`);
    contents.push(content);
  }
  return contents;
}

async function contentOf(
  path: string,
  name: string,
  archive: () => Promise<string>,
  limits: ArtifactLimits,
  signal: AbortSignal,
): Promise<ArtifactContent> {
  const stats = await lstat(path);
  if (stats.isDirectory()) {
    const bounds = { archiveBytes: limits.artifactBytes, contentBytes: limits.artifactsBytes };
    const target = await archive();
    const folder = await openFolder(path);
    try {
      const stored = await archiveFolder(folder.path, name, target, bounds, signal);
      return { name, type: 'directory', path: target, contentType: 'application/gzip', ...stored };
    } finally {
      await folder.close();
    }
  }
  if (!stats.isFile()) throw notPlain(name, stats);
  if (stats.size > limits.artifactBytes) throw new ArtifactInvalidError(`artifact "${name}" is larger than ${limits.artifactBytes} bytes`);
  const { sizeBytes, digest } = await digestOf(path, name, signal);
  return { name, type: 'file', path, contentType: 'application/octet-stream', sizeBytes, digest };
}

async function digestOf(path: string, name: string, signal: AbortSignal): Promise<{ sizeBytes: number; digest: string }> {
  const file = await openPlain(path, name);
  const hash = createHash('sha256');
  let sizeBytes = 0;
  for await (const chunk of file.createReadStream({ signal })) {
    sizeBytes += (chunk as Buffer).length;
    hash.update(chunk as Buffer);
  }
  return { sizeBytes, digest: `sha256:${hash.digest('hex')}` };
}
