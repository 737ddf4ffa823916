import { execFile } from 'node:child_process';
import { chmodSync, chownSync, lchownSync, lstatSync, mkdirSync, opendirSync, renameSync, type Stats } from 'node:fs';
import { chmod, chown, lstat, mkdir, readdir, rm, rmdir } from 'node:fs/promises';
import { join, relative, sep } from 'node:path';
import { promisify } from 'node:util';
import { DiscardedFolders } from '../../discarded-folders.ts';

/** Beside the folders of Runs, on the same file system: moving a folder there and back costs nothing. */
const SLOTS = '.slots';
/** More than that is left to a program that goes deep without tiring. */
const FEW = 64;
/** Its owner's, who can always enter and remove it. */
const OWNED_MODE = 0o755;

export interface Owner {
  uid: number;
  gid: number;
}

/**
 * The folders that sandboxes show to their Runs. A Run's own folder is moved into one before it starts and back when all of it has ended.
 * What costs a system call is done at once: handing it to a thread, and several threads to one folder, costs many times as much.
 */
export class RunFolders {
  readonly #workspace: string;
  readonly #slots: string;
  readonly #changesOwner: boolean;
  /** Whom the folders belong to that are in slots now. */
  readonly #owners = new Map<string, Owner>();
  readonly #discarded: DiscardedFolders;
  #made = 0;

  /** @param changesOwner whether Runs are users of their own, to whom their files are given */
  constructor(workspace: string, changesOwner: boolean) {
    this.#workspace = workspace;
    this.#changesOwner = changesOwner;
    this.#slots = join(workspace, SLOTS);
    this.#discarded = new DiscardedFolders(join(this.#slots, 'old'), removeSlot);
  }

  /** Where what only we may read can be kept. */
  get slots(): string {
    return this.#slots;
  }

  /** Makes the place for slots; what a server before us left in its own is given back. */
  async open(): Promise<void> {
    await mkdir(this.#slots, { recursive: true });
    await chmod(this.#slots, 0o700);
    await this.#discarded.empty();
    for (const slot of await readdir(this.#slots, { withFileTypes: true })) {
      if (!slot.isDirectory() || !/^\d+$/.test(slot.name)) continue;
      const folder = join(this.#slots, slot.name);
      const owner = await lstat(folder);
      for (const name of await readdir(folder)) await this.#back(folder, name, owner);
      await rm(folder, { recursive: true, force: true });
    }
  }

  /** Never one that a Run had before: it may have found a way to keep it open. */
  make(): string {
    const folder = join(this.#slots, String(this.#made++));
    mkdirSync(folder, { mode: 0o755 });
    return folder;
  }

  /** Of a slot that no Run has used. */
  removeUnused(folder: string): void {
    this.#discarded.discard(folder);
  }

  /** The name of the Run's folder; undefined when the working directory is not in one. */
  nameOf(workingDir: string): string | undefined {
    const [name] = relative(this.#workspace, workingDir).split(sep);
    return name === '' || name === '..' || name === SLOTS ? undefined : name;
  }

  /** @param user whom the Run's files belong to from now on; undefined: to whom they do already */
  async take(name: string, slotFolder: string, user: Owner | undefined): Promise<void> {
    const folder = join(this.#workspace, name);
    const before = lstatSync(folder);
    if (!before.isDirectory()) throw new Error(`Cannot start in "${folder}": it is not a folder; prepare it again`);
    if (user !== undefined) {
      // Remembered there, in case that we are not the ones who give it back.
      const isOurs = before.uid === process.getuid?.() && before.gid === process.getgid?.();
      if (!isOurs) chownSync(slotFolder, before.uid, before.gid);
      await giveTo(folder, user, before);
    }
    this.#owners.set(slotFolder, before);
    renameSync(folder, join(slotFolder, name));
  }

  /** When nothing of the Run is left that could change what we look at. */
  async giveBack(name: string, slotFolder: string): Promise<void> {
    await this.#back(slotFolder, name, this.#owners.get(slotFolder) ?? lstatSync(slotFolder));
    this.#owners.delete(slotFolder);
    this.#discarded.discard(slotFolder);
  }

  /** When nothing is done any more in the background. */
  close(): Promise<void> {
    return this.#discarded.empty();
  }

  /** What is no folder any more is not given back: whoever reads in it would be led elsewhere. */
  async #back(slotFolder: string, name: string, owner: Owner): Promise<void> {
    const folder = join(slotFolder, name);
    const info = lstatSync(folder, { throwIfNoEntry: false });
    const place = join(this.#workspace, name);
    if (info?.isDirectory()) {
      if (this.#changesOwner) await giveTo(folder, owner, info);
      // One that was made anew meanwhile, for the next attempt, stays.
      try {
        renameSync(folder, place);
      } catch (error) {
        const { code } = error as NodeJS.ErrnoException;
        if (code !== 'ENOTEMPTY' && code !== 'EEXIST') throw error;
      }
      return;
    }
    await rm(folder, { force: true });
    await mkdir(place, { recursive: true });
    if (this.#changesOwner) await chown(place, owner.uid, owner.gid);
  }
}

/** Most are empty. */
async function removeSlot(folder: string): Promise<void> {
  await rmdir(folder).catch(() => rm(folder, { recursive: true, force: true }));
}

/** A folder and what is in it; links themselves, never where they lead. */
async function giveTo(folder: string, { uid, gid }: Owner, before: Stats): Promise<void> {
  const files = fewFiles(folder);
  if (files === undefined) {
    const run = promisify(execFile);
    await run('chown', ['-R', '-h', '-P', `${uid}:${gid}`, '--', folder]);
    // A folder that its owner cannot enter could not be removed.
    await run('chmod', ['-R', 'u+rwX', '--', folder]);
    return;
  }
  for (const name of files) lchownSync(join(folder, name), uid, gid);
  lchownSync(folder, uid, gid);
  if ((before.mode & 0o7777) !== OWNED_MODE) chmodSync(folder, OWNED_MODE);
}

/** @returns undefined when there are many, or folders among them: however many there are, no more are looked at */
function fewFiles(folder: string): string[] | undefined {
  const entries = opendirSync(folder, { bufferSize: FEW + 1 });
  try {
    const names: string[] = [];
    for (let entry = entries.readSync(); entry !== null; entry = entries.readSync()) {
      if (entry.isDirectory() || names.length === FEW) return undefined;
      names.push(entry.name);
    }
    return names;
  } finally {
    entries.closeSync();
  }
}
