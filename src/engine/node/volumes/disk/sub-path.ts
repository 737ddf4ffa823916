import { chmod, lstat, mkdir, realpath, rm, stat, writeFile } from 'node:fs/promises';
import { basename, dirname, join, relative } from 'node:path';
import { CAN_WALK_BY_HANDLE, errorCode, openHandle, type Handle } from './handles.ts';

export interface OpenedPath extends Handle {
  /** Where it is, without links. */
  real: string;
}

/**
 * Finds a path inside a volume and makes what is missing of it. Containers write to volumes, so every part of the path may turn into a
 * symbolic link to the machine's files between two looks: links are resolved once, must stay in the volume, and the result is walked part
 * by part by handles that no link can divert. The caller closes the handle.
 */
export async function openSubPath(volume: string, subPath: string): Promise<OpenedPath> {
  const base = await realpath(volume);
  const { mode } = await stat(base);
  const { existing, missing } = await existingPart(join(base, subPath));
  const present = relative(base, within(base, existing)).split('/').filter(Boolean);
  const parts = [
    ...present.map((name) => ({ name, mode: undefined })),
    // Made with the rights of the volume, so that whoever may write to that may write here.
    ...missing.map((name) => ({ name, mode: mode & 0o7777 })),
  ];
  const open = CAN_WALK_BY_HANDLE ? openHandle : openByPath;
  let path = base;
  let current = await open(base);
  for (const { name, mode: create } of parts) {
    path = join(path, name);
    const next = await stepFrom(current, name, create, open);
    if (next.stats.isSymbolicLink()) {
      await next.close();
      throw new Error(`unexpected symlink found ${path}`);
    }
    current = next;
  }
  return { ...current, real: path };
}

/** The longest part of the path that is there, links resolved, and what would have to be made. */
async function existingPart(wanted: string): Promise<{ existing: string; missing: string[] }> {
  const missing: string[] = [];
  for (let path = wanted; ; path = dirname(path)) {
    try {
      return { existing: await realpath(path), missing };
    } catch (error) {
      if (errorCode(error) !== 'ENOENT') throw error;
      missing.unshift(basename(path));
    }
  }
}

function within(base: string, path: string): string {
  if (path === base || path.startsWith(base === '/' ? '/' : `${base}/`)) return path;
  throw new Error(`subpath "${path}" not within volume path "${base}"`);
}

type Open = (path: string) => Promise<Handle>;

async function stepFrom(folder: Handle, name: string, create: number | undefined, open: Open): Promise<Handle> {
  try {
    return await step(join(folder.path, name), create, open);
  } finally {
    await folder.close();
  }
}

/** One part further; `create` is the mode of a folder to make. */
async function step(path: string, create: number | undefined, open: Open): Promise<Handle> {
  if (create === undefined) return open(path);
  await mkdir(path, { mode: create });
  const made = await open(path);
  // Our umask took some of the mode away.
  if (made.stats.isDirectory()) await chmod(made.path, create);
  return made;
}

/** Where there is no /proc: only a look before, which a quick container can outrun. */
async function openByPath(path: string): Promise<Handle> {
  return { path, fd: -1, stats: await lstat(path), close: () => Promise.resolve() };
}

/** Something of the same sort for a bind mount to cover. */
export async function makeBindTarget(target: string, isFolder: boolean): Promise<void> {
  await mkdir(dirname(target), { recursive: true, mode: 0o750 });
  const present = await stat(target).catch(() => undefined);
  if (present && present.isDirectory() !== isFolder) await rm(target, { recursive: true });
  if (isFolder) await mkdir(target, { recursive: true, mode: 0o750 });
  else if (!present?.isFile()) await writeFile(target, '', { mode: 0o640 });
}
