import { createWriteStream } from 'node:fs';
import { mkdir, open, readdir, rename, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { errorText } from '../../../../lib/log.ts';
import { ControlPlaneError, type Backup } from '../control-planes.ts';

const UNFINISHED = '.tmp';
const TRY_AGAIN_MS = 10_000;
/** Nothing tells that there is less in its store, and to find out costs as much again. */
const TOO_LARGE_AGAIN_MS = 600_000;

export interface BackupLimits {
  maxBytes: number;
  signal?: AbortSignal;
}

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
export async function writeBackup(
  folder: string,
  name: string,
  archive: () => Promise<Readable>,
  { maxBytes, signal }: BackupLimits,
): Promise<Backup> {
  const path = join(folder, name);
  try {
    await mkdir(folder, { recursive: true, mode: 0o700 });
    await pipeline(
      await archive(),
      atMost(maxBytes, () => tooLarge(name, maxBytes)),
      createWriteStream(path + UNFINISHED, { mode: 0o600 }),
      { signal },
    );
    const file = await open(path + UNFINISHED, 'r');
    await file.datasync();
    await file.close();
    await rename(path + UNFINISHED, path);
    return await backupIn(folder, name);
  } catch (error) {
    await rm(path + UNFINISHED, { force: true });
    signal?.throwIfAborted();
    throw whyNot(name, error);
  }
}

/** @param afterMs when it is worth another try */
export function tooLarge(name: string, maxBytes: number, afterMs = TOO_LARGE_AGAIN_MS): ControlPlaneError {
  const why = `it is larger than ${sizeText(maxBytes)}, which is all that one may have`;
  const advice = 'delete objects that are not needed; it is tried again within 10 minutes';
  return new ControlPlaneError('BackupTooLarge', `Cannot write backup "${name}": ${why}; ${advice}`, { afterMs });
}

function whyNot(name: string, error: unknown): ControlPlaneError {
  if (error instanceof ControlPlaneError) return error;
  const isFull = (error as NodeJS.ErrnoException).code === 'ENOSPC';
  const message = isFull ? 'the disk is full; free some space' : errorText(error);
  return new ControlPlaneError(isFull ? 'DiskFull' : 'NotAnswering', `Cannot write backup "${name}": ${message}`, {
    afterMs: TRY_AGAIN_MS,
    cause: error,
  });
}

/** Passes on what comes, and fails as soon as it is more. */
function atMost(maxBytes: number, error: () => Error) {
  return async function* (source: Readable): AsyncGenerator<Buffer> {
    let bytes = 0;
    for await (const chunk of source as AsyncIterable<Buffer>) {
      bytes += chunk.length;
      if (bytes > maxBytes) throw error();
      yield chunk;
    }
  };
}

function sizeText(bytes: number): string {
  return bytes >= 1024 ** 3 ? `${Number((bytes / 1024 ** 3).toFixed(1))} GiB` : `${bytes} bytes`;
}

async function backupIn(folder: string, name: string): Promise<Backup> {
  const { size, mtimeMs } = await stat(join(folder, name));
  return { name, time: mtimeMs, bytes: size };
}
