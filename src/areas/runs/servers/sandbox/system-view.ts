import { access, lstat, readlink } from 'node:fs/promises';
import { isAbsolute, relative } from 'node:path';
import type { SystemEntry } from './sandbox-command.ts';

const FOLDERS = ['/usr', '/bin', '/sbin', '/lib', '/lib32', '/lib64', '/libx32'];
/** Names and tables that programs look up; nothing that may hold a secret. */
const SETTINGS = [
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
  'hosts',
  'resolv.conf',
].map((name) => `/etc/${name}`);

/**
 * What of the machine, or of the container that we are in, Runs see.
 * @param programs files that Runs need besides: an interpreter that is somewhere else
 */
export async function systemView(programs: readonly string[]): Promise<SystemEntry[]> {
  const found: SystemEntry[] = [];
  for (const path of [...FOLDERS, ...SETTINGS, ...programs]) {
    if (found.some((entry) => entry.kind === 'shown' && isWithin(entry.path, path))) continue;
    const info = await lstat(path).catch(() => undefined);
    if (info === undefined) continue;
    if (info.isSymbolicLink() && FOLDERS.includes(path)) found.push({ kind: 'link', path, to: await readlink(path) });
    else if (!info.isSymbolicLink() || (await leadsSomewhere(path))) found.push({ kind: 'shown', path });
  }
  return found;
}

async function leadsSomewhere(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  );
}

export function isWithin(folder: string, path: string): boolean {
  const rest = relative(folder, path);
  return rest !== '..' && !rest.startsWith('../') && !isAbsolute(rest);
}
