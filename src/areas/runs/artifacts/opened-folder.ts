import { constants } from 'node:fs';
import { open, type FileHandle } from 'node:fs/promises';

/**
 * A folder that stays the one that was opened, whatever is put in its place: what is looked up below `path` is looked up in it. (Through
 * /proc: Node has no calls that take a folder's descriptor.)
 */
export interface OpenedFolder {
  path: string;
  close(): Promise<void>;
}

/** @throws the error of the system: ENOENT, or ELOOP and ENOTDIR for what is no plain folder */
export async function openFolder(path: string): Promise<OpenedFolder> {
  const handle: FileHandle = await open(path, constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW);
  return { path: `/proc/self/fd/${handle.fd}`, close: () => handle.close() };
}

/** One name after the other: a link in the place of any of them leads nowhere. @param root ours, and a mount that nobody can replace */
export async function openFolderInside(root: string, names: readonly string[]): Promise<OpenedFolder> {
  let folder = await openFolder(root);
  for (const name of names) {
    const above = folder;
    try {
      folder = await openFolder(`${above.path}/${name}`);
    } finally {
      await above.close();
    }
  }
  return folder;
}

export function isNoFolder(error: unknown): boolean {
  const { code } = error as NodeJS.ErrnoException;
  return code === 'ELOOP' || code === 'ENOTDIR';
}
