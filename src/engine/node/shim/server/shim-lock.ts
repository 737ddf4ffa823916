import { closeSync, openSync, readFileSync, rmSync, writeSync } from 'node:fs';
import { lockPath } from '../shim-paths.ts';
import { identify, isAlive, type ProcessIdentity } from '../system/process-identity.ts';
import type { SystemCalls } from '../system/system-calls.ts';

/**
 * Makes this process the only shim of the folder, until it ends. False when there is another. The kernel's own lock is without
 * races; where we cannot ask for it, a file that names a living process stands for it.
 */
export function holdShimLock(dir: string, calls: SystemCalls | undefined): boolean {
  const path = lockPath(dir);
  if (calls === undefined) return holdByFile(path);
  const fd = openSync(path, 'a', 0o600);
  if (calls.tryLock(fd)) return true;
  closeSync(fd);
  return false;
}

function holdByFile(path: string): boolean {
  for (const attempt of [1, 2]) {
    try {
      const fd = openSync(path, 'wx', 0o600);
      writeSync(fd, JSON.stringify(identify(process.pid)));
      closeSync(fd);
      return true;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
      if (attempt === 1 && !isHeld(path)) rmSync(path, { force: true });
    }
  }
  return false;
}

function isHeld(path: string): boolean {
  try {
    return isAlive(JSON.parse(readFileSync(path, 'utf8')) as ProcessIdentity);
  } catch {
    return false;
  }
}
