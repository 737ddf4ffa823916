import { chmod, lstat, mkdir, readlink, symlink } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { Mount } from '../driver.ts';

/** What programs of the machine need of it. Folders with secrets (/etc/ssl/private) are left out, and so is everything not named. */
const SYSTEM_FOLDERS = ['/usr', '/bin', '/sbin', '/lib', '/lib32', '/lib64', '/libx32'];
const SYSTEM_SETTINGS = [
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
  'ca-certificates.conf',
].map((name) => `/etc/${name}`);
const OWN_FOLDERS = ['etc', 'root', 'home', 'run', 'tmp', 'var', 'var/tmp', 'opt'];

/** The root of built-in images: a bottom layer of folders and links, and what of the machine is shown in it, read-only. */
export interface SystemRoot {
  layer: string;
  mounts: Mount[];
  /** Where Node is. */
  programFolder: string;
}

/** `programs`: files and folders of the product, shown at the paths they have on the machine. Can be made again over an old one. */
export async function makeSystemRoot(layer: string, programs: string[]): Promise<SystemRoot> {
  for (const folder of OWN_FOLDERS) await mkdir(join(layer, folder), { recursive: true });
  for (const folder of ['tmp', 'var/tmp']) await chmod(join(layer, folder), 0o1777);
  const mounts: Mount[] = [];
  for (const path of [...SYSTEM_FOLDERS, ...SYSTEM_SETTINGS]) {
    const kind = await kindOf(path);
    if (kind === 'link') await copyLink(path, layer);
    else if (kind === 'there') mounts.push(readOnly(path));
  }
  const shown = mounts.map(({ target }) => target);
  for (const program of programs) if (!shown.some((folder) => program.startsWith(`${folder}/`))) mounts.push(readOnly(program));
  return { layer, mounts, programFolder: dirname(process.execPath) };
}

function readOnly(path: string): Mount {
  return { source: path, target: path, readOnly: true };
}

async function kindOf(path: string): Promise<'link' | 'there' | 'absent'> {
  const info = await lstat(path).catch(() => undefined);
  if (!info) return 'absent';
  return info.isSymbolicLink() ? 'link' : 'there';
}

/** `/bin -> usr/bin` stays a link: what it leads to is shown as well. */
async function copyLink(path: string, layer: string): Promise<void> {
  await mkdir(dirname(join(layer, path)), { recursive: true });
  await symlink(await readlink(path), join(layer, path)).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'EEXIST') throw error;
  });
}
