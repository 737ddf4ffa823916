import { mkdir, open, rm, type FileHandle } from 'node:fs/promises';
import { join } from 'node:path';
import { MountError, mountCalls } from './mount-calls.ts';

/** Where the files of one container are, below its own folder. */
export function rootFolders(folder: string): { root: string; upper: string; work: string } {
  return { root: join(folder, 'root'), upper: join(folder, 'upper'), work: join(folder, 'work') };
}

/** Mounts layers (the lowest first) with a writable one on top. */
export async function mountRoot(folder: string, layers: string[]): Promise<string> {
  const { root, upper, work } = rootFolders(folder);
  for (const each of [root, upper, work]) await mkdir(each, { mode: 0o755 });
  const handles: FileHandle[] = [];
  // Descriptors in place of paths: options have to fit one page however many layers there are and whatever is in their names.
  const short = async (path: string): Promise<string> => {
    const handle = await open(path, 'r');
    handles.push(handle);
    return `/proc/self/fd/${handle.fd}`;
  };
  try {
    const lower: string[] = [];
    for (const layer of [...layers].reverse()) lower.push(await short(layer));
    await mountOverlay(root, `lowerdir=${lower.join(':')},upperdir=${await short(upper)},workdir=${await short(work)}`);
  } finally {
    await Promise.all(handles.map((handle) => handle.close()));
  }
  return root;
}

async function mountOverlay(target: string, options: string): Promise<void> {
  const { mount } = await mountCalls();
  try {
    // What a container writes into its root does not outlive it: nothing needs to wait for the disk.
    await mount({ source: 'overlay', target, type: 'overlay', data: `${options},volatile` });
  } catch (error) {
    if (!(error instanceof MountError) || error.code !== 'EINVAL') throw error;
    await mount({ source: 'overlay', target, type: 'overlay', data: options });
  }
}

/** Unmounts and removes a container's folder. Nothing is removed while something is still mounted below it. */
export async function removeRoot(folder: string): Promise<void> {
  const { unmount } = await mountCalls();
  await unmount(rootFolders(folder).root);
  await rm(folder, { recursive: true, force: true, maxRetries: 2 });
}
