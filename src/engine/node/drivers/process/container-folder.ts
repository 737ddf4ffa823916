import { lstat, mkdir, readFile, readlink, rm, symlink, writeFile } from 'node:fs/promises';
import { chown, chmod } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { Mount } from '../driver.ts';
import { NETWORK_SETTINGS, SYSTEM_FOLDERS, SYSTEM_SETTINGS } from '../model/system-paths.ts';
import type { SystemPath } from './model/bubblewrap.ts';
import type { ContainerUser } from './model/container-user.ts';
import { environmentScript } from './model/environment-script.ts';
import { isWithin } from './model/visible-paths.ts';

/** What one container has on disk. */
export interface ContainerFolder {
  folder: string;
  /** A script for the inner shell; readable by nobody but the container's user. */
  environment: string;
  temporary: string;
  sharedMemory: string;
  /** Without a sandbox: links to the volumes, at the paths they would have. */
  root: string;
  /** What commands that are run in the container later need to know. */
  plan: string;
  /** There when it was ended for using too much memory. */
  memoryExceeded: string;
}

export function containerFolder(dir: string, id: string): ContainerFolder {
  const folder = join(dir, id);
  const at = (name: string) => join(folder, name);
  return {
    folder,
    environment: at('environment'),
    temporary: at('tmp'),
    sharedMemory: at('shm'),
    root: at('root'),
    plan: at('plan.json'),
    memoryExceeded: at('memory-exceeded'),
  };
}

export async function makeContainerFolder(
  place: ContainerFolder,
  env: Record<string, string>,
  user: ContainerUser | undefined,
): Promise<void> {
  await mkdir(place.folder, { recursive: true, mode: 0o711 });
  await Promise.all([
    writeFile(place.environment, environmentScript(env), { mode: 0o600 }),
    ...[place.temporary, place.sharedMemory].map(async (path) => {
      await mkdir(path, { recursive: true });
      await chmod(path, 0o1777);
    }),
  ]);
  if (user === undefined) return;
  await Promise.all([place.environment, place.temporary, place.sharedMemory].map((path) => chown(path, user.uid, user.gid)));
}

/** Two volumes may lie within each other: what would be inside another volume is found there, not linked into it. */
export async function linkVolumes(root: string, mounts: readonly Mount[]): Promise<void> {
  await mkdir(root, { recursive: true });
  const linked: string[] = [];
  for (const { source, target } of mounts.toSorted((a, b) => a.target.length - b.target.length)) {
    if (linked.some((folder) => isWithin(folder, target))) continue;
    const path = join(root, target);
    await mkdir(dirname(path), { recursive: true });
    await rm(path, { force: true });
    await symlink(source, path);
    linked.push(target);
  }
}

export async function removeContainerFolder({ folder }: ContainerFolder): Promise<void> {
  await rm(folder, { recursive: true, force: true });
}

export async function exists(path: string): Promise<boolean> {
  return lstat(path).then(
    () => true,
    () => false,
  );
}

export async function readPlan<T>({ plan }: ContainerFolder): Promise<T | undefined> {
  return readFile(plan, 'utf8').then(
    (text) => JSON.parse(text) as T,
    () => undefined,
  );
}

/**
 * What of the machine, and of the product, every container sees.
 * @param hidden never shown, even when it is inside of what is
 */
export async function systemPaths(programs: readonly string[], hidden: readonly string[]): Promise<SystemPath[]> {
  const found: SystemPath[] = [];
  for (const path of [...SYSTEM_FOLDERS, ...SYSTEM_SETTINGS, ...NETWORK_SETTINGS, ...programs]) {
    if (found.some((entry) => entry.kind === 'folder' && isWithin(entry.path, path))) continue;
    const info = await lstat(path).catch(() => undefined);
    if (info?.isSymbolicLink() && SYSTEM_FOLDERS.includes(path)) found.push({ kind: 'link', path, to: await readlink(path) });
    else if (info !== undefined && (await exists(path))) found.push({ kind: 'folder', path });
  }
  for (const path of hidden)
    if (found.some((entry) => entry.kind === 'folder' && isWithin(entry.path, path))) found.push({ kind: 'hidden', path });
  return found;
}
