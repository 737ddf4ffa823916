import { open, readdir, stat, type FileHandle } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';

/** One file of a container's log, held open: what is moved or removed meanwhile can still be read. */
export interface OpenLog {
  handle: FileHandle;
  inode: number;
  modifiedMs: number;
}

/** The files of a log, the oldest first: those moved away are called `<path>.<time>`. */
export async function openLogs(path: string): Promise<OpenLog[]> {
  const opened: OpenLog[] = [];
  try {
    for (const file of await logPaths(path)) {
      const log = await openLog(file);
      // Moved away between the listing and now: it is there twice, under its new name.
      if (log === undefined) continue;
      if (opened.some(({ inode }) => inode === log.inode)) await log.handle.close();
      else opened.push(log);
    }
  } catch (error) {
    await Promise.all(opened.map(({ handle }) => handle.close()));
    throw error;
  }
  return opened;
}

/** The file that follows the one with this inode; undefined while that is still the one being written. */
export async function openNextLog(path: string, inode: number): Promise<OpenLog | undefined> {
  if ((await inodeOf(path)) === inode) return undefined;
  for (;;) {
    const files = await logSnapshot(path);
    // When it is not there any more it was the oldest, so the oldest one left follows it.
    const following = files[files.findIndex((file) => file.inode === inode) + 1];
    if (following === undefined) return undefined;
    const log = await openLog(following.path);
    if (log?.inode === following.inode) return log;
    // Moved away or removed meanwhile: what follows is asked again.
    await log?.handle.close();
  }
}

/** Names and inodes that belong together: a file that is moved while they are read would be missed. */
async function logSnapshot(path: string): Promise<{ path: string; inode: number }[]> {
  for (;;) {
    const paths = await logPaths(path);
    const inodes = await Promise.all(paths.map(inodeOf));
    const again = await logPaths(path);
    const isStable = paths.length === again.length && paths.every((name, index) => name === again[index] && inodes[index] !== undefined);
    if (isStable) return paths.map((name, index) => ({ path: name, inode: inodes[index]! }));
  }
}

async function logPaths(path: string): Promise<string[]> {
  const folder = dirname(path);
  const name = basename(path);
  let names: string[];
  try {
    names = await readdir(folder);
  } catch (error) {
    if (isMissing(error)) return [];
    throw error;
  }
  const moved = names.filter((other) => other.startsWith(`${name}.`)).sort();
  return [...moved, ...(names.includes(name) ? [name] : [])].map((each) => join(folder, each));
}

async function openLog(path: string): Promise<OpenLog | undefined> {
  try {
    const handle = await open(path, 'r');
    const { ino, mtimeMs } = await handle.stat();
    return { handle, inode: ino, modifiedMs: mtimeMs };
  } catch (error) {
    if (isMissing(error)) return undefined;
    throw error;
  }
}

async function inodeOf(path: string): Promise<number | undefined> {
  try {
    return (await stat(path)).ino;
  } catch (error) {
    if (isMissing(error)) return undefined;
    throw error;
  }
}

function isMissing(error: unknown): boolean {
  return (error as NodeJS.ErrnoException).code === 'ENOENT';
}
