import { access, copyFile, lstat, mkdir, readdir, readlink, rm, symlink } from 'node:fs/promises';
import { dirname, isAbsolute, join, relative } from 'node:path';
import type { SystemEntry } from './sandbox-command.ts';

const FOLDERS = ['/usr', '/bin', '/sbin', '/lib', '/lib32', '/lib64', '/libx32'];
/** Names and tables that programs look up; nothing that may hold a secret. */
const SETTINGS = [
  'passwd',
  'group',
  'nsswitch.conf',
  'ld.so.cache',
  'ld.so.conf',
  'localtime',
  'services',
  'protocols',
  'mime.types',
  'ssl/openssl.cnf',
  'hosts',
  'resolv.conf',
];
const FOLDERS_OF_LINKS_AND_FILES = ['alternatives', 'ld.so.conf.d'];
/** Too much to copy. */
const LARGE_SETTINGS = ['ssl/certs', 'pki/tls/certs', 'pki/ca-trust/extracted'];

/**
 * What of the machine, or of the container that we are in, Runs see. Their /etc is a copy made once: every mount less makes each sandbox
 * cheaper, and a view of each file would be half of its cost.
 *
 * @param etc where the copy goes
 * @param programs files that Runs need besides: an interpreter that is somewhere else
 */
export async function systemView(etc: string, programs: readonly string[]): Promise<SystemEntry[]> {
  const found: SystemEntry[] = [];
  const add = async (path: string) => {
    if (found.some((entry) => entry.kind === 'shown' && isWithin(entry.path, path))) return;
    const info = await lstat(path).catch(() => undefined);
    if (info === undefined) return;
    if (info.isSymbolicLink() && FOLDERS.includes(path)) found.push({ kind: 'link', path, to: await readlink(path) });
    else if (await isThere(path)) found.push({ kind: 'shown', path });
  };
  for (const path of FOLDERS) await add(path);
  await copySettings(etc);
  const large = [];
  for (const name of LARGE_SETTINGS) if (await isThere(join('/etc', name))) large.push(name);
  for (const name of large) await mkdir(join(etc, name), { recursive: true });
  found.push(
    { kind: 'shown', path: '/etc', source: etc },
    ...large.map((name): SystemEntry => ({ kind: 'shown', path: join('/etc', name) })),
  );
  for (const path of programs) await add(path);
  return found;
}

async function copySettings(etc: string): Promise<void> {
  await rm(etc, { recursive: true, force: true });
  await mkdir(etc, { mode: 0o755 });
  for (const name of SETTINGS) await copy(join('/etc', name), join(etc, name));
  for (const folder of FOLDERS_OF_LINKS_AND_FILES) {
    const names = await readdir(join('/etc', folder)).catch(() => []);
    await Promise.all(names.map((name) => copy(join('/etc', folder, name), join(etc, folder, name))));
  }
}

/** Links lead to the same place from there; those out of /etc are read now, because there may be nothing at their end later. */
async function copy(path: string, target: string): Promise<void> {
  if (!(await isThere(path))) return;
  await mkdir(dirname(target), { recursive: true });
  const info = await lstat(path);
  const leadsTo = info.isSymbolicLink() ? await readlink(path) : undefined;
  if (leadsTo?.startsWith('/usr/')) await symlink(leadsTo, target);
  else await copyFile(path, target);
}

function isThere(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  );
}

export function isWithin(folder: string, path: string): boolean {
  const rest = relative(folder, path);
  return rest !== '..' && !rest.startsWith('../') && !isAbsolute(rest);
}
