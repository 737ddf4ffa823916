import { execFile } from 'node:child_process';
import { rm, rmdir } from 'node:fs/promises';
import { promisify } from 'node:util';

/** Removes what a Run left: also folders that are closed to their owner, or deeper than a path can be long. Links are removed, not followed. */
export async function removeFolder(path: string): Promise<void> {
  try {
    // Most are empty.
    if (await isRemoved(path)) return;
    await rm(path, { recursive: true, force: true });
  } catch {
    const run = promisify(execFile);
    // It complains of what it cannot change, and changes the rest.
    await run('chmod', ['-R', 'u+rwX', '--', path]).catch(() => {});
    await run('rm', ['-rf', '--', path]);
  }
}

/** One after the other: several threads in one folder would only wait for each other, and spin while they do. */
let last: Promise<unknown> = Promise.resolve();

function isRemoved(path: string): Promise<boolean> {
  const removed = last.then(() =>
    rmdir(path).then(
      () => true,
      () => false,
    ),
  );
  last = removed;
  return removed;
}
