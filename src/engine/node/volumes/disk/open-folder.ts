import { chmod, mkdir, rename } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';

/** A folder that every user of a container may write to. It appears with its rights or not at all, even if we are killed on the way. */
export async function makeOpenFolder(path: string, giveAway?: (unfinished: string) => Promise<void>): Promise<void> {
  const unfinished = unfinishedName(path);
  await mkdir(unfinished, { recursive: true });
  await chmod(unfinished, 0o777);
  await giveAway?.(unfinished);
  await rename(unfinished, path);
}

export function unfinishedName(path: string): string {
  return join(dirname(path), `.new-${basename(path)}`);
}
