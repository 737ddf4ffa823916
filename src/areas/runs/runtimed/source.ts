import { mkdir, rm, writeFile } from 'node:fs/promises';
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
    // Programs may run as another user than we do.
    await mkdir(folder, { recursive: true, mode: 0o777 });
    if (source?.repoURL !== undefined) await fetch(source, working, signal);
    if (source?.inline !== undefined) await writeFile(join(working, 'script'), source.inline, { mode: 0o644 });
    await rm(join(working, 'outputs'), { recursive: true, force: true });
    if (folders.artifacts) {
      await rm(join(folder, 'artifacts'), { recursive: true, force: true });
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

export function workingFolder(run: Run, folders: SourceFolders): string {
  return join(folders.ours, run.metadata.uid!, ...(run.spec.source?.repoURL === undefined ? [] : ['repo']));
}
