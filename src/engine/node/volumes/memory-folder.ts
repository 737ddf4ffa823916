import { mkdir, readdir, rmdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { Log } from '../../../lib/log.ts';
import { isMountPoint } from './disk/mount-table.ts';
import { removeTree } from './disk/remove-tree.ts';

/**
 * Where the secrets of Pods stand: one file system in memory for all of them, so that they never reach a disk. It is mounted for the first
 * Pod and unmounted after the last one. Without the right to mount, the folder of the Pod on disk takes its place.
 */
export class MemoryFolder {
  readonly path: string;
  #log: Log;
  #canMount: boolean;
  #mounted = false;
  #users = new Set<string>();
  #turn: Promise<unknown> = Promise.resolve();

  constructor(options: { path: string; canMount: boolean; log: Log }) {
    this.path = options.path;
    this.#canMount = options.canMount;
    this.#log = options.log;
  }

  /** Undefined when there is no such file system. */
  folderOf(podUid: string): Promise<string | undefined> {
    return this.#inTurn(async () => {
      this.#users.add(podUid);
      if (!this.#mounted) await this.#mount();
      return this.#mounted ? join(this.path, podUid) : undefined;
    });
  }

  release(podUid: string): Promise<void> {
    return this.#inTurn(async () => {
      this.#users.delete(podUid);
      await removeTree(join(this.path, podUid));
      if (this.#users.size === 0) await this.#unmountEmpty();
    });
  }

  /** Unmounts what an agent that was killed left behind, if no Pod needs it. */
  tidy(): Promise<void> {
    return this.#inTurn(async () => {
      if (this.#users.size === 0) await this.#unmountEmpty();
    });
  }

  /** The Pods that have something here, whoever put it there. */
  async podUids(): Promise<string[]> {
    return readdir(this.path).catch(() => []);
  }

  async #mount(): Promise<void> {
    if (!this.#canMount) return;
    await mkdir(this.path, { recursive: true, mode: 0o700 });
    try {
      if (!(await isMountPoint(this.path))) (await import('./disk/mounts.ts')).mountTmpfs(this.path, { mode: '0700' });
      this.#mounted = true;
    } catch (error) {
      this.#canMount = false;
      this.#log.warn('secrets of Pods are kept on disk', { error });
    }
  }

  async #unmountEmpty(): Promise<void> {
    const left = await this.podUids();
    if (left.length > 0) return;
    if (this.#canMount && (await isMountPoint(this.path))) await (await import('./disk/mounts.ts')).unmountUnder([this.path]);
    this.#mounted = false;
    await rmdir(this.path).catch(() => {});
  }

  #inTurn<T>(work: () => Promise<T>): Promise<T> {
    const done = this.#turn.then(work);
    this.#turn = done.catch(() => {});
    return done;
  }
}
