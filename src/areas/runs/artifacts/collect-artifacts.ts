import { createHash } from 'node:crypto';
import { lstat, mkdir, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { ArtifactInvalidError, type ArtifactContent } from './artifact-store.ts';
import { archiveFolder, notPlain, openPlain } from './folder-archive.ts';
import { nameProblem } from './model/artifact-keys.ts';

export interface ArtifactLimits {
  /** Of one artifact. */
  artifactBytes: number;
  /** Of all artifacts of a Run. */
  artifactsBytes: number;
}

export const DEFAULT_ARTIFACT_LIMITS: ArtifactLimits = { artifactBytes: 2 ** 30, artifactsBytes: 10 * 2 ** 30 };
const MOST_ARTIFACTS = 32;

/**
 * What a Run left in its artifacts folder, ready to be stored: folders as archives in `archives`.
 * @throws ArtifactInvalidError
 */
export async function collectArtifacts(
  folder: string,
  archives: string,
  limits: ArtifactLimits,
  signal: AbortSignal,
): Promise<ArtifactContent[]> {
  const names = await entriesOf(folder);
  if (names.length > MOST_ARTIFACTS) throw new ArtifactInvalidError(`there are more than ${MOST_ARTIFACTS} artifacts`);
  const contents: ArtifactContent[] = [];
  let left = limits.artifactsBytes;
  for (const [index, name] of names.toSorted().entries()) {
    signal.throwIfAborted();
    const problem = nameProblem(name);
    if (problem !== undefined) throw new ArtifactInvalidError(`artifact "${name}" ${problem}`);
    const content = await contentOf(join(folder, name), name, join(archives, `${index}.tar.gz`), limits, signal);
    left -= content.sizeBytes;
    if (left < 0) throw new ArtifactInvalidError(`the artifacts are larger than ${limits.artifactsBytes} bytes together`);
    contents.push(content);
  }
  return contents;
}

/** The program may have removed the folder, or put something else in its place. */
async function entriesOf(folder: string): Promise<string[]> {
  try {
    const stats = await lstat(folder);
    if (!stats.isDirectory()) throw new ArtifactInvalidError('the artifacts folder is not a folder any more');
    return await readdir(folder);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return [];
    throw error;
  }
}

async function contentOf(
  path: string,
  name: string,
  archive: string,
  limits: ArtifactLimits,
  signal: AbortSignal,
): Promise<ArtifactContent> {
  const stats = await lstat(path);
  if (stats.isDirectory()) {
    await mkdir(join(archive, '..'), { recursive: true, mode: 0o700 });
    const bounds = { archiveBytes: limits.artifactBytes, contentBytes: limits.artifactsBytes };
    const stored = await archiveFolder(path, name, archive, bounds, signal);
    return { name, type: 'directory', path: archive, contentType: 'application/gzip', ...stored };
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
