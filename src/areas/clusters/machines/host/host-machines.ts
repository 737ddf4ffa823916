import type { KernelIsolation } from '../../../../api/tenantry.dev/v1alpha1/cluster-names.ts';
import { sleep } from '../../../../lib/abort.ts';
import type { Clock } from '../../../../lib/clock.ts';
import { errorText, type Log } from '../../../../lib/log.ts';
import { processTable, type ProcessIdentity } from '../../../../lib/process-table.ts';
import type { Attachment } from '../../network/model/vpc.ts';
import { guestSettings } from '../image/guest-settings.ts';
import { tar } from '../image/tar.ts';
import type { WorkerImages } from '../image/worker-image.ts';
import { MachineError, type Machines, type RunningMachine, type WantedMachine } from '../machines.ts';
import type { Backend, Boot } from './backend.ts';
import { endMachine } from './end-machine.ts';
import { launchDetached, launchMachine } from './launch-machine.ts';
import { MachineConsole } from './machine-console.ts';
import type { MachineFolders, MachineRecord } from './machine-folders.ts';
import { ensureNamespace, removeNamespace } from './machine-namespace.ts';
import { whyUnable } from './probe.ts';

export interface HostMachinesOptions {
  /** Shared by all providers: users and images are. */
  folders: MachineFolders;
  images: WorkerImages;
  backend: Backend;
  clock: Clock;
  log: Log;
}

const RETRY_MS = 5000;
/** From the moment that nothing holds its output to the end of the process itself. */
const LAST_MOMENTS_MS = 2000;
const LOOK_EVERY_MS = 20;

/** Machines that are processes of this host. They outlive us; the next one of us finds them by their records. */
export class HostMachines implements Machines {
  readonly #options: HostMachinesOptions;
  readonly #consoles = new Map<string, MachineConsole>();
  /** What a machine said before it ended. */
  readonly #last = new Map<string, string>();
  /** One verb at a time for each machine. */
  readonly #turns = new Map<string, Promise<unknown>>();
  readonly #listeners = new Set<(id: string) => void>();
  #unable: Promise<string | undefined> | undefined;
  #adopted: Promise<void> | undefined;
  #closed = false;

  constructor(options: HostMachinesOptions) {
    this.#options = options;
  }

  get provider(): string {
    return this.#options.backend.provider;
  }

  get isolation(): KernelIsolation {
    return this.#options.backend.isolation;
  }

  unable(): Promise<string | undefined> {
    return (this.#unable ??= whyUnable(this.#options)
      .catch((error: unknown) => errorText(error))
      .then((why) => {
        // What was found out is written down; whether it still holds is judged whenever somebody asks.
        if (why !== undefined) this.#unable = undefined;
        return why;
      }));
  }

  async place(id: string, cluster: string): Promise<Attachment> {
    const { folders, backend } = this.#options;
    const { user } = await folders.ensure(id, cluster, this.provider);
    if (backend.attachment === 'Tap') return { kind: 'Tap', owner: user };
    return { kind: 'Namespace', path: await ensureNamespace(folders.namespace(id)) };
  }

  async run(wanted: WantedMachine): Promise<RunningMachine> {
    await this.#adopt();
    return this.#inTurn(wanted.id, () => this.#run(wanted));
  }

  async stop(id: string): Promise<void> {
    await this.#adopt();
    await this.#inTurn(id, () => this.#end(id));
  }

  async remove(id: string): Promise<void> {
    await this.#adopt();
    await this.#inTurn(id, async () => {
      await this.#end(id);
      const { folders, backend } = this.#options;
      if (backend.attachment === 'Namespace') await removeNamespace(folders.namespace(id));
      await folders.remove(id);
      this.#last.delete(id);
    });
  }

  async list(): Promise<{ id: string; cluster: string; isRunning: boolean }[]> {
    await this.#adopt();
    const records = await this.#records();
    return records.map(({ id, cluster, process: its }) => ({ id, cluster, isRunning: isAlive(its) }));
  }

  console(id: string): Promise<string> {
    return Promise.resolve(this.#consoles.get(id)?.text ?? this.#last.get(id) ?? '');
  }

  onEnd(listener: (id: string) => void): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  async close(): Promise<void> {
    this.#closed = true;
    await Promise.allSettled(this.#turns.values());
    for (const console of this.#consoles.values()) console.close();
    this.#consoles.clear();
  }

  async #run(wanted: WantedMachine): Promise<RunningMachine> {
    const { folders, images, backend, clock } = this.#options;
    const record = await folders.ensure(wanted.id, wanted.cluster, this.provider);
    // One that nobody follows was to be ended, and would not.
    if (isAlive(record.process) && this.#consoles.has(wanted.id)) return { started: record.started ?? clock.now() };
    try {
      const image = await images.get();
      await this.#end(wanted.id);
      await folders.prepare(record, wanted.diskBytes, tar(guestSettings(wanted)));
      const boot: Boot = { id: wanted.id, user: record.user, folder: folders.folder(wanted.id), image, wanted };
      await backend.prepare?.(boot);
      const started = clock.now();
      const identity = await this.#launch(boot, (its) => folders.write({ ...record, image: image.key, process: its, started }));
      this.#options.log.info('a worker was started', { machine: wanted.id, provider: this.provider, pid: identity.pid });
      await images.removeOthers(new Set((await folders.records()).flatMap(({ image: its }) => its ?? [])));
      return { started };
    } catch (error) {
      throw new MachineError(`Cannot start machine "${wanted.id}": ${errorText(error)}`, { afterMs: RETRY_MS, cause: error });
    }
  }

  /** The record is written before the machine does anything, and somebody listens before it says anything. */
  async #launch(boot: Boot, write: (identity: ProcessIdentity) => Promise<void>): Promise<ProcessIdentity> {
    const { backend, folders } = this.#options;
    const console = this.#listen(boot.id);
    try {
      if (backend.pidFile !== undefined) {
        const identity = await launchDetached(backend, boot, backend.pidFile);
        await write(identity);
        return identity;
      }
      const { identity, go } = await launchMachine(backend, boot);
      await write(identity);
      await folders.give(boot);
      go();
      return identity;
    } catch (error) {
      this.#consoles.delete(boot.id);
      console.close();
      throw error;
    }
  }

  #listen(id: string): MachineConsole {
    const { folders, backend } = this.#options;
    const console = MachineConsole.open(folders.folder(id), backend.consoleSocket, () => void this.#ended(id, console));
    this.#consoles.set(id, console);
    return console;
  }

  /** Its output is closed. Whoever ends it on purpose has let go of its console before. */
  async #ended(id: string, console: MachineConsole): Promise<void> {
    const identity = (await this.#options.folders.record(id))?.process;
    for (let waited = 0; isAlive(identity) && waited < LAST_MOMENTS_MS; waited += LOOK_EVERY_MS) {
      await sleep(this.#options.clock, LOOK_EVERY_MS);
    }
    if (this.#closed || this.#consoles.get(id) !== console) return;
    this.#consoles.delete(id);
    this.#last.set(id, console.text);
    // One that closed its output and lives on would never be noticed again.
    await this.#endUnfollowed(id, identity);
    for (const listener of this.#listeners) listener(id);
  }

  async #end(id: string): Promise<void> {
    const { folders, backend } = this.#options;
    const record = await folders.record(id);
    if (record === undefined) return;
    const console = this.#consoles.get(id);
    this.#consoles.delete(id);
    if (console !== undefined) this.#last.set(id, console.text);
    console?.close();
    await endMachine(record.process);
    await backend.clean?.({ id, folder: folders.folder(id) });
  }

  /** What runs from before is followed again. */
  #adopt(): Promise<void> {
    return (this.#adopted ??= this.#records().then((records) =>
      Promise.all(records.map((record) => this.#adoptOne(record))).then(() => {}),
    ));
  }

  async #adoptOne({ id, process: its }: MachineRecord): Promise<void> {
    if (!isAlive(its)) return;
    try {
      const console = this.#listen(id);
      // It may have ended before we listened, which nobody would tell any more.
      if (!isAlive(its)) void this.#ended(id, console);
    } catch (error) {
      // Its folder is its user's, who may have taken away what it is followed by. That is no reason to leave the others alone.
      this.#options.log.warn('a worker cannot be followed, and is ended', { machine: id, error: errorText(error) });
      await this.#endUnfollowed(id, its);
    }
  }

  /** What does not end now is ended by whoever runs, stops or removes the machine next. */
  async #endUnfollowed(id: string, identity: ProcessIdentity | undefined): Promise<void> {
    try {
      await endMachine(identity);
    } catch (error) {
      this.#options.log.warn('a worker does not end', { machine: id, error: errorText(error) });
    }
  }

  async #records(): Promise<MachineRecord[]> {
    return (await this.#options.folders.records()).filter(({ provider }) => provider === this.provider);
  }

  #inTurn<Result>(id: string, work: () => Promise<Result>): Promise<Result> {
    const before = this.#turns.get(id) ?? Promise.resolve();
    const mine = before.then(work, work);
    const done = mine.then(
      () => {},
      () => {},
    );
    this.#turns.set(id, done);
    void done.then(() => {
      if (this.#turns.get(id) === done) this.#turns.delete(id);
    });
    return mine;
  }
}

function isAlive(identity: ProcessIdentity | undefined): boolean {
  return identity !== undefined && processTable.isAlive(identity);
}
