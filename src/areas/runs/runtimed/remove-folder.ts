import { execFile } from 'node:child_process';
import { rm, rmdir } from 'node:fs/promises';
import { promisify } from 'node:util';

/** Removes what a Run left: also folders that are closed to their owner, or deeper than a path can be long. Links are removed, not followed. */
export async function removeFolder(path: string): Promise<void> {
  try {
    // Most are empty.
    await rmdir(path);
    return;
  } catch {
    // It is not, or it is none.
  }
  try {
    await rm(path, { recursive: true, force: true });
  } catch {
    const run = promisify(execFile);
    // It complains of what it cannot change, and changes the rest.
    await run('chmod', ['-R', 'u+rwX', '--', path]).catch(() => {});
    await run('rm', ['-rf', '--', path]);
  }
}
