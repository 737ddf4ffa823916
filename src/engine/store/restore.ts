import { randomBytes } from 'node:crypto';
import { FORMAT_FILE, writeFormat } from './directory/format.ts';
import { acquireLock, LOCK_FILE } from './directory/lock.ts';
import { type ProcessTable, processTable } from '../../lib/process-table.ts';
import { type FileSystem, removeIfThere } from './files/file-system.ts';
import { nodeFileSystem } from './files/node-file-system.ts';
import { BlockReader, readBlocksFrom } from './log/block-reader.ts';
import { segmentName, snapshotName } from './log/file-names.ts';
import { createSegment } from './log/segment-file.ts';
import { MARK_BYTES } from './log/segment-header.ts';
import { decodeSnapshot, SnapshotDamage } from './log/snapshot-decoding.ts';
import { StoreError } from './store.ts';

export interface RestoreOptions {
  /**
   * How far behind the backup's revision the restored store begins. Clients may have seen revisions that were given after the
   * backup was taken; none of these must come back with another meaning.
   */
  revisionGap?: number;
  fileSystem?: FileSystem;
  processes?: ProcessTable;
  now?: () => number;
  randomBytes?: (size: number) => Buffer;
}

export interface Restored {
  /** Where the restored store begins. */
  revision: number;
  keys: number;
}

const REVISION_GAP = 1_000_000_000;

/** Makes a store in the empty or missing `directory` from what `backup()` gave. @throws StoreError */
export async function restoreStore(directory: string, backup: AsyncIterable<Uint8Array>, options: RestoreOptions = {}): Promise<Restored> {
  const fileSystem = options.fileSystem ?? nodeFileSystem;
  const random = options.randomBytes ?? randomBytes;
  await fileSystem.makeDirectory(directory);
  const processes = options.processes ?? processTable;
  const release = await acquireLock({ fileSystem, directory, processes, now: options.now ?? Date.now, randomBytes: random });
  try {
    await assertEmpty(fileSystem, directory);
    return await restoreInto(fileSystem, directory, backup, random, options.revisionGap ?? REVISION_GAP);
  } finally {
    await release();
  }
}

async function restoreInto(
  fileSystem: FileSystem,
  directory: string,
  backup: AsyncIterable<Uint8Array>,
  random: (size: number) => Buffer,
  revisionGap: number,
): Promise<Restored> {
  const snapshot = `${directory}/${snapshotName(1)}`;
  const temporary = `${snapshot}.tmp`;
  try {
    const { revision, keys } = await copyChecked(fileSystem, temporary, backup);
    await fileSystem.rename(temporary, snapshot);
    const baseRevision = revision + Math.max(0, revisionGap);
    const segment = await createSegment(fileSystem, directory, { number: 1, baseRevision, previousLength: 0, mark: random(MARK_BYTES) });
    await segment.close();
    await writeFormat(fileSystem, directory);
    return { revision: baseRevision, keys };
  } catch (error) {
    // The directory was empty: leave it so, and the restore can be tried again.
    for (const path of [`${directory}/${FORMAT_FILE}`, `${directory}/${segmentName(1)}`, snapshot, temporary]) {
      await removeIfThere(fileSystem, path).catch(() => {});
    }
    throw asStoreError(error);
  }
}

/** The backup becomes the first snapshot as it is, once it was checked to its end. */
async function copyChecked(fileSystem: FileSystem, path: string, backup: AsyncIterable<Uint8Array>): Promise<Restored> {
  const readBlocks = readBlocksFrom(backup);
  const file = await fileSystem.open(path, 'create');
  let written = 0;
  const reader = new BlockReader(async (blocks) => {
    const count = await readBlocks(blocks);
    for (let rest = count, i = 0; rest > 0; rest -= blocks[i++].length) {
      const block = blocks[i].subarray(0, rest);
      await file.write([block], written);
      written += block.length;
    }
    return count;
  });
  try {
    let keys = 0;
    const revision = await decodeSnapshot(reader, () => keys++);
    await file.datasync();
    return { revision, keys };
  } finally {
    await reader.stop();
    await file.close();
  }
}

async function assertEmpty(fileSystem: FileSystem, directory: string): Promise<void> {
  const names = await fileSystem.list(directory);
  const foreign = names.find((name) => name !== LOCK_FILE);
  if (foreign === undefined) return;
  throw new StoreError('Conflict', `Cannot restore into "${directory}": it is not empty, it holds "${foreign}"; choose an empty directory`);
}

function asStoreError(error: unknown): unknown {
  if (!(error instanceof SnapshotDamage)) return error;
  if (error.newerVersion)
    return new StoreError('NewerFormat', `Cannot restore the backup: ${error.message}; use a newer release`, { cause: error });
  return new StoreError('Corrupt', `Cannot restore the backup: ${error.message}; use another backup`, { cause: error });
}
