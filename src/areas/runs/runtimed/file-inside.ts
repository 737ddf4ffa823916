import { constants } from 'node:fs';
import { open, type FileHandle } from 'node:fs/promises';

const FOLDER = constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW;
/** A pipe would keep us waiting. */
const FILE = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;

/**
 * Opens a file of a Run, one name after the other: a link that the program put in the place of any of them, now or while we look, leads
 * nowhere. (Each name is looked up in the folder that was opened before, through /proc; Node has no call for it.)
 *
 * @param root ours, nobody else writes there
 * @throws the error of the system: ENOENT, or ELOOP and ENOTDIR for what is no plain folder or file
 */
export async function openInside(root: string, names: readonly string[]): Promise<FileHandle> {
  let at = root;
  let above: FileHandle | undefined;
  try {
    for (const [index, name] of names.entries()) {
      const next = await open(`${at}/${name}`, index === names.length - 1 ? FILE : FOLDER);
      await above?.close();
      above = next;
      at = `/proc/self/fd/${next.fd}`;
    }
    return above!;
  } catch (error) {
    await above?.close();
    throw error;
  }
}
