import { isAbsolute, join, relative } from 'node:path';
import type { Mount } from '../../driver.ts';

/** What of the machine a container sees, read-only. Folders that may hold secrets are left out, and so is everything not named. */
export const SYSTEM_FOLDERS = ['/usr', '/bin', '/sbin', '/lib', '/lib32', '/lib64', '/libx32'];

export const SYSTEM_SETTINGS = [
  'passwd',
  'group',
  'nsswitch.conf',
  'ld.so.cache',
  'ld.so.conf',
  'ld.so.conf.d',
  'alternatives',
  'localtime',
  'services',
  'protocols',
  'mime.types',
  'ssl/certs',
  'ssl/openssl.cnf',
  'pki/tls/certs',
  'pki/ca-trust/extracted',
  'resolv.conf',
  'hosts',
].map((name) => `/etc/${name}`);

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
