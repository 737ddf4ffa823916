import { rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { Backoff } from '../../../../lib/backoff.ts';
import type { Clock, Timer } from '../../../../lib/clock.ts';
import { errorText, type Log } from '../../../../lib/log.ts';
import {
  ControlPlaneError,
  type Backup,
  type ControlPlanes,
  type RunningControlPlane,
  type WantedControlPlane,
} from '../control-planes.ts';
import { ensureAll, removeAll, sleepAll, type ControlPlaneResource } from '../resource-walk.ts';
import { freePort, freeUser } from './allocation.ts';
import { ClusterFolders, type ClusterRecord } from './cluster-folder.ts';
import { addEncryptionKeys, ensureClusterKeys, renewalOf, type ClusterKeys } from './cluster-keys.ts';
import { backupsIn, writeBackup } from './backup-files.ts';
import { askControl } from './control-socket.ts';
import { endProcess } from './end-process.ts';
import { whyNoOwnUsers } from './other-users.ts';
import type { Launched } from './launch.ts';
import { replaceObjects } from './replace-objects.ts';
import { ServerProcess } from './server-process.ts';
import { SpareProcess } from './spare-process.ts';

export interface EmbeddedOptions {
  /** The folder of all clusters. */
  root: string;
  /** The program of a control plane. */
  program: string;
  /** Of the product: a process of another version is replaced. */
  productVersion: string;
  /** Where endpoints listen. */
  address: string;
  /** Of the Service `kubernetes` inside. */
  serviceAddress: string;
  clock: Clock;
  log: Log;
}

/** What is in memory of one cluster; all of it can be found again. */
interface Held {
  record: ClusterRecord;
  server: ServerProcess;
  keys?: ClusterKeys;
  /** A program that has loaded already, for the first start. */
  spare?: Launched;
  backoff: Backoff;
  /** When it may be started again, on the monotonic clock. */
  notBefore: number;
}

const RESTART = { initialMs: 100, maxMs: 30_000, jitter: 0.2 };
const RENEWAL_CHECK_MS = 24 * 3600 * 1000;
const ANSWER_MS = 10_000;
const PORT_TRIES = 50;
const SPARE_AFTER_MS = 2000;
/** Whoever gives out ports, users and programs does it one after the other. */
const ALLOCATION = '';

/** Control planes that are instances of our own engine, each a process of its own on this machine. */
export class EmbeddedControlPlanes implements ControlPlanes {
  readonly provider = 'embedded';
  readonly #options: EmbeddedOptions;
  readonly #folders: ClusterFolders;
  readonly #held = new Map<string, Held>();
  readonly #turns = new Map<string, Promise<unknown>>();
  readonly #listeners = new Set<(id: string) => void>();
  #wanted = new Map<string, WantedControlPlane>();
  #sharedUser: Promise<string | undefined> | undefined;
  #renewal: Timer | undefined;
  readonly #program: { program: string; args: string[] };
  readonly #spare: SpareProcess;
  #spareSoon: Timer | undefined;

  constructor(options: EmbeddedOptions) {
    this.#options = options;
    this.#folders = new ClusterFolders(options.root);
    const { program, address, productVersion } = options;
    this.#program = { program, args: [`--address=${address}`, `--product-version=${productVersion}`] };
    this.#spare = new SpareProcess(this.#folders, this.#program);
  }

  run(wanted: WantedControlPlane): Promise<RunningControlPlane> {
    return this.#inTurn(wanted.id, async () => {
      const held = await this.#hold(wanted);
      const before = this.#wanted.get(wanted.id);
      this.#wanted.set(wanted.id, wanted);
      if (this.#isAsWanted(held, before, wanted)) return this.#running(held);
      if (!held.server.isLive) this.#checkBackoff(wanted, held);
      await this.#ensure(wanted, held);
      this.#renewal ??= this.#options.clock.setTimer(RENEWAL_CHECK_MS, () => this.#renewAll());
      return this.#running(held);
    });
  }

  sleep(id: string): Promise<void> {
    return this.#inTurn(id, async () => {
      this.#wanted.delete(id);
      const held = await this.#found(id);
      if (held) await sleepAll(this.#resources(undefined, id, held));
    });
  }

  remove(id: string): Promise<void> {
    return this.#inTurn(id, async () => {
      this.#wanted.delete(id);
      const held = await this.#found(id);
      if (held) await removeAll(this.#resources(undefined, id, held));
      this.#held.delete(id);
      if ((await this.#folders.records()).size === 0) await this.#inTurn(ALLOCATION, () => this.#spare.drop());
    });
  }

  backups(id: string): Promise<Backup[]> {
    return backupsIn(this.#folders.backups(id));
  }

  backup(id: string, name: string): Promise<Backup> {
    const archive = () => askControl(this.#folders.data(id), 'GET', '/backup', ANSWER_MS);
    return this.#inTurn(id, () => writeBackup(this.#folders.backups(id), name, archive));
  }

  async removeBackup(id: string, name: string): Promise<void> {
    await rm(join(this.#folders.backups(id), name), { force: true });
  }

  restore(wanted: WantedControlPlane, from: { id: string; backup: string }, token: string): Promise<void> {
    return this.#inTurn(wanted.id, async () => {
      const held = await this.#hold(wanted);
      if (held.record.restored === token) return;
      const source = join(this.#folders.backups(from.id), from.backup);
      if ((await stat(source).catch(() => undefined)) === undefined) {
        throw new ControlPlaneError('NoBackup', `there is no backup "${from.backup}"; \`tenantry cluster get\` shows those that are`);
      }
      const resources = this.#resources(wanted, wanted.id, held);
      await sleepAll(resources);
      await ensureAll(resources.filter(({ keptAsleep }) => keptAsleep));
      const { user } = held.record;
      const files = { folder: this.#folders.data(wanted.id), logPath: this.#folders.log(wanted.id) };
      await replaceObjects({ program: this.#options.program, user, ...files }, source, async (encryptionKeys) => {
        await addEncryptionKeys(this.#folders.pki(wanted.id), encryptionKeys);
        await this.#folders.shareKeys(wanted.id, user);
      });
      await this.#write(wanted.id, held, { restored: token });
    });
  }

  onChange(listener: (id: string) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  async close(): Promise<void> {
    this.#renewal?.cancel();
    this.#spareSoon?.cancel();
    await Promise.allSettled(this.#turns.values());
    await this.#spare.drop();
    for (const { server } of this.#held.values()) server.letGo();
  }

  /** In the order in which each needs those before it. The program starts to load while the keys are made. */
  #resources(wanted: WantedControlPlane | undefined, id: string, held: Held): ControlPlaneResource[] {
    const { server } = held;
    return [
      {
        name: 'files',
        keptAsleep: true,
        ensure: () => this.#folders.prepare(id, held.record.user),
        remove: () => this.#folders.remove(id),
      },
      {
        name: 'program',
        keptAsleep: false,
        ensure: () => (server.isLive ? Promise.resolve() : this.#loadProgram(id, held)),
        remove: () => this.#endProgram(id, held),
      },
      {
        name: 'keys',
        keptAsleep: true,
        ensure: () => this.#ensureKeys(wanted!, held),
        remove: () => Promise.resolve(),
      },
      {
        name: 'API server',
        keptAsleep: false,
        ensure: () => this.#answer(id, held),
        remove: () => Promise.resolve(),
      },
    ];
  }

  /** Asked for again, which happens with every change of anything: nothing is read or written. */
  #isAsWanted(held: Held, before: WantedControlPlane | undefined, wanted: WantedControlPlane): boolean {
    if (!held.server.isLive || held.keys === undefined || this.#options.clock.now() >= renewalOf(held.keys)) return false;
    return JSON.stringify(before) === JSON.stringify(wanted);
  }

  async #ensure(wanted: WantedControlPlane, held: Held): Promise<void> {
    const announced = held.record.announced === true;
    const refused = new Set<number>();
    for (;;) {
      try {
        await ensureAll(this.#resources(wanted, wanted.id, held));
        held.backoff.reset();
        if (!announced) {
          await this.#write(wanted.id, held, { announced: true });
          this.#prepareSpare();
        }
        return;
      } catch (error) {
        await endProcess(held.record.process);
        held.server.letGo();
        const isPortTaken = error instanceof ControlPlaneError && error.reason === 'PortTaken';
        if (isPortTaken && !announced && refused.size < PORT_TRIES) {
          refused.add(held.record.port);
          await this.#write(wanted.id, held, { port: await this.#newPort(refused) });
          continue;
        }
        throw this.#failed(wanted, held, error);
      }
    }
  }

  #failed(wanted: WantedControlPlane, held: Held, error: unknown): Error {
    const waitMs = held.backoff.next();
    held.notBefore = this.#options.clock.monotonic() + waitMs;
    if (error instanceof ControlPlaneError) return new ControlPlaneError(error.reason, error.message, { afterMs: waitMs, cause: error });
    const isFull = (error as NodeJS.ErrnoException).code === 'ENOSPC';
    const message = isFull ? 'the disk is full; free some space' : errorText(error);
    return new ControlPlaneError(isFull ? 'DiskFull' : 'StartFailed', `Cannot start the control plane of "${wanted.name}": ${message}`, {
      afterMs: waitMs,
      cause: error,
    });
  }

  #checkBackoff({ name }: WantedControlPlane, held: Held): void {
    const waitMs = held.notBefore - this.#options.clock.monotonic();
    if (waitMs <= 0) return;
    throw new ControlPlaneError('Restarting', `the control plane of "${name}" ended and is started again soon`, { afterMs: waitMs });
  }

  async #loadProgram(id: string, held: Held): Promise<void> {
    if (await held.server.adopt(held.record.process, this.#options.productVersion)) return;
    await endProcess(held.record.process);
    const { spare } = held;
    held.spare = undefined;
    await held.server.load({ ...this.#program, logPath: this.#folders.log(id), user: held.record.user }, spare);
    // Before it may do anything: whoever comes after a crash must find it.
    await this.#write(id, held, { process: held.server.identity });
  }

  async #endProgram(id: string, held: Held): Promise<void> {
    held.server.letGo();
    held.spare?.release();
    held.spare = undefined;
    await endProcess(held.record.process);
    held.backoff.reset();
    held.notBefore = 0;
    if (held.record.process !== undefined) await this.#write(id, held, { process: undefined });
  }

  async #ensureKeys(wanted: WantedControlPlane, held: Held): Promise<void> {
    const before = held.keys?.pki.serving.certificatePem;
    const { clock, address, serviceAddress } = this.#options;
    held.keys = await ensureClusterKeys(this.#folders.pki(wanted.id), wanted, { address, serviceAddress }, clock);
    await this.#folders.shareKeys(wanted.id, held.record.user);
    const isNew = held.server.isLive && before !== held.keys.pki.serving.certificatePem;
    if (isNew) (await askControl(this.#folders.data(wanted.id), 'POST', '/certificates', ANSWER_MS)).resume();
  }

  async #answer(id: string, held: Held): Promise<void> {
    await held.server.answer(
      held.record.port,
      (diedAfterMs) => {
        // One that ran well is started again at once.
        if (diedAfterMs > RESTART.maxMs) held.backoff.reset();
        held.notBefore = this.#options.clock.monotonic() + (diedAfterMs > RESTART.maxMs ? 0 : held.backoff.next());
        this.#options.log.warn('the control plane of a tenant cluster ended, will be started again', {
          cluster: `${held.record.namespace}/${held.record.name}`,
        });
        this.#tell(id);
      },
      () => this.#tell(id),
    );
  }

  #running({ keys, record, server }: Held): RunningControlPlane {
    const { address } = this.#options;
    const { pki, owner, ownerGroup, expire } = keys!;
    return {
      endpoint: `https://${address.includes(':') ? `[${address}]` : address}:${record.port}`,
      authorityPem: pki.authority.certificatePem,
      owner,
      ownerGroup,
      platform: pki.admin,
      certificatesExpire: expire,
      sharedUser: record.sharedUser,
      trouble: server.diskFull
        ? { reason: 'DiskFull', message: 'its disk is full: reads work, writes do not; free some space or raise its limit' }
        : undefined,
    };
  }

  /** Certificates end whether or not anything happens, and no watch tells when. */
  #renewAll(): void {
    const { clock } = this.#options;
    this.#renewal = clock.setTimer(RENEWAL_CHECK_MS, () => this.#renewAll());
    for (const [id, wanted] of this.#wanted) {
      const held = this.#held.get(id);
      if (!held?.server.isLive || held.keys === undefined || clock.now() < renewalOf(held.keys)) continue;
      const before = held.keys.expire;
      this.#inTurn(id, () => this.#ensureKeys(wanted, held)).then(
        () => held.keys?.expire !== before && this.#tell(id),
        (error: unknown) => this.#options.log.error('cannot renew the certificates of a tenant cluster', { cluster: wanted.name, error }),
      );
    }
  }

  /** What there is of the cluster, or a place for a new one. */
  async #hold(wanted: WantedControlPlane): Promise<Held> {
    const found = await this.#found(wanted.id);
    if (found) return found;
    // One after the other, so that no two get the same.
    return this.#inTurn(ALLOCATION, async () => {
      const sharedUser = await this.#whyShared();
      const records = [...(await this.#folders.records()).values()];
      const user = this.#spare.isThere ? this.#spare.user : this.#freeUser(sharedUser, records);
      const { namespace, name } = wanted;
      const record = { namespace, name, port: await this.#newPort(new Set()), user, sharedUser };
      await this.#folders.write(wanted.id, record);
      const held = this.#remember(wanted.id, record);
      held.spare = await this.#spare.give(wanted.id);
      return held;
    });
  }

  /** Once nobody is waiting any more: another cluster may be wanted soon after this one. */
  #prepareSpare(): void {
    this.#spareSoon?.cancel();
    this.#spareSoon = this.#options.clock.setTimer(SPARE_AFTER_MS, () => {
      this.#inTurn(ALLOCATION, async () => {
        const records = [...(await this.#folders.records()).values()];
        if (records.length > 0) await this.#spare.prepare(this.#freeUser(await this.#whyShared(), records));
      }).catch((error: unknown) => this.#options.log.warn('cannot start a program ahead of time', { error }));
    });
  }

  #whyShared(): Promise<string | undefined> {
    return (this.#sharedUser ??= whyNoOwnUsers([this.#options.program, process.execPath]));
  }

  #freeUser(sharedUser: string | undefined, records: readonly ClusterRecord[]): number | undefined {
    return sharedUser === undefined ? freeUser(this.#folders.root, records) : undefined;
  }

  async #found(id: string): Promise<Held | undefined> {
    const held = this.#held.get(id);
    if (held) return held;
    const record = await this.#folders.record(id);
    return record && this.#remember(id, record);
  }

  #remember(id: string, record: ClusterRecord): Held {
    const server = new ServerProcess(this.#folders.data(id), this.#options.clock);
    const held: Held = { record, server, backoff: new Backoff(RESTART), notBefore: 0 };
    this.#held.set(id, held);
    return held;
  }

  async #newPort(refused: ReadonlySet<number>): Promise<number> {
    const port = freePort(this.#folders.root, (await this.#folders.records()).values(), refused);
    if (port === undefined) throw new ControlPlaneError('PortTaken', 'there is no port left for another cluster; delete one');
    return port;
  }

  async #write(id: string, held: Held, change: Partial<ClusterRecord>): Promise<void> {
    held.record = { ...held.record, ...change };
    await this.#folders.write(id, held.record);
  }

  #tell(id: string): void {
    for (const listener of this.#listeners) listener(id);
  }

  async #inTurn<T>(id: string, work: () => Promise<T>): Promise<T> {
    const before = this.#turns.get(id);
    const turn = (async () => {
      await before?.catch(() => {});
      return work();
    })();
    this.#turns.set(id, turn);
    try {
      return await turn;
    } finally {
      if (this.#turns.get(id) === turn) this.#turns.delete(id);
    }
  }
}
