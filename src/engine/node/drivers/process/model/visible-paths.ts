import { isAbsolute, join, relative } from 'node:path';
import type { Mount } from '../../driver.ts';

/** Where a path of the container is on the machine; undefined when the container does not see it. */
export type ToMachine = (path: string) => string | undefined;

/** Inside a sandbox: the mounts, and what of the machine is shown at its own place. */
export function insideSandbox(mounts: readonly Mount[], shown: readonly string[]): ToMachine {
  return (path) => throughMounts(mounts, path) ?? (shown.some((folder) => isWithin(folder, path)) ? path : undefined);
}

/** Without a sandbox: the machine itself, but for the volumes, which lie elsewhere. */
export function withoutSandbox(mounts: readonly Mount[]): ToMachine {
  return (path) => throughMounts(mounts, path) ?? path;
}

/** The innermost mount decides. */
function throughMounts(mounts: readonly Mount[], path: string): string | undefined {
  const [mount] = mounts.filter(({ target }) => isWithin(target, path)).toSorted((a, b) => b.target.length - a.target.length);
  return mount && join(mount.source, relative(mount.target, path));
}

export function isWithin(folder: string, path: string): boolean {
  const rest = relative(folder, path);
  return rest !== '..' && !rest.startsWith('../') && !isAbsolute(rest);
}
