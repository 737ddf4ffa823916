import { chmod, readdir, rename, rm, rmdir, unlink } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { CAN_WALK_BY_HANDLE, errorCode, openFolder, openHandle, type Handle } from './handles.ts';

/** A container can make folders so deep that one handle per level would use up all there are. */
const MAX_DEPTH = 64;
const AT_ONCE = 16;

/**
 * Removes a folder and all below it. What containers left behind is not to be trusted: a symbolic link is removed, never followed, even
 * if somebody puts it there while this runs, and another file system that is mounted below is left alone (the removal fails then).
 */
export async function removeTree(path: string): Promise<void> {
  if (!CAN_WALK_BY_HANDLE) {
    await rm(path, { recursive: true, force: true });
    return;
  }
  let parent: Handle;
  try {
    parent = await openFolder(dirname(path));
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return;
    throw error;
  }
  try {
    const removal = new Removal(parent);
    await removal.remove(parent.path, basename(path), 0);
    await removal.removeDeep();
  } finally {
    await parent.close();
  }
}

class Removal {
  #home: Handle;
  #deep: string[] = [];
  #moved = 0;

  constructor(home: Handle) {
    this.#home = home;
  }

  async remove(folder: string, name: string, depth: number): Promise<void> {
    const path = join(folder, name);
    try {
      await unlink(path);
      return;
    } catch (error) {
      if (errorCode(error) === 'ENOENT') return;
      // EISDIR on Linux, EPERM elsewhere and for what may not be removed.
      if (errorCode(error) !== 'EISDIR' && errorCode(error) !== 'EPERM') throw error;
    }
    if (depth >= MAX_DEPTH) await this.#moveUp(path);
    else await this.#removeFolder(path, depth);
  }

  /** Those that were too deep: each is near the top now. */
  async removeDeep(): Promise<void> {
    for (let name = this.#deep.pop(); name !== undefined; name = this.#deep.pop()) await this.remove(this.#home.path, name, 0);
  }

  async #removeFolder(path: string, depth: number): Promise<void> {
    const folder = await openToEmpty(path);
    try {
      if (folder.stats.dev !== this.#home.stats.dev) {
        throw new Error(`Cannot remove "${path}": something is mounted there; unmount it first`);
      }
      const names = await readdir(folder.path);
      for (let start = 0; start < names.length; start += AT_ONCE) {
        await Promise.all(names.slice(start, start + AT_ONCE).map((name) => this.remove(folder.path, name, depth + 1)));
      }
    } finally {
      await folder.close();
    }
    await rmdir(path);
  }

  async #moveUp(path: string): Promise<void> {
    const name = `.removing-${process.pid}-${this.#moved++}`;
    await rename(path, join(this.#home.path, name));
    this.#deep.push(name);
  }
}

/** Its owner may have taken away everybody's rights, our own included when this is not root. */
async function openToEmpty(path: string): Promise<Handle> {
  try {
    const folder = await openFolder(path);
    if ((folder.stats.mode & 0o300) === 0o300 || process.getuid?.() === 0) return folder;
    await folder.close();
  } catch (error) {
    if (errorCode(error) !== 'EACCES') throw error;
  }
  const named = await openHandle(path);
  try {
    if (named.stats.isDirectory()) await chmod(named.path, 0o700);
  } finally {
    await named.close();
  }
  return openFolder(path);
}
