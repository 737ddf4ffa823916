import { execFile } from 'node:child_process';
import { mkdirSync, rmSync } from 'node:fs';
import { chmod, chown, lchown, lstat, mkdir, readdir, rename, rm } from 'node:fs/promises';
import { join, relative, sep } from 'node:path';
import { promisify } from 'node:util';

/** Beside the folders of Runs, on the same file system: moving a folder there and back costs nothing. */
const SLOTS = '.slots';
/** More than that is left to a program that goes deep without tiring. */
const FEW = 64;

export interface Owner {
  uid: number;
  gid: number;
}

/** The folders that sandboxes show to their Runs. A Run's own folder is moved into one before it starts and back when all of it has ended. */
export class RunFolders {
  readonly #workspace: string;
  readonly #slots: string;
  readonly #changesOwner: boolean;

  /** @param changesOwner whether Runs are users of their own, to whom their files are given */
  constructor(workspace: string, changesOwner: boolean) {
    this.#workspace = workspace;
    this.#changesOwner = changesOwner;
    this.#slots = join(workspace, SLOTS);
  }

  /** Where what only we may read can be kept. */
  get slots(): string {
    return this.#slots;
  }

  /** Makes the place for slots; what a server before us left in its own is given back. */
  async open(): Promise<void> {
    await mkdir(this.#slots, { recursive: true });
    await chmod(this.#slots, 0o700);
    for (const slot of await readdir(this.#slots, { withFileTypes: true })) {
      if (!slot.isDirectory() || !/^\d+$/.test(slot.name)) continue;
      const folder = join(this.#slots, slot.name);
      const owner = await lstat(folder);
      for (const name of await readdir(folder)) await this.#back(folder, name, owner);
      await rm(folder, { recursive: true, force: true });
    }
  }

  make(number: number): string {
    const folder = join(this.#slots, String(number));
    mkdirSync(folder, { mode: 0o755 });
    return folder;
  }

  /** Of a slot that no Run has used. */
  removeUnused(folder: string): void {
    rmSync(folder, { recursive: true, force: true });
  }

  /** The name of the Run's folder; undefined when the working directory is not in one. */
  nameOf(workingDir: string): string | undefined {
    const [name] = relative(this.#workspace, workingDir).split(sep);
    return name === '' || name === '..' || name === SLOTS ? undefined : name;
  }

  /** @param user whom the Run's files belong to from now on; undefined: to whom they do already */
  async take(name: string, slotFolder: string, user: Owner | undefined): Promise<void> {
    const folder = join(this.#workspace, name);
    const before = await lstat(folder);
    if (!before.isDirectory()) throw new Error(`Cannot start in "${folder}": it is not a folder; prepare it again`);
    if (user !== undefined) {
      // Remembered there, in case that we are not the ones who give it back.
      await chown(slotFolder, before.uid, before.gid);
      await giveTo(folder, user);
    }
    await rename(folder, join(slotFolder, name));
  }

  /** When nothing of the Run is left that could change what we look at. */
  async giveBack(name: string, slotFolder: string): Promise<void> {
    await this.#back(slotFolder, name, await lstat(slotFolder));
    await rm(slotFolder, { recursive: true, force: true });
  }

  /** What is no folder any more is not given back: whoever reads in it would be led elsewhere. */
  async #back(slotFolder: string, name: string, owner: Owner): Promise<void> {
    const folder = join(slotFolder, name);
    const info = await lstat(folder).catch(() => undefined);
    const place = join(this.#workspace, name);
    if (info?.isDirectory()) {
      if (this.#changesOwner) await giveTo(folder, owner);
      // One that was made anew meanwhile, for the next attempt, stays.
      await rename(folder, place).catch((error: NodeJS.ErrnoException) => {
        if (error.code !== 'ENOTEMPTY' && error.code !== 'EEXIST') throw error;
      });
      return;
    }
    await rm(folder, { force: true });
    await mkdir(place, { recursive: true });
    if (this.#changesOwner) await chown(place, owner.uid, owner.gid);
  }
}

/** A folder and what is in it; links themselves, never where they lead. */
async function giveTo(folder: string, { uid, gid }: Owner): Promise<void> {
  const entries = await readdir(folder, { withFileTypes: true });
  if (entries.length > FEW || entries.some((entry) => entry.isDirectory())) {
    const run = promisify(execFile);
    await run('chown', ['-R', '-h', '-P', `${uid}:${gid}`, '--', folder]);
    // A folder that its owner cannot enter could not be removed.
    await run('chmod', ['-R', 'u+rwX', '--', folder]);
    return;
  }
  await Promise.all([lchown(folder, uid, gid), ...entries.map(({ name }) => lchown(join(folder, name), uid, gid))]);
  await chmod(folder, 0o755);
}
