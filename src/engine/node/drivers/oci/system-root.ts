import { chmod, lstat, mkdir, readlink, symlink } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { Mount } from '../driver.ts';
import { SYSTEM_FOLDERS, SYSTEM_SETTINGS } from '../model/system-paths.ts';
import { mountsBelow } from './mount-calls.ts';

const EMPTY_FOLDER = 'mnt';
const OWN_FOLDERS = ['etc', 'root', 'home', 'run', 'tmp', 'var', 'var/tmp', 'opt', EMPTY_FOLDER];

/** The root of built-in images: a bottom layer of folders and links, and what of the machine is shown in it, read-only. */
export interface SystemRoot {
  layer: string;
  mounts: Mount[];
  /** Where Node is. */
  programFolder: string;
}

export interface SystemRootContent {
  /** Files and folders of the product, shown at the paths they have on the machine; what is not there is left out. */
  programs: string[];
  /** Folders that are never shown, even when they are inside of what is: the data directory. */
  hidden: string[];
}

/** Can be made again over an old one. */
export async function makeSystemRoot(layer: string, { programs, hidden }: SystemRootContent): Promise<SystemRoot> {
  for (const folder of OWN_FOLDERS) await mkdir(join(layer, folder), { recursive: true });
  for (const folder of ['tmp', 'var/tmp']) await chmod(join(layer, folder), 0o1777);
  const mounts: Mount[] = [];
  for (const path of [...SYSTEM_FOLDERS, ...SYSTEM_SETTINGS]) {
    const kind = await kindOf(path);
    if (kind === 'link') await copyLink(path, layer);
    else if (kind === 'there') mounts.push(readOnly(path));
  }
  mounts.push(...(await mountedBelow(mounts.map(({ target }) => target))).map(readOnly));
  const shown = mounts.map(({ target }) => target);
  for (const program of programs)
    if (!shown.some((folder) => isWithin(program, folder)) && (await kindOf(program)) !== 'absent') mounts.push(readOnly(program));
  mounts.push(...coversOf(hidden, mounts, layer));
  return { layer, mounts, programFolder: dirname(process.execPath) };
}

/** A read-only view of a folder leaves what is mounted below it as it is: each of those needs a view of its own, the outer ones first. */
async function mountedBelow(folders: string[]): Promise<string[]> {
  const found = await Promise.all(folders.map(async (folder) => (await mountsBelow(folder)).reverse()));
  return [...new Set(found.flat())];
}

/** An empty folder in the place of each that is hidden. */
function coversOf(hidden: string[], mounts: Mount[], layer: string): Mount[] {
  const inView = hidden.filter((path) => mounts.some(({ target }) => isWithin(path, target)));
  return inView.map((target) => ({ source: join(layer, EMPTY_FOLDER), target, readOnly: true }));
}

function isWithin(path: string, folder: string): boolean {
  return path === folder || path.startsWith(`${folder}/`);
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
