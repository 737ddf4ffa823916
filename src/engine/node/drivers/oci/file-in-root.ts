import { lstat, readFile, readlink } from 'node:fs/promises';
import { join } from 'node:path';

const MOST_LINKS = 40;
/** A user database of an image; anything larger is not one. */
const LARGEST_FILE = 4 << 20;

/**
 * Where a path of the container is on the machine, with links followed the way they look from inside: `/etc/passwd -> /shadow` is the
 * container's own /shadow, and `..` ends at its root. Only sound while nothing else changes these files: before the container runs.
 */
export async function pathInRoot(root: string, path: string): Promise<string> {
  const rest = path.split('/').filter(Boolean);
  const resolved: string[] = [];
  let links = 0;
  for (let name = rest.shift(); name !== undefined; name = rest.shift()) {
    if (name === '.') continue;
    if (name === '..') {
      resolved.pop();
      continue;
    }
    const target = await linkTarget(join(root, ...resolved, name));
    if (target === undefined) {
      resolved.push(name);
      continue;
    }
    if (++links > MOST_LINKS) throw new Error(`Cannot follow "${path}": its symbolic links never end.`);
    if (target.startsWith('/')) resolved.length = 0;
    rest.unshift(...target.split('/').filter(Boolean));
  }
  return join(root, ...resolved);
}

/** The text of a plain file of the container; empty when there is none. */
export async function textInRoot(root: string, path: string): Promise<string> {
  const file = await pathInRoot(root, path);
  const info = await lstat(file).catch(() => undefined);
  // A pipe or device in its place would hold us for ever.
  if (!info?.isFile() || info.size > LARGEST_FILE) return '';
  return readFile(file, 'utf8');
}

async function linkTarget(path: string): Promise<string | undefined> {
  try {
    return await readlink(path);
  } catch {
    return undefined;
  }
}
