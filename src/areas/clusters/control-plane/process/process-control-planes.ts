import { createHash } from 'node:crypto';
import { rm, stat } from 'node:fs/promises';
import { isIP } from 'node:net';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import type { ControlPlaneProvider } from '../../../../api/tenantry.dev/v1alpha1/cluster-names.ts';
import type { Clock, Timer } from '../../../../lib/clock.ts';
import { errorText, type Log } from '../../../../lib/log.ts';
import { RENEWAL_WINDOW_MS } from '../../../../lib/pki/ensure-pki.ts';
import {
  ControlPlaneError,
  type Backup,
  type ControlPlanes,
  type RunningControlPlane,
  type WantedControlPlane,
} from '../control-planes.ts';
import { ensureAll, removeAll, sleepAll, type ControlPlaneResource } from '../resource-walk.ts';
import { ClusterFolders } from './cluster-folder.ts';
import { backupsIn, tooLarge, writeBackup } from './backup-files.ts';
import { askControl } from './control-socket.ts';
import { PlaneAuthorities, type AuthorityPlaces } from './plane-authorities.ts';
import { NO_WISH } from './model/rotation-step.ts';
import { endProcess } from './end-process.ts';
import { HeldPlanes, RESTART, type Held } from './held-planes.ts';
import type { GoMessage } from './launch.ts';
import { planeLimits, type PlaneGroups, type PlaneLimits } from './plane-groups.ts';
import type { PlaneKind, PlanePlace } from './plane-kind.ts';
import { Slots } from './slots.ts';
import { Turns } from './turns.ts';

export interface ProcessPlaneOptions {
  /** The folder of all clusters, of whatever provider. */
  root: string;
  /** Where endpoints listen that have no address of their own. */
  address: string;
  /** Who limits what each may use; absent: nobody. */
  groups?: PlaneGroups;
  /** More than this is no backup: what a control plane sends is its tenant's to say. 4 GiB by default. */
  maxBackupBytes?: number;
  clock: Clock;
  log: Log;
}

const RENEWAL_CHECK_MS = 24 * 3600 * 1000;
const ANSWER_MS = 10_000;
const PORTS_REFUSED = 200;
/** Of all providers: a start takes a processor for as long as it lasts, and there are not more of them because more are wanted. */
const STARTS = new Slots(8);
const MAX_BACKUP_BYTES = 4 * 1024 ** 3;

/** Control planes that are processes of their own on this machine, one for each or one that looks after several programs. */
export class ProcessControlPlanes implements ControlPlanes {
  readonly provider: ControlPlaneProvider;
  readonly #kind: PlaneKind;
  readonly #options: ProcessPlaneOptions;
  readonly #folders: ClusterFolders;
  readonly #planes: HeldPlanes;
  readonly #turns = new Turns();
  readonly #listeners = new Set<(id: string) => void>();
  #wanted = new Map<string, WantedControlPlane>();
  #renewal: Timer | undefined;
  readonly #program: { program: string; args: readonly string[] };

  constructor(kind: PlaneKind, options: ProcessPlaneOptions) {
    this.#kind = kind;
    this.provider = kind.provider;
    this.#options = options;
    this.#folders = new ClusterFolders(options.root);
    this.#program = { program: kind.program, args: [] };
    this.#planes = new HeldPlanes(kind, this.#folders, options);
  }

  run(wanted: WantedControlPlane, signal?: AbortSignal): Promise<RunningControlPlane> {
    return this.#inTurn(wanted.id, async () => {
      const held = await this.#planes.hold(wanted);
      const before = this.#wanted.get(wanted.id);
      this.#kind.check?.(wanted);
      if (this.#isAsWanted(held, before, wanted)) return this.#running(wanted, held);
      // Until all of it is done: what could not be, such as a revocation, is tried again.
      this.#wanted.delete(wanted.id);
      await this.#rotate(wanted, held);
      if (held.server.isLive && held.edition !== editionOf(this.#word(wanted, held))) await this.#endProgram(wanted.id, held);
      if (!held.server.isLive) this.#checkBackoff(wanted, held);
      if (held.record.forwarded !== wanted.address) await this.#planes.write(wanted.id, held, { forwarded: wanted.address });
      const ensure = () => this.#ensure(wanted, held, signal);
      await (held.server.isLive ? ensure() : STARTS.use(ensure, signal));
      this.#wanted.set(wanted.id, wanted);
      this.#renewal ??= this.#options.clock.setTimer(RENEWAL_CHECK_MS, () => this.#renewAll());
      return this.#running(wanted, held);
    });
  }

  sleep(id: string): Promise<void> {
    return this.#inTurn(id, async () => {
      this.#wanted.delete(id);
      const held = await this.#planes.find(id);
      if (held) await sleepAll(this.#resources(undefined, id, held));
    });
  }

  remove(id: string): Promise<void> {
    return this.#inTurn(id, async () => {
      this.#wanted.delete(id);
      const held = await this.#planes.find(id);
      if (held) await removeAll(this.#resources(undefined, id, held));
      await this.#planes.forget(id);
    });
  }

  backups(id: string): Promise<Backup[]> {
    return backupsIn(this.#folders.backups(id));
  }

  backup(id: string, name: string, signal?: AbortSignal): Promise<Backup> {
    const { clock, maxBackupBytes: maxBytes = MAX_BACKUP_BYTES } = this.#options;
    return this.#inTurn(id, async () => {
      const held = await this.#planes.find(id);
      const waitMs = (held?.noBackupBefore ?? 0) - clock.monotonic();
      if (waitMs > 0) throw tooLarge(name, maxBytes, waitMs);
      const archive = () => askControl(this.#folders.data(id), 'GET', '/backup', ANSWER_MS);
      try {
        return await writeBackup(this.#folders.backups(id), name, archive, { maxBytes, signal });
      } catch (error) {
        if (held && error instanceof ControlPlaneError && error.reason === 'BackupTooLarge')
          held.noBackupBefore = clock.monotonic() + error.afterMs!;
        throw error;
      }
    });
  }

  async removeBackup(id: string, name: string): Promise<void> {
    await rm(join(this.#folders.backups(id), name), { force: true });
  }

  restore(wanted: WantedControlPlane, from: { id: string; backup: string }, token: string, signal?: AbortSignal): Promise<void> {
    return this.#inTurn(wanted.id, async () => {
      const held = await this.#planes.hold(wanted);
      if (held.record.restored === token) return;
      const source = join(this.#folders.backups(from.id), from.backup);
      if ((await stat(source).catch(() => undefined)) === undefined) {
        throw new ControlPlaneError('NoBackup', `there is no backup "${from.backup}"; \`tenantry cluster get\` shows those that are`);
      }
      const { provider = 'embedded' } = (await this.#folders.record(from.id)) ?? {};
      if (provider !== this.provider) {
        const why = `backup "${from.backup}" is of a cluster with control plane "${provider}", and this one has "${this.provider}"`;
        throw new ControlPlaneError('NoBackup', `${why}; restore it to one of its own kind`);
      }
      const resources = this.#resources(wanted, wanted.id, held);
      await sleepAll(resources);
      await ensureAll(resources.filter(({ keptAsleep }) => keptAsleep));
      await this.#kind.restore(wanted, this.#place(wanted.id, held, wanted), source, signal);
      await this.#planes.write(wanted.id, held, { restored: token });
    });
  }

  onChange(listener: (id: string) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  async close(): Promise<void> {
    this.#renewal?.cancel();
    await this.#turns.settled();
    await this.#planes.close();
  }

  /** In the order in which each needs those before it. The program starts to load while the keys are made. */
  #resources(wanted: WantedControlPlane | undefined, id: string, held: Held, signal?: AbortSignal): ControlPlaneResource[] {
    const { server } = held;
    const surroundings = this.#kind.surroundings?.(wanted, this.#place(id, held, wanted)) ?? [];
    return [
      {
        name: 'files',
        keptAsleep: true,
        ensure: () => this.#folders.prepare(id, held.record.user),
        remove: () => this.#folders.remove(id),
      },
      ...surroundings,
      {
        name: 'program',
        keptAsleep: false,
        ensure: () => (server.isLive ? Promise.resolve() : this.#loadProgram(wanted!, held)),
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
        ensure: () => this.#answer(wanted!, held, signal),
        remove: () => Promise.resolve(),
      },
    ];
  }

  /** Asked for again, which happens with every change of anything: nothing is read or written. */
  #isAsWanted(held: Held, before: WantedControlPlane | undefined, wanted: WantedControlPlane): boolean {
    if (!held.server.isLive || held.keys === undefined || this.#options.clock.now() >= dueOf(held)) return false;
    return JSON.stringify(before) === JSON.stringify(wanted);
  }

  async #ensure(wanted: WantedControlPlane, held: Held, signal: AbortSignal | undefined): Promise<void> {
    const announced = held.record.announced === true;
    const refused = new Set<number>();
    for (;;) {
      try {
        await ensureAll(this.#resources(wanted, wanted.id, held, signal));
        held.backoff.reset();
        if (!announced) {
          await this.#planes.write(wanted.id, held, { announced: true });
          this.#planes.prepareSpare();
        }
        return;
      } catch (error) {
        await endProcess(held.record.process);
        held.server.letGo();
        const isPortTaken = error instanceof ControlPlaneError && error.reason === 'PortTaken';
        if (isPortTaken && !announced && refused.size < PORTS_REFUSED) {
          await this.#planes.otherPorts(wanted.id, held, refused);
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

  async #loadProgram(wanted: WantedControlPlane, held: Held): Promise<void> {
    const { id } = wanted;
    const place = this.#place(id, held, wanted);
    const edition = editionOf(this.#word(wanted, held));
    held.edition = edition;
    if (await held.server.adopt(held.record.process, edition))
      return this.#options.groups?.hold(id, held.record.process!.pid, this.#limitsOf(wanted));
    await endProcess(held.record.process);
    await this.#options.groups?.release(id);
    const { spare } = held;
    held.spare = undefined;
    const startedBy = this.#kind.startedBy?.(place);
    await held.server.load({ ...this.#program, logPath: this.#folders.log(id), user: held.record.user, startedBy }, spare);
    // Before it may do anything: whoever comes after a crash must find it.
    await this.#planes.write(id, held, { process: held.server.identity });
    await this.#options.groups?.hold(id, held.server.identity!.pid, this.#limitsOf(wanted));
  }

  async #endProgram(id: string, held: Held): Promise<void> {
    held.server.letGo();
    held.spare?.release();
    held.spare = undefined;
    await endProcess(held.record.process);
    await this.#options.groups?.release(id);
    held.backoff.reset();
    held.notBefore = 0;
    if (held.record.process !== undefined) await this.#planes.write(id, held, { process: undefined });
  }

  /** Authorities, one step after the other until there is none left for now. A process that knows others is replaced. */
  async #rotate(wanted: WantedControlPlane, held: Held): Promise<void> {
    held.authorities ??= await PlaneAuthorities.open(this.#authorityPlaces(wanted.id));
    if (held.authorities !== undefined)
      held.authoritiesDue = await held.authorities.advance(wanted.rotation ?? NO_WISH, this.#options.clock.now());
  }

  #authorityPlaces(id: string): AuthorityPlaces {
    return { state: this.#folders.authorities(id), keys: this.#folders.pki(id), authorities: this.#kind.authorities };
  }

  async #ensureKeys(wanted: WantedControlPlane, held: Held): Promise<void> {
    const { clock } = this.#options;
    held.authorities ??= await PlaneAuthorities.open(this.#authorityPlaces(wanted.id));
    await held.authorities?.apply();
    const keys = await this.#kind.ensureKeys(wanted, this.#place(wanted.id, held, wanted), clock, held.authorities?.leavesSince);
    if (held.authorities === undefined) {
      const born = wanted.rotation ?? NO_WISH;
      held.authorities = await PlaneAuthorities.open(this.#authorityPlaces(wanted.id), born);
      held.authoritiesDue = (await held.authorities?.advance(born, clock.now())) ?? 0;
    }
    await this.#folders.shareKeys(wanted.id, held.record.user);
    const isNew = held.server.isLive && held.keys?.edition !== keys.edition;
    if (isNew) (await askControl(this.#folders.data(wanted.id), 'POST', '/certificates', ANSWER_MS)).resume();
    // Only now: what was not taken up is told again.
    held.keys = keys;
  }

  async #answer(wanted: WantedControlPlane, held: Held, signal: AbortSignal | undefined): Promise<void> {
    const { id } = wanted;
    const word = this.#word(wanted, held);
    await held.server.answer(
      // Another size of the store ends no process: it holds from the next start.
      { ...word, edition: editionOf(word), storeBytes: wanted.limits?.storeBytes },
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
      signal,
    );
    await this.#options.groups?.limit(id, this.#limitsOf(wanted));
  }

  /** What its process is told: one that was told something else is replaced. */
  #word(wanted: WantedControlPlane, held: Held): Omit<GoMessage, 'edition'> {
    const word = this.#kind.go(wanted, this.#place(wanted.id, held, wanted));
    const trust = held.authorities?.trust;
    return trust === undefined ? word : { ...word, trust };
  }

  #running(wanted: WantedControlPlane, held: Held): RunningControlPlane {
    const { keys, record, server } = held;
    const place = this.#place(wanted.id, held, wanted);
    const { authorityPem, frontProxyAuthorityPem, owner, ownerGroup, platform, expire } = keys!;
    return {
      endpoint: `https://${isIP(place.address) === 6 ? `[${place.address}]` : place.address}:${record.port}`,
      authorityPem,
      frontProxyAuthorityPem,
      owner,
      ownerGroup,
      platform,
      certificatesExpire: expire,
      authorities: held.authorities?.news,
      sharedUser: record.sharedUser,
      tunnel: this.#kind.tunnel?.(place),
      trouble: server.trouble,
      replicas: { wanted: wanted.replicas ?? 1, ready: 1, ...server.replicas },
    };
  }

  #limitsOf({ limits = {}, replicas = 1 }: WantedControlPlane): PlaneLimits {
    return planeLimits(this.#kind.needs, limits, replicas, availableParallelism());
  }

  #place(id: string, { record }: Held, wanted: WantedControlPlane | undefined): PlanePlace {
    return { id, folders: this.#folders, record, address: wanted?.address ?? this.#kind.addressOf?.(record) ?? this.#options.address };
  }

  /** Certificates end whether or not anything happens, and no watch tells when. */
  #renewAll(): void {
    const { clock } = this.#options;
    this.#renewal = clock.setTimer(RENEWAL_CHECK_MS, () => this.#renewAll());
    for (const [id, wanted] of this.#wanted) {
      const held = this.#planes.known(id);
      if (!held?.server.isLive || held.keys === undefined || clock.now() < dueOf(held)) continue;
      // Its process has to be started again for that, which is not done from here.
      if (clock.now() >= held.authoritiesDue) {
        this.#tell(id);
        continue;
      }
      const before = held.keys.expire;
      this.#inTurn(id, () => this.#ensureKeys(wanted, held)).then(
        () => held.keys?.expire !== before && this.#tell(id),
        (error: unknown) => this.#options.log.error('cannot renew the certificates of a tenant cluster', { cluster: wanted.name, error }),
      );
    }
  }

  #tell(id: string): void {
    for (const listener of this.#listeners) listener(id);
  }

  #inTurn<T>(id: string, work: () => Promise<T>): Promise<T> {
    return this.#turns.take(id, work);
  }
}

/** When to look whether something has to be renewed. */
function dueOf({ keys, authoritiesDue }: Held): number {
  return Math.min(keys!.expire - RENEWAL_WINDOW_MS, authoritiesDue);
}

function editionOf(word: object): string {
  return createHash('sha256').update(JSON.stringify(word)).digest('hex').slice(0, 16);
}
