import { type FileSystem, removeIfThere } from '../files/file-system.ts';
import { snapshotName } from './file-names.ts';

/** Synced in steps, so that the commits of this time do not wait behind one large flush. */
const SYNC_EVERY_BYTES = 4 * 1024 * 1024;

/** Writes `blocks` as snapshot `number`; it is there as a whole or not at all. @returns its length, undefined when it was aborted. */
export async function writeSnapshotFile(
  fileSystem: FileSystem,
  directory: string,
  number: number,
  blocks: Iterable<Uint8Array> | AsyncIterable<Uint8Array>,
  signal?: AbortSignal,
): Promise<number | undefined> {
  const path = `${directory}/${snapshotName(number)}`;
  const temporary = `${path}.tmp`;
  await removeIfThere(fileSystem, temporary);
  const file = await fileSystem.open(temporary, 'create');
  let length = 0;
  try {
    let synced = 0;
    for await (const block of blocks) {
      if (signal?.aborted) break;
      await file.write([block], length);
      length += block.length;
      if (length - synced < SYNC_EVERY_BYTES) continue;
      await file.datasync();
      synced = length;
    }
    await file.datasync();
  } catch (error) {
    await file.close();
    await removeIfThere(fileSystem, temporary).catch(() => {});
    throw error;
  }
  await file.close();
  if (signal?.aborted) {
    await removeIfThere(fileSystem, temporary);
    return undefined;
  }
  await fileSystem.rename(temporary, path);
  await fileSystem.syncDirectory(directory);
  return length;
}
