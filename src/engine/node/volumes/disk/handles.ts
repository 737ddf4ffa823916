import { open, type FileHandle } from 'node:fs/promises';
import { constants, type Stats } from 'node:fs';

/** Not among Node's constants: a handle that only names a file, so that opening a device or a pipe has no effect. */
const O_PATH = 0x200000;
const { O_DIRECTORY, O_NOFOLLOW, O_RDONLY } = constants;

/** Whether paths can be walked by handles: what /proc/self/fd is for. */
export const CAN_WALK_BY_HANDLE = process.platform === 'linux';

/** A file of which nobody can make another one any more by moving things about: paths below it start here. */
export interface Handle {
  /** Leads to the file itself as long as it is open. */
  readonly path: string;
  readonly stats: Stats;
  readonly fd: number;
  close(): Promise<void>;
}

/** Names a file without following a symbolic link in the last part of the path. */
export async function openHandle(path: string): Promise<Handle> {
  return toHandle(await open(path, O_PATH | O_NOFOLLOW));
}

/** A folder whose entries can be read through its path. Fails with ELOOP or ENOTDIR for whatever is not a folder. */
export async function openFolder(path: string): Promise<Handle> {
  return toHandle(await open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW));
}

async function toHandle(file: FileHandle): Promise<Handle> {
  try {
    return { path: `/proc/self/fd/${file.fd}`, fd: file.fd, stats: await file.stat(), close: () => file.close() };
  } catch (error) {
    await file.close();
    throw error;
  }
}

export function errorCode(error: unknown): string | undefined {
  return (error as NodeJS.ErrnoException).code;
}
