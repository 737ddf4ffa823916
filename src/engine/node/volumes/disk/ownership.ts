import { chmod, chown, lchown, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { openFolder, openHandle, type Handle } from './handles.ts';

const READ_WRITE = 0o660;
const READ_ONLY = 0o440;
const ENTER = 0o110;
const SET_GROUP = 0o2000;
const MODE = 0o7777;
/** One handle per level is open during the walk. */
const MAX_DEPTH = 500;

export interface GroupOwnership {
  group: number;
  readOnly: boolean;
  /** Leave everything as it is when the top of the volume already has the group. */
  onlyOnMismatch: boolean;
}

/** Gives a volume to the group of a Pod (fsGroup): its own group, readable and writable by it, inherited by what is made later. Needs root. */
export async function giveToGroup(folder: string, ownership: GroupOwnership): Promise<void> {
  const top = await openFolder(folder);
  try {
    if (ownership.onlyOnMismatch && fits(top, ownership)) return;
    await changeFolder(top, ownership, 0);
  } finally {
    await top.close();
  }
}

function fits({ stats }: Handle, { group, readOnly }: GroupOwnership): boolean {
  const wanted = (readOnly ? READ_ONLY : READ_WRITE) | ENTER | SET_GROUP;
  return stats.gid === group && (stats.mode & wanted) === wanted;
}

/** First what is below, so that a walk that was cut short is not taken for a complete one. */
async function changeFolder(folder: Handle, ownership: GroupOwnership, depth: number): Promise<void> {
  if (depth > MAX_DEPTH)
    throw new Error(
      `Cannot give the volume to group ${ownership.group}: its folders are nested too deep; use fsGroupChangePolicy OnRootMismatch`,
    );
  for (const name of await readdir(folder.path)) {
    const below = await changeEntry(join(folder.path, name), ownership);
    if (!below) continue;
    try {
      await changeFolder(below, ownership, depth + 1);
    } finally {
      await below.close();
    }
  }
  await change(folder, ownership);
}

/**
 * By handle: a container that shares the volume could put a link to a file of the machine in the place of its own.
 * @returns a folder, which is still to be done
 */
async function changeEntry(path: string, ownership: GroupOwnership): Promise<Handle | undefined> {
  // What has gone meanwhile needs no group.
  const entry = await openHandle(path).catch(() => undefined);
  if (!entry) return undefined;
  try {
    if (entry.stats.isDirectory()) return await openFolder(path).catch(() => undefined);
    if (entry.stats.isSymbolicLink()) await lchown(path, -1, ownership.group);
    else await change(entry, ownership);
    return undefined;
  } finally {
    await entry.close();
  }
}

async function change({ path, stats }: Handle, { group, readOnly }: GroupOwnership): Promise<void> {
  await chown(path, -1, group);
  const added = (readOnly ? READ_ONLY : READ_WRITE) | (stats.isDirectory() ? ENTER | SET_GROUP : 0);
  await chmod(path, (stats.mode | added) & MODE);
}
