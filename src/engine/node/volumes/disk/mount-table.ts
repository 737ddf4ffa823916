import { readFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { CAN_WALK_BY_HANDLE, openHandle } from './handles.ts';

/** What is mounted at or below the paths, in the order in which it was mounted. */
export async function mountsUnder(paths: readonly string[]): Promise<string[]> {
  if (!CAN_WALK_BY_HANDLE) return [];
  const table = await readFile('/proc/self/mountinfo', 'utf8');
  // Most Pods have no mounts of ours; then the table, which is long on busy machines, is not taken apart.
  if (!paths.some((path) => table.includes(escaped(path)))) return [];
  const targets = table.split('\n').map((line) => unescaped(line.split(' ', 5)[4] ?? ''));
  return targets.filter((target) => paths.some((path) => target === path || target.startsWith(`${path}/`)));
}

export async function isMountPoint(path: string): Promise<boolean> {
  const [own, above] = await Promise.all([mountIdOf(path), mountIdOf(dirname(path))]);
  return own !== undefined && own !== above;
}

/** Tells bind mounts of the same file system apart, which device numbers do not. */
async function mountIdOf(path: string): Promise<string | undefined> {
  const handle = await openHandle(path).catch(() => undefined);
  if (!handle) return undefined;
  try {
    return /^mnt_id:\s*(\d+)$/m.exec(await readFile(`/proc/self/fdinfo/${handle.fd}`, 'utf8'))?.[1];
  } finally {
    await handle.close();
  }
}

/** Spaces, tabs, line ends and backslashes are written in octal. */
function unescaped(text: string): string {
  return text.replaceAll(/\\([0-7]{3})/g, (_, octal: string) => String.fromCharCode(Number.parseInt(octal, 8)));
}

function escaped(text: string): string {
  return text.replaceAll(/[ \t\n\\]/g, (character) => `\\${character.charCodeAt(0).toString(8).padStart(3, '0')}`);
}
