import { randomBytes } from 'node:crypto';
import { readdir, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { ClusterFolders } from './cluster-folder.ts';
import { launch, type Launched } from './launch.ts';

const PREFIX = 'spare-';

interface Spare {
  folder: string;
  user: number | undefined;
  launched: Launched;
}

/**
 * A program that has loaded and waits, so that the next cluster does not have to wait for that. It has a folder and a user already; the
 * folder is renamed when it becomes a cluster's, which a process does not notice that uses only paths relative to it.
 */
export class SpareProcess {
  readonly #folders: ClusterFolders;
  readonly #program: { program: string; args: readonly string[] };
  #spare: Spare | undefined;

  constructor(folders: ClusterFolders, program: { program: string; args: readonly string[] }) {
    this.#folders = folders;
    this.#program = program;
  }

  /** Its user is taken. */
  get user(): number | undefined {
    return this.#spare?.user;
  }

  get isThere(): boolean {
    return this.#spare !== undefined && isWaiting(this.#spare.launched);
  }

  async prepare(user: number | undefined): Promise<void> {
    if (this.isThere) return;
    await this.drop();
    // What a crash left: its process ended with whoever started it.
    for (const name of await readdir(this.#folders.root).catch(() => [])) {
      if (name.startsWith(PREFIX)) await rm(join(this.#folders.root, name), { recursive: true, force: true });
    }
    const folder = PREFIX + randomBytes(6).toString('hex');
    await this.#folders.prepare(folder, user);
    const files = { folder: this.#folders.data(folder), logPath: this.#folders.log(folder) };
    this.#spare = { folder, user, launched: await launch({ ...this.#program, ...files, user, stdin: 'ignore' }) };
  }

  /** Gives it to a cluster, whose record names its user already. */
  async give(id: string): Promise<Launched | undefined> {
    const spare = this.#spare;
    if (!this.isThere || spare === undefined) return undefined;
    this.#spare = undefined;
    await rename(this.#folders.folder(spare.folder), this.#folders.folder(id));
    return spare.launched;
  }

  async drop(): Promise<void> {
    const spare = this.#spare;
    this.#spare = undefined;
    if (spare === undefined) return;
    await end(spare.launched);
    await rm(this.#folders.folder(spare.folder), { recursive: true, force: true });
  }
}

/** One that nobody talks to ends by itself. */
async function end(launched: Launched): Promise<void> {
  const { child } = launched;
  const ended = new Promise((resolve) => void child.once('exit', resolve));
  launched.release();
  child.ref();
  if (child.exitCode === null && child.signalCode === null) await ended;
}

function isWaiting({ child }: Launched): boolean {
  return child.exitCode === null && child.signalCode === null;
}
