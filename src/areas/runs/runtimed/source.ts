import { mkdirSync, writeFileSync } from 'node:fs';
import { lstat, mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Run } from '../../../api/kruntimes.io/v1alpha1/run.ts';

/** The Run's code could not be fetched. */
export class SourceError extends Error {}

/** How a repository is brought to a folder. */
export type FetchRepository = (source: NonNullable<Run['spec']['source']>, folder: string, signal: AbortSignal) => Promise<void>;

export interface SourceFolders {
  /** Where the folders of Runs are, for us and for the Runtime Server. */
  ours: string;
  theirs: string;
  /** Whether there is a place for artifacts. */
  artifacts: boolean;
}

/** Makes the folder of a Run. What an attempt before left behind stays, but for its outputs. */
export async function prepareSource(run: Run, folders: SourceFolders, fetch: FetchRepository, signal: AbortSignal) {
  const uid = run.metadata.uid!;
  const { source } = run.spec;
  const inside = source?.repoURL === undefined ? [uid] : [uid, 'repo'];
  const folder = join(folders.ours, uid);
  const working = join(folders.ours, ...inside);
  try {
    const isNew = await makeOwnFolder(folder);
    if (source?.repoURL !== undefined) await fetch(source, working, signal);
    if (source?.inline !== undefined) {
      // Never written through a link that an attempt before, or the repository, left there.
      if (!isNew || source.repoURL !== undefined) await rm(join(working, 'script'), { recursive: true, force: true });
      writeFileSync(join(working, 'script'), source.inline, { mode: 0o644, flag: 'wx' });
    }
    if (!isNew || source?.repoURL !== undefined) await rm(join(working, 'outputs'), { recursive: true, force: true });
    if (folders.artifacts) {
      if (!isNew) await rm(join(folder, 'artifacts'), { recursive: true, force: true });
      await mkdir(join(folder, 'artifacts'), { mode: 0o777 });
    }
  } catch (error) {
    if (signal.aborted || error instanceof SourceError) throw error;
    throw new SourceError(error instanceof Error ? error.message : String(error), { cause: error });
  }
  const theirs = join(folders.theirs, ...inside);
  return {
    workingDir: theirs,
    outputs: join(theirs, 'outputs'),
    ...(folders.artifacts ? { artifacts: join(folders.theirs, uid, 'artifacts') } : {}),
  };
}

/** An attempt before may have put a link in its place. @returns whether it was not there before */
async function makeOwnFolder(folder: string): Promise<boolean> {
  try {
    // Programs may run as another user than we do. At once: a thread that does it costs several times as much.
    mkdirSync(folder, { mode: 0o777 });
    return true;
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code !== 'EEXIST' && code !== 'ENOENT') throw error;
  }
  const there = await lstat(folder).catch(() => undefined);
  if (there !== undefined && !there.isDirectory()) await rm(folder, { force: true });
  await mkdir(folder, { recursive: true, mode: 0o777 });
  return false;
}

/** The names that lead from the folder of all Runs to the outputs of one. */
export function outputsOf(run: Run): string[] {
  return [run.metadata.uid!, ...(run.spec.source?.repoURL === undefined ? [] : ['repo']), 'outputs'];
}
