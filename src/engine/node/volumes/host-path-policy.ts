import { lstat, mkdir, open, realpath, stat } from 'node:fs/promises';
import type { Stats } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { errorCode } from './disk/handles.ts';

/** Folders of the machine that Pods may use, with all below them; none by default. */
export type HostPathPolicy = readonly string[];

/**
 * The path of the machine behind a hostPath volume, made and checked as its type says, without symbolic links.
 * @throws Error when the policy does not allow it or it is of another type
 */
export async function prepareHostPath(path: string, type: string, policy: HostPathPolicy): Promise<string> {
  if (path.split('/').includes('..')) throw new Error(`invalid HostPath \`${path}\`: must not contain '..'`);
  await checkAllowed(path, policy);
  await makeIfAsked(path, type);
  // What was made may have come to stand somewhere else than what was looked at.
  const real = await checkAllowed(path, policy);
  await checkType(path, type);
  return real;
}

/** Links are followed first: a link inside an allowed folder must not lead out of it. @returns the path without links */
async function checkAllowed(path: string, policy: HostPathPolicy): Promise<string> {
  const real = await resolved(path);
  for (const allowed of policy) {
    const folder = await resolved(allowed);
    if (real === folder || folder === '/' || real.startsWith(`${folder}/`)) return real;
  }
  const which = real === path ? '' : ` (which is "${real}")`;
  const state = policy.length === 0 ? 'this node lets Pods use none of its own folders' : `it is in none of ${policy.join(', ')}`;
  throw new Error(`Cannot mount hostPath "${path}"${which}: ${state}; start the node with --allow-host-path ${real}`);
}

/** The path without symbolic links, as far as it exists. */
async function resolved(path: string): Promise<string> {
  try {
    return await realpath(path);
  } catch (error) {
    if (errorCode(error) !== 'ENOENT' || path === '/') throw error;
    // A link that leads nowhere would be followed by whatever makes the file.
    if (await lstat(path).catch(() => undefined))
      throw new Error(`Cannot mount hostPath "${path}": it is a link to nothing; remove it`, { cause: error });
    return join(await resolved(dirname(path)), basename(path));
  }
}

async function makeIfAsked(path: string, type: string): Promise<void> {
  if (await stat(path).catch(() => undefined)) return;
  // Without a type container runtimes make a folder.
  if (type === 'DirectoryOrCreate' || type === '') await mkdir(path, { recursive: true, mode: 0o755 });
  else if (type === 'FileOrCreate') await (await open(path, 'a', 0o644)).close();
}

const TYPES: Record<string, { is: (stats: Stats) => boolean; what: string }> = {
  Directory: { is: (stats) => stats.isDirectory(), what: 'a directory' },
  DirectoryOrCreate: { is: (stats) => stats.isDirectory(), what: 'a directory' },
  File: { is: (stats) => stats.isFile(), what: 'a file' },
  FileOrCreate: { is: (stats) => stats.isFile(), what: 'a file' },
  Socket: { is: (stats) => stats.isSocket(), what: 'a socket file' },
  CharDevice: { is: (stats) => stats.isCharacterDevice(), what: 'a character device' },
  BlockDevice: { is: (stats) => stats.isBlockDevice(), what: 'a block device' },
};

async function checkType(path: string, type: string): Promise<void> {
  if (type === '') return;
  const wanted = TYPES[type];
  if (!wanted) throw new Error(`${type} is an invalid volume type`);
  const stats = await stat(path).catch(() => undefined);
  if (!stats || !wanted.is(stats)) throw new Error(`hostPath type check failed: ${path} is not ${wanted.what}`);
}
