import { chmod, mkdir, open, readdir, readFile, rm, rmdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Mount } from '../drivers/driver.ts';
import type { PodReference } from '../pod-reference.ts';

export interface NetworkFiles {
  hosts: string;
  resolvConf: string;
  hostname: string;
}

/** The longest message that a container can leave behind. */
const MAX_MESSAGE_BYTES = 4096;

/** What the agent keeps of a Pod on disk, besides its volumes. */
export interface PodFiles {
  logPath(pod: PodReference, container: string, attempt: number): string;
  /** The attempts that left a log, the newest first. */
  attempts(pod: PodReference, container: string): Promise<number[]>;
  /** Rotated files included. */
  removeLogs(pod: PodReference, container: string, attempt: number): Promise<void>;
  removeAllLogs(pod: PodReference): Promise<void>;
  /** Logs of Pods that are gone. */
  removeForeignLogs(live: ReadonlySet<string>): Promise<void>;
  /** The uids of Pods that something was set up for and not undone. */
  known(): Promise<string[]>;
  /** Says that the Pod has its sandbox, for an agent that comes after this one. */
  markSandbox(uid: string): Promise<void>;
  /** Whether the sandbox was made, and since the last start of the machine. */
  hasSandbox(uid: string): Promise<boolean>;
  writeNetworkFiles(uid: string, files: NetworkFiles): Promise<void>;
  networkMounts(uid: string, taken: ReadonlySet<string>): Mount[];
  /** An empty file for the container to write its last words to; writable for whoever it runs as. */
  terminationMount(uid: string, container: string, attempt: number, target: string): Promise<Mount>;
  terminationMessage(uid: string, container: string, attempt: number): Promise<string>;
  removeMessage(uid: string, container: string, attempt: number): Promise<void>;
  /** Only our own files: a volume that is still mounted below must not be emptied by this. */
  remove(uid: string): Promise<void>;
}

/** Small files in `pods/<uid>`, logs in `logs/<namespace>_<name>_<uid>`. */
export class PodFilesOnDisk implements PodFiles {
  #root: string;
  /** Changes with every start of the machine: what was set up before is gone. */
  #bootId: string;

  constructor(root: string, bootId: string) {
    this.#root = root;
    this.#bootId = bootId;
  }

  #logFolder({ namespace, name, uid }: PodReference, container: string): string {
    return join(this.#root, 'logs', `${namespace}_${name}_${uid}`, container);
  }

  logPath(pod: PodReference, container: string, attempt: number): string {
    return join(this.#logFolder(pod, container), `${attempt}.log`);
  }

  async attempts(pod: PodReference, container: string): Promise<number[]> {
    const files = await readdir(this.#logFolder(pod, container)).catch(() => []);
    const numbers = files.flatMap((file) => /^(\d+)\.log$/.exec(file)?.[1] ?? []).map(Number);
    return numbers.toSorted((a, b) => b - a);
  }

  async removeLogs(pod: PodReference, container: string, attempt: number): Promise<void> {
    const folder = this.#logFolder(pod, container);
    for (const file of await readdir(folder).catch(() => [])) {
      if (file.startsWith(`${attempt}.log`)) await rm(join(folder, file), { force: true });
    }
  }

  async removeAllLogs({ namespace, name, uid }: PodReference): Promise<void> {
    await rm(join(this.#root, 'logs', `${namespace}_${name}_${uid}`), { recursive: true, force: true });
  }

  async removeForeignLogs(live: ReadonlySet<string>): Promise<void> {
    const folder = join(this.#root, 'logs');
    for (const entry of await readdir(folder).catch(() => [])) {
      const uid = entry.slice(entry.lastIndexOf('_') + 1);
      if (!live.has(uid)) await rm(join(folder, entry), { recursive: true, force: true });
    }
  }

  async known(): Promise<string[]> {
    return readdir(join(this.#root, 'pods')).catch(() => []);
  }

  async markSandbox(uid: string): Promise<void> {
    await this.#write(join(this.#folder(uid), 'sandbox'), this.#bootId);
  }

  async hasSandbox(uid: string): Promise<boolean> {
    const text = await readFile(join(this.#folder(uid), 'sandbox'), 'utf8').catch(() => undefined);
    return text === this.#bootId;
  }

  async writeNetworkFiles(uid: string, files: NetworkFiles): Promise<void> {
    const folder = join(this.#folder(uid), 'etc');
    await mkdir(folder, { recursive: true });
    await Promise.all([
      this.#write(join(folder, 'hosts'), files.hosts),
      this.#write(join(folder, 'resolv.conf'), files.resolvConf),
      this.#write(join(folder, 'hostname'), `${files.hostname}\n`),
    ]);
  }

  networkMounts(uid: string, taken: ReadonlySet<string>): Mount[] {
    const folder = join(this.#folder(uid), 'etc');
    return ['hosts', 'resolv.conf', 'hostname']
      .filter((file) => !taken.has(`/etc/${file}`))
      .map((file) => ({ source: join(folder, file), target: `/etc/${file}`, readOnly: false }));
  }

  async terminationMount(uid: string, container: string, attempt: number, target: string): Promise<Mount> {
    const source = this.#messagePath(uid, container, attempt);
    await this.#write(source, '');
    await chmod(source, 0o666);
    return { source, target, readOnly: false };
  }

  async terminationMessage(uid: string, container: string, attempt: number): Promise<string> {
    const file = await open(this.#messagePath(uid, container, attempt), 'r').catch(() => undefined);
    if (!file) return '';
    try {
      const { size } = await file.stat();
      const buffer = Buffer.alloc(Math.min(size, MAX_MESSAGE_BYTES));
      const { bytesRead } = await file.read(buffer, 0, buffer.length, Math.max(0, size - MAX_MESSAGE_BYTES));
      return buffer.toString('utf8', 0, bytesRead);
    } finally {
      await file.close();
    }
  }

  async removeMessage(uid: string, container: string, attempt: number): Promise<void> {
    await rm(this.#messagePath(uid, container, attempt), { force: true });
  }

  async remove(uid: string): Promise<void> {
    const folder = this.#folder(uid);
    await Promise.all(['sandbox', 'etc', 'messages'].map((entry) => rm(join(folder, entry), { recursive: true, force: true })));
    await rmdir(folder).catch(() => {});
  }

  #folder(uid: string): string {
    return join(this.#root, 'pods', uid);
  }

  #messagePath(uid: string, container: string, attempt: number): string {
    return join(this.#folder(uid), 'messages', `${container}.${attempt}`);
  }

  async #write(path: string, text: string): Promise<void> {
    try {
      await writeFile(path, text, { mode: 0o644 });
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
      await mkdir(join(path, '..'), { recursive: true });
      await writeFile(path, text, { mode: 0o644 });
    }
  }
}
