import { createHash } from 'node:crypto';
import { chmod, chown, lstat, mkdir, readdir, readFile, rename, rm, statfs, truncate, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { replaceFile } from '../../../../lib/pki/private-file.ts';
import type { ProcessIdentity } from '../../../../lib/process-table.ts';
import { runCommand } from '../../../../lib/run-command.ts';
import { MachineError } from '../machines.ts';
import { diskProblem, type DiskFile } from '../model/disk-room.ts';
import { freeUser } from '../model/free-user.ts';
import { FILES } from './backend.ts';

/** What is written down about a machine, where it cannot change it. */
export interface MachineRecord {
  id: string;
  cluster: string;
  provider: string;
  user: number;
  /** The edition of the image that it was last started with. */
  image?: string;
  process?: ProcessIdentity;
  /** Since when, in milliseconds. */
  started?: number;
}

const ID = /^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/;

/**
 * The files of all machines, whoever runs them:
 *
 *     <root>/records/<id>.json       written by us alone
 *     <root>/machines/<id>/          the machine's user's: its disk, its settings, its console
 *     <root>/images/<edition>/       read by all, written by none
 */
export class MachineFolders {
  readonly root: string;
  #turn: Promise<unknown> = Promise.resolve();

  constructor(root: string) {
    this.root = resolve(root);
  }

  folder(id: string): string {
    return join(this.root, 'machines', id);
  }

  get images(): string {
    return join(this.root, 'images');
  }

  get probes(): string {
    return join(this.root, 'probes.json');
  }

  /** Of a machine that is connected by being in it. Its name is short, and nobody else's on this machine. */
  namespace(id: string): string {
    return `ttm-${createHash('sha256').update(`${this.root}\0${id}`).digest('hex').slice(0, 12)}`;
  }

  async records(): Promise<MachineRecord[]> {
    const names = await readdir(join(this.root, 'records')).catch(() => []);
    const found = await Promise.all(names.filter((name) => name.endsWith('.json')).map((name) => this.record(name.slice(0, -5))));
    return found.filter((record) => record !== undefined);
  }

  async record(id: string): Promise<MachineRecord | undefined> {
    try {
      return JSON.parse(await readFile(this.#recordPath(id), 'utf8')) as MachineRecord;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
      throw error;
    }
  }

  async write(record: MachineRecord): Promise<void> {
    await replaceFile(this.#recordPath(record.id), `${JSON.stringify(record)}\n`, 0o600);
  }

  /** The record of a machine, made now if there is none; its user is nobody else's. */
  ensure(id: string, cluster: string, provider: string): Promise<MachineRecord> {
    if (!ID.test(id)) throw new Error(`Cannot make machine "${id}": an id has up to 63 small letters, digits and -; give it another one`);
    return this.#inTurn(async () => {
      const found = await this.record(id);
      if (found !== undefined) return found;
      await this.#prepareRoot();
      const user = freeUser(
        this.root,
        (await this.records()).map((other) => other.user),
      );
      if (user === undefined) throw new Error('Cannot make another machine: there is no user left for it; remove some first');
      const record = { id, cluster, provider, user };
      await this.write(record);
      return record;
    });
  }

  /** Its folder and the files in it, with owners and modes as they must be. The folder is ours until it is given away. */
  async prepare({ id, user }: MachineRecord, diskBytes: number, settings: Buffer): Promise<void> {
    const folder = this.folder(id);
    await mkdir(folder, { recursive: true, mode: 0o700 });
    // While we write into it, it is ours: no link that its user makes leads us anywhere.
    await chown(folder, process.getuid!(), process.getgid!());
    await this.#ensureDisk(join(folder, FILES.disk), user, diskBytes);
    await rm(join(folder, FILES.settings), { force: true });
    await writeFile(join(folder, FILES.settings), settings, { mode: 0o400, flag: 'wx' });
    await chown(join(folder, FILES.settings), user, user);
    await this.renewOutput(folder);
  }

  /** From now on the folder is its user's. */
  give({ id, user }: Pick<MachineRecord, 'id' | 'user'>): Promise<void> {
    return chown(this.folder(id), user, user);
  }

  /** What the processes of a machine write to: as long as one of them lives, it is open. */
  async renewOutput(folder: string): Promise<void> {
    const path = join(folder, FILES.output);
    await rm(path, { force: true });
    await runCommand('mkfifo', ['-m', '600', path]);
  }

  /** The record goes last: until then the next try finds what is left. */
  async remove(id: string): Promise<void> {
    await rm(this.folder(id), { recursive: true, force: true });
    await rm(this.#recordPath(id), { force: true });
  }

  /** A file with holes: what is read of them is zeros, never what somebody else had written there. What it may grow to is there for it. */
  async #ensureDisk(path: string, user: number, bytes: number): Promise<void> {
    const draft = `${path}.new`;
    const exists = await readdir(join(path, '..')).then((names) => names.includes(FILES.disk));
    if (exists) return;
    await this.#inTurn(async () => {
      await rm(draft, { force: true });
      const { bavail, bsize } = await statfs(this.root);
      const problem = diskProblem(bytes, bavail * bsize, await this.#disks());
      if (problem !== undefined) throw new MachineError(`Cannot make a disk for a worker: ${problem}`);
      await writeFile(draft, '', { mode: 0o600, flag: 'wx' });
      await truncate(draft, bytes);
    });
    await runCommand('mke2fs', ['-q', '-F', '-t', 'ext4', '-m', '0', '-E', 'root_owner=0:0', draft]);
    await chown(draft, user, user);
    await rename(draft, path);
  }

  /** All that there are, and those that are being made. */
  async #disks(): Promise<DiskFile[]> {
    const ids = await readdir(join(this.root, 'machines'));
    const paths = ids.flatMap((id) => [FILES.disk, `${FILES.disk}.new`].map((name) => join(this.folder(id), name)));
    const found = await Promise.all(paths.map((path) => lstat(path).catch(() => undefined)));
    return found.flatMap((stat) => (stat?.isFile() ? [{ bytes: stat.size, writtenBytes: stat.blocks * 512 }] : []));
  }

  #inTurn<Result>(work: () => Promise<Result>): Promise<Result> {
    const mine = this.#turn.then(work);
    this.#turn = mine.catch(() => {});
    return mine;
  }

  async #prepareRoot(): Promise<void> {
    await mkdir(join(this.root, 'records'), { recursive: true, mode: 0o700 });
    await mkdir(join(this.root, 'machines'), { recursive: true, mode: 0o711 });
    await mkdir(this.images, { recursive: true, mode: 0o755 });
    // Machines get from their folders to the image, and see nothing on the way.
    await Promise.all([chmod(this.root, 0o711), chmod(join(this.root, 'machines'), 0o711), chmod(this.images, 0o755)]);
  }

  #recordPath(id: string): string {
    return join(this.root, 'records', `${id}.json`);
  }
}
