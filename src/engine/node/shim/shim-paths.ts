import { createHash } from 'node:crypto';
import { chmodSync, lstatSync, mkdirSync, rmdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';

/** The kernel takes 107 bytes; some are left for what others add. */
const MAX_SOCKET_PATH_BYTES = 100;

/** Where the shim of a node's folder listens: there, or, when that path is too long for a socket, in a folder of its own for it. */
export function socketPath(dir: string): string {
  const path = join(resolve(dir), 'shim.sock');
  if (Buffer.byteLength(path) <= MAX_SOCKET_PATH_BYTES) return path;
  const name = createHash('sha256').update(path).digest('hex').slice(0, 16);
  return join(tmpdir(), `tenantry-${name}`, 'shim.sock');
}

export function recordsFolder(dir: string): string {
  return join(dir, 'shim');
}

export function lockPath(dir: string): string {
  return join(recordsFolder(dir), 'lock');
}

export function shimLogPath(dir: string): string {
  return join(recordsFolder(dir), 'shim.log');
}

export function prepareShimFolder(dir: string): void {
  mkdirSync(recordsFolder(dir), { recursive: true, mode: 0o700 });
  const folder = dirname(socketPath(dir));
  if (folder !== resolve(dir)) preparePrivate(folder);
}

export function removeSocket(dir: string): void {
  const path = socketPath(dir);
  rmSync(path, { force: true });
  if (dirname(path) === resolve(dir)) return;
  try {
    rmdirSync(dirname(path));
  } catch {
    // Somebody put something there; it is not ours to remove.
  }
}

/** In a folder for all, another user may have been there first. */
function preparePrivate(folder: string): void {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const { uid } = lstatSync(folder);
  if (!lstatSync(folder).isDirectory() || uid !== process.getuid?.()) {
    throw new Error(`Cannot use "${folder}": it belongs to another user; remove it, or use a data directory with a shorter path`);
  }
  chmodSync(folder, 0o700);
}
