import { createWriteStream } from 'node:fs';
import { mkdir, open, readdir, rename, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { errorText } from '../../../../lib/log.ts';
import { ControlPlaneError, type Backup } from '../control-planes.ts';

const UNFINISHED = '.tmp';
const TRY_AGAIN_MS = 10_000;

/** The backups of a folder. */
export async function backupsIn(folder: string): Promise<Backup[]> {
  const names = await readdir(folder).catch(() => []);
  return Promise.all(
    names
      .filter((name) => !name.endsWith(UNFINISHED))
      .sort()
      .map((name) => backupIn(folder, name)),
  );
}

/** Writes one; until all of it is on the disk there is none. @throws ControlPlaneError */
export async function writeBackup(folder: string, name: string, archive: () => Promise<NodeJS.ReadableStream>): Promise<Backup> {
  const path = join(folder, name);
  try {
    await mkdir(folder, { recursive: true, mode: 0o700 });
    await pipeline(await archive(), createWriteStream(path + UNFINISHED, { mode: 0o600 }));
    const file = await open(path + UNFINISHED, 'r');
    await file.datasync();
    await file.close();
    await rename(path + UNFINISHED, path);
    return await backupIn(folder, name);
  } catch (error) {
    await rm(path + UNFINISHED, { force: true });
    const isFull = (error as NodeJS.ErrnoException).code === 'ENOSPC';
    const message = isFull ? 'the disk is full; free some space' : errorText(error);
    throw new ControlPlaneError(isFull ? 'DiskFull' : 'NotAnswering', `Cannot write backup "${name}": ${message}`, {
      afterMs: TRY_AGAIN_MS,
      cause: error,
    });
  }
}

async function backupIn(folder: string, name: string): Promise<Backup> {
  const { size, mtimeMs } = await stat(join(folder, name));
  return { name, time: mtimeMs, bytes: size };
}
