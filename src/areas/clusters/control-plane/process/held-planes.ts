import { Backoff } from '../../../../lib/backoff.ts';
import type { Clock, Timer } from '../../../../lib/clock.ts';
import type { Log } from '../../../../lib/log.ts';
import type { WantedControlPlane } from '../control-planes.ts';
import { Allocation } from './allocation.ts';
import type { ClusterFolders, ClusterRecord } from './cluster-folder.ts';
import type { Launched } from './launch.ts';
import { whyNoOwnUsers } from './other-users.ts';
import type { PlaneAuthorities } from './plane-authorities.ts';
import type { PlaneKeys, PlaneKind } from './plane-kind.ts';
import { ServerProcess } from './server-process.ts';
import { SpareProcess } from './spare-process.ts';
import { Turns } from './turns.ts';

/** What is in memory of one cluster; all of it can be found again. */
export interface Held {
  record: ClusterRecord;
  server: ServerProcess;
  keys?: PlaneKeys;
  /** Who signs and is trusted; undefined until that is read, or made. */
  authorities?: PlaneAuthorities;
  /** When something about them is to be done by the clock, in milliseconds. */
  authoritiesDue: number;
  /** What the process that runs was started with. */
  edition?: string;
  /** A program that has loaded already, for the first start. */
  spare?: Launched;
  backoff: Backoff;
  /** When it may be started again, on the monotonic clock. */
  notBefore: number;
  /** The last one was too large; when another is tried, on the monotonic clock. */
  noBackupBefore?: number;
}

export const RESTART = { initialMs: 100, maxMs: 30_000, jitter: 0.2 };
const SPARE_AFTER_MS = 2000;
/** Whoever gives out ports, users and programs of a folder does it one after the other, whichever provider it is. */
const ALLOCATIONS = new Turns();

/** The control planes of one provider that there are, what is written down about each, and what a new one is given. */
export class HeldPlanes {
  readonly #kind: PlaneKind;
  readonly #folders: ClusterFolders;
  readonly #options: { clock: Clock; log: Log };
  readonly #held = new Map<string, Held>();
  readonly #spare: SpareProcess;
  #spareSoon: Timer | undefined;
  #sharedUser: Promise<string | undefined> | undefined;

  constructor(kind: PlaneKind, folders: ClusterFolders, options: { clock: Clock; log: Log }) {
    this.#kind = kind;
    this.#folders = folders;
    this.#options = options;
    this.#spare = new SpareProcess(folders, { program: kind.program, args: [] });
  }

  /** One that was held or found before. */
  known(id: string): Held | undefined {
    return this.#held.get(id);
  }

  /** What there is of the cluster, or a place for a new one. */
  async hold(wanted: WantedControlPlane): Promise<Held> {
    const found = await this.find(wanted.id);
    if (found) return found;
    // One after the other, so that no two get the same.
    return this.#allocating(async () => {
      const sharedUser = await this.#whyShared();
      const allocation = new Allocation(this.#folders.root, (await this.#folders.records()).values());
      const user = this.#spare.isThere ? this.#spare.user : sharedUser === undefined ? allocation.user() : undefined;
      const { namespace, name } = wanted;
      const first: ClusterRecord = { provider: this.#kind.provider, namespace, name, port: allocation.port(), user, sharedUser };
      const record = { ...first, ...this.#kind.allocate?.(allocation, first) };
      await this.#folders.write(wanted.id, record);
      const held = this.#remember(wanted.id, record);
      held.spare = await this.#spare.give(wanted.id);
      return held;
    });
  }

  /** Once nobody is waiting any more: another cluster may be wanted soon after this one. */
  prepareSpare(): void {
    if (!this.#kind.loadsAhead) return;
    this.#spareSoon?.cancel();
    this.#spareSoon = this.#options.clock.setTimer(SPARE_AFTER_MS, () => {
      this.#allocating(async () => {
        const records = await this.#folders.records();
        if (records.size === 0) return;
        const shared = (await this.#whyShared()) !== undefined;
        await this.#spare.prepare(shared ? undefined : new Allocation(this.#folders.root, records.values()).userAhead());
      }).catch((error: unknown) => this.#options.log.warn('cannot start a program ahead of time', { error }));
    });
  }

  #whyShared(): Promise<string | undefined> {
    return (this.#sharedUser ??= whyNoOwnUsers([...this.#kind.files, this.#kind.program, process.execPath]));
  }

  /** Of what this provider made, now or before. */
  async find(id: string): Promise<Held | undefined> {
    const held = this.#held.get(id);
    if (held) return held;
    const record = await this.#folders.record(id);
    // What another provider made is not ours to touch.
    return record && (record.provider ?? 'embedded') === this.#kind.provider ? this.#remember(id, record) : undefined;
  }

  #remember(id: string, record: ClusterRecord): Held {
    const server = new ServerProcess(this.#folders.data(id), this.#options.clock);
    const held: Held = { record, server, authoritiesDue: 0, backoff: new Backoff(RESTART), notBefore: 0 };
    this.#held.set(id, held);
    return held;
  }

  /** Others are given in place of those that somebody else on this machine has. */
  otherPorts(id: string, held: Held, refused: Set<number>): Promise<void> {
    return this.#allocating(async () => {
      const { port, tunnelPort = port, innerPorts = [] } = held.record;
      for (const taken of [port, tunnelPort, ...innerPorts]) refused.add(taken);
      const allocation = new Allocation(this.#folders.root, (await this.#folders.records()).values(), refused);
      const change = { port: allocation.port(), ...this.#kind.allocate?.(allocation, held.record) };
      await this.write(id, held, change);
    });
  }

  async write(id: string, held: Held, change: Partial<ClusterRecord>): Promise<void> {
    held.record = { ...held.record, ...change };
    await this.#folders.write(id, held.record);
  }

  /** It is gone. */
  async forget(id: string): Promise<void> {
    this.#held.delete(id);
    if ((await this.#folders.records()).size === 0) await this.#allocating(() => this.#spare.drop());
  }

  async close(): Promise<void> {
    this.#spareSoon?.cancel();
    await this.#allocating(() => this.#spare.drop());
    for (const { server } of this.#held.values()) server.letGo();
  }

  #allocating<T>(work: () => Promise<T>): Promise<T> {
    return ALLOCATIONS.take(this.#folders.root, work);
  }
}
