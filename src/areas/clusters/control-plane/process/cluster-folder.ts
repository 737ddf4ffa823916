import { chmod, chown, lstat, mkdir, readdir, readFile, rm } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import type { ControlPlaneProvider } from '../../../../api/tenantry.dev/v1alpha1/cluster-names.ts';
import { replaceFile } from '../../../../lib/pki/private-file.ts';
import type { ProcessIdentity } from '../../../../lib/process-table.ts';

/** What is written down about a cluster, where its own processes cannot change it. */
export interface ClusterRecord {
  /** Absent: embedded. */
  provider?: ControlPlaneProvider;
  namespace: string;
  name: string;
  /** Part of the endpoint, so for life. */
  port: number;
  /** The number of the link to a network of its own. */
  link?: number;
  /** The address of this machine that is forwarded to it. */
  forwarded?: string;
  /** Where the workers' tunnels arrive. */
  tunnelPort?: number;
  /** Further ports that its programs have, each of them its own. */
  innerPorts?: readonly number[];
  /** The Kubernetes version that ran last. */
  version?: string;
  /** The OS user of its processes; absent: ours. */
  user?: number;
  /** Why it has no user of its own. */
  sharedUser?: string;
  /** It has answered at its port, so somebody may know it. */
  announced?: boolean;
  /** The token of the last restore that was done. */
  restored?: string;
  /** The process that was started last. */
  process?: ProcessIdentity;
}

const RECORD = /^([0-9a-f-]+)\.json$/;

/**
 * The files of all control planes on this machine:
 *
 *     <root>/records/<id>.json       written by us alone
 *     <root>/<id>/authorities.json   ours: who signs and who is trusted, once that was changed
 *     <root>/<id>/pki/               written by us, read by the cluster's user
 *     <root>/<id>/data/              the cluster's own: store, audit log, control socket
 *     <root>/<id>/log                what its process says
 *     <root>/backups/<id>/<name>     ours
 *
 * The cluster's user owns nothing that we write to, so no link that it makes leads us anywhere.
 */
export class ClusterFolders {
  readonly root: string;

  constructor(root: string) {
    this.root = resolve(root);
  }

  folder(id: string): string {
    return join(this.root, id);
  }

  pki(id: string): string {
    return join(this.root, id, 'pki');
  }

  authorities(id: string): string {
    return join(this.root, id, 'authorities.json');
  }

  data(id: string): string {
    return join(this.root, id, 'data');
  }

  log(id: string): string {
    return join(this.root, id, 'log');
  }

  backups(id: string): string {
    return join(this.root, 'backups', id);
  }

  async records(): Promise<Map<string, ClusterRecord>> {
    const names = await readdir(join(this.root, 'records')).catch(() => []);
    const records = new Map<string, ClusterRecord>();
    for (const name of names) {
      const id = RECORD.exec(name)?.[1];
      const record = id === undefined ? undefined : await this.record(id);
      if (id !== undefined && record !== undefined) records.set(id, record);
    }
    return records;
  }

  async record(id: string): Promise<ClusterRecord | undefined> {
    try {
      return JSON.parse(await readFile(this.#recordPath(id), 'utf8')) as ClusterRecord;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
      throw error;
    }
  }

  async write(id: string, record: ClusterRecord): Promise<void> {
    await mkdir(join(this.root, 'records'), { recursive: true, mode: 0o700 });
    await replaceFile(this.#recordPath(id), `${JSON.stringify(record)}\n`, 0o600);
  }

  /** Folders with the owners and modes that they must have. */
  async prepare(id: string, user: number | undefined): Promise<void> {
    const modes = user === undefined ? 0o700 : 0o750;
    await mkdir(this.pki(id), { recursive: true, mode: 0o700 });
    await mkdir(this.data(id), { recursive: true, mode: 0o700 });
    if (user === undefined) return;
    for (const folder of [this.folder(id), this.pki(id)]) {
      await chown(folder, process.getuid!(), user);
      await chmod(folder, modes);
    }
    await chown(this.data(id), user, user);
  }

  /** What we wrote into `pki` can be read by the cluster's user, and by nobody else. */
  async shareKeys(id: string, user: number | undefined): Promise<void> {
    if (user === undefined) return;
    for (const name of await readdir(this.pki(id))) {
      const path = join(this.pki(id), name);
      const { gid, mode } = await lstat(path);
      if (gid === user && (mode & 0o777) === 0o640) continue;
      await chown(path, process.getuid!(), user);
      await chmod(path, 0o640);
    }
  }

  /** The record goes last: until then the next try finds what is left. */
  async remove(id: string): Promise<void> {
    await rm(this.folder(id), { recursive: true, force: true });
    await rm(this.backups(id), { recursive: true, force: true });
    await rm(this.#recordPath(id), { force: true });
  }

  #recordPath(id: string): string {
    return join(this.root, 'records', `${id}.json`);
  }
}
