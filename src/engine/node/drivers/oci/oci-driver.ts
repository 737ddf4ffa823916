import { mkdirSync, realpathSync } from 'node:fs';
import { mkdir, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { orAborted, timeoutSignal } from '../../../../lib/abort.ts';
import { realClock, type Clock } from '../../../../lib/clock.ts';
import { ShimError, type ProgramEnd, type Shim, type ShimProgram, type ShimProgramState } from '../../shim/shim.ts';
import type { Cgroups } from '../cgroups/cgroups.ts';
import { podProcessors } from '../cgroups/pod-processors.ts';
import { ContainerError, type ContainerEnd, type ContainerSpec, type Driver, type DriverContainer, type PodProcessors } from '../driver.ts';
import { makeBundle, type BundleMaker } from './bundle.ts';
import { removeOrphans } from './clean-up.ts';
import { containerPlaces } from './container-places.ts';
import { execInContainer } from './exec.ts';
import { exists, machineFacts, type MachineFacts } from './machine-facts.ts';
import { DEFAULT_PATH } from '../model/command.ts';
import { lastComplaint, startFailure } from './model/runtime-failure.ts';
import { unmountBelow } from './mount-calls.ts';
import { writtenPid } from './pid-file.ts';
import { removeRoot } from './root-filesystem.ts';
import { runAttended, runDelete, runDetached, runKill, runtimeCommand, type OciRuntime, type RuntimeState } from './runtime.ts';
import { makeSandbox, unmakeSandbox } from './sandbox.ts';
import { makeSystemRoot, type SystemRoot } from './system-root.ts';

export interface OciDriverOptions {
  shim: Shim;
  /** Ours alone: bundles, root file systems and the runtime's records. */
  dir: string;
  /** One that works here: see probeRuntimes. */
  runtime: OciRuntime;
  cgroups: Cgroups;
  /** Files and folders that built-in images run from (Node, the product), besides the machine's own programs. */
  programs: string[];
  /** What built-in images never see, wherever it is: the data directory. Absent: `dir`. */
  hidden?: string[];
  /** Where profiles of type Localhost are. */
  seccompFolder: string;
  log?: { maxBytes: number; maxFiles: number };
  clock?: Clock;
  /** How long the runtime may take to start a container or a command in it; as long as the kubelet waits for its own. */
  startTimeoutMs?: number;
}

/** As the kubelet has it. */
const DEFAULT_LOG = { maxBytes: 10 << 20, maxFiles: 5 };
const COMMAND_TIMEOUT_MS = 10_000;
const START_TIMEOUT_MS = 120_000;
const DRIVER_LABEL = 'oci';

export function createOciDriver(options: OciDriverOptions): Driver {
  return new OciDriver(options);
}

class OciDriver implements Driver {
  readonly name = 'oci';
  readonly missingIsolation: readonly string[] = [];
  readonly processors: PodProcessors;
  readonly #options: OciDriverOptions;
  readonly #shim: Shim;
  readonly #cgroups: Cgroups;
  readonly #clock: Clock;
  readonly #places: ReturnType<typeof containerPlaces>;
  readonly #runtime: RuntimeState;
  #facts: Promise<MachineFacts> | undefined;
  #systemRoot: Promise<SystemRoot> | undefined;
  #sandboxesInMaking = 0;
  #rootRemoval: Promise<void> = Promise.resolve();

  constructor(options: OciDriverOptions) {
    this.#options = options;
    this.#shim = options.shim;
    this.#cgroups = options.cgroups;
    this.#clock = options.clock ?? realClock;
    mkdirSync(options.dir, { recursive: true, mode: 0o700 });
    // The kernel tells mount points by their real path.
    this.#places = containerPlaces(realpathSync(options.dir));
    this.processors = podProcessors(options.cgroups, (uid) => this.#places.pod(uid).cgroup);
    this.#runtime = { runtime: options.runtime, stateFolder: this.#places.state };
  }

  cannotRun(): undefined {
    return undefined;
  }

  async prepareSandbox(sandbox: Parameters<Driver['prepareSandbox']>[0]): Promise<void> {
    await this.#rootRemoval;
    this.#sandboxesInMaking++;
    try {
      await makeSandbox(this.#places.pod(sandbox.pod.uid), sandbox, this.#cgroups);
    } finally {
      this.#sandboxesInMaking--;
    }
  }

  async start(spec: ContainerSpec): Promise<{ startedAt: Date }> {
    const { folder } = this.#places.container(spec.id);
    if (await exists(folder)) {
      // An agent before this one got here: the container is there, or its start was cut short.
      const known = (await this.#shim.list()).find(({ id }) => id === spec.id);
      if (known) return { startedAt: known.startedAt };
      await this.#undo(spec.id);
    }
    try {
      await makeBundle(await this.#bundleMaker(), spec);
      return { startedAt: await this.#run(spec) };
    } catch (error) {
      const failure = await this.#failureOf(spec, error);
      await this.remove(spec.id);
      throw failure;
    }
  }

  async list(): Promise<DriverContainer[]> {
    const ours = (await this.#shim.list()).filter(({ labels }) => labels['driver'] === DRIVER_LABEL);
    return Promise.all(ours.map((state) => this.#described(state)));
  }

  async ended(id: string): Promise<ContainerEnd> {
    return this.#withOom(id, await this.#shim.ended(id));
  }

  async signal(id: string, signal: NodeJS.Signals): Promise<void> {
    if (this.#attended) await runtimeCommand(runKill(this.#runtime, id, signal), COMMAND_TIMEOUT_MS);
    else if (signal === 'SIGKILL') await this.#cgroups.kill(this.#places.container(id).cgroup);
    else await this.#shim.signal(id, signal);
  }

  exec(id: string, command: Parameters<Driver['exec']>[1]): ReturnType<Driver['exec']> {
    const place = this.#places.container(id);
    return execInContainer({ shim: this.#shim, state: this.#runtime, place, inTime: (...args) => this.#inTime(...args) }, id, command);
  }

  attach(id: string): ReturnType<Driver['attach']> {
    return this.#shim.attach(id);
  }

  async stats(id: string): ReturnType<Driver['stats']> {
    const stats = await this.#cgroups.stats(this.#places.container(id).cgroup);
    return stats && { ...stats, at: new Date(this.#clock.now()) };
  }

  async remove(id: string): Promise<void> {
    await this.#undo(id);
    // All of its processes are gone; the shim may still have to hear of it.
    await timeLimit(this.#clock, COMMAND_TIMEOUT_MS, this.#shim.ended(id)).catch(() => undefined);
    // Last: for as long as the shim knows the container, the next agent finds it and removes it again.
    await this.#forget(id);
  }

  async removeSandbox(podUid: string): Promise<void> {
    await unmakeSandbox(this.#places.pod(podUid), this.#cgroups);
    const removal = this.#rootRemoval.then(() => this.#removeUnusedRoot());
    this.#rootRemoval = removal.catch(() => undefined);
    await removal;
  }

  async cleanUp(livePodUids: ReadonlySet<string>): Promise<void> {
    const known = (await this.#shim.list()).filter(({ labels }) => labels['driver'] === DRIVER_LABEL).map(({ id }) => id);
    await removeOrphans({
      places: this.#places,
      cgroups: this.#cgroups,
      livePodUids,
      knownToShim: new Set(known),
      removeContainer: (id) => this.remove(id),
      removeSandbox: (uid) => this.removeSandbox(uid),
    });
  }

  /** With the last Pod goes the cgroup of all of them: nobody may come back to remove it. */
  async #removeUnusedRoot(): Promise<void> {
    const { cgroup } = this.#places;
    // A Pod that is just being made has its place in some trees and not yet in those that only the runtime uses.
    if (this.#sandboxesInMaking > 0 || (await this.#cgroups.children(cgroup)).length > 0) return;
    await this.#cgroups.removeIfEmpty(cgroup);
    // runsc holds a namespace there.
    await unmountBelow(this.#runtime.stateFolder);
  }

  async #bundleMaker(): Promise<BundleMaker> {
    const { seccompFolder, programs, hidden = [this.#options.dir] } = this.#options;
    this.#facts ??= machineFacts(this.#cgroups, this.#places.cgroup);
    const systemRoot = (): Promise<SystemRoot> => (this.#systemRoot ??= makeSystemRoot(this.#places.systemRoot, { programs, hidden }));
    return { places: this.#places, facts: await this.#facts, seccompFolder, systemRoot };
  }

  /** The kernel of a container under runsc is a process of its own: the runtime stands between us and what runs inside. */
  get #attended(): boolean {
    return this.#runtime.runtime.name === 'runsc';
  }

  async #run(spec: ContainerSpec): Promise<Date> {
    const { cgroup } = this.#places.container(spec.id);
    const started = this.#attended ? this.#runAttended(spec) : this.#runDetached(spec);
    // A runtime that waits inside the container (on a pipe in place of a file, say) fails once what it waits in is killed.
    return this.#inTime(started, () => this.#cgroups.kill(cgroup));
  }

  async #runDetached(spec: ContainerSpec): Promise<Date> {
    const { folder: bundle, pidFile, runtimeLog: log } = this.#places.container(spec.id);
    const terminal = spec.terminal ? { consoleSocket: await this.#places.consoleSocket(spec.id) } : {};
    const argv = runDetached(this.#runtime, { id: spec.id, bundle, pidFile, log, ...terminal });
    const { startedAt } = await this.#shim.start({ ...this.#program(spec, argv), pidFile, ...terminal });
    return startedAt;
  }

  async #runAttended(spec: ContainerSpec): Promise<Date> {
    const { folder: bundle, pidFile, runtimeLog: log } = this.#places.container(spec.id);
    const argv = runAttended(this.#runtime, { id: spec.id, bundle, pidFile, log });
    const { startedAt } = await this.#shim.start(this.#program(spec, argv));
    if ((await writtenPid(pidFile, this.#shim.ended(spec.id))) !== undefined) return startedAt;
    throw new ShimError('StartFailed', `${this.#runtime.runtime.path} ended before the container ran`);
  }

  async #inTime<T>(work: Promise<T>, giveUp: () => Promise<void>): Promise<T> {
    let late = false;
    const timer = this.#clock.setTimer(this.#options.startTimeoutMs ?? START_TIMEOUT_MS, () => {
      late = true;
      giveUp().catch(() => undefined);
    });
    try {
      return await work;
    } catch (error) {
      throw late ? new ContainerError('RunContainerError', 'context deadline exceeded', { cause: error }) : error;
    } finally {
      timer.cancel();
    }
  }

  #program({ id, pod, name, attempt, terminal, stdin, stdinOnce, logPath }: ContainerSpec, argv: string[]): ShimProgram {
    return {
      id,
      argv,
      env: { PATH: DEFAULT_PATH },
      cwd: '/',
      terminal,
      stdin,
      stdinOnce,
      log: { path: logPath, ...(this.#options.log ?? DEFAULT_LOG) },
      labels: { driver: DRIVER_LABEL, namespace: pod.namespace, pod: pod.name, uid: pod.uid, container: name, attempt: String(attempt) },
    };
  }

  async #failureOf({ id }: ContainerSpec, error: unknown): Promise<ContainerError> {
    if (error instanceof ContainerError) return error;
    const message = error instanceof Error ? error.message : String(error);
    const complaint = lastComplaint(await readFile(this.#places.container(id).runtimeLog, 'utf8').catch(() => ''));
    if (complaint) return startFailure(this.#runtime.runtime.name, complaint);
    return new ContainerError('RunContainerError', message, { cause: error });
  }

  async #described(state: ShimProgramState): Promise<DriverContainer> {
    const { id, labels, startedAt, end } = state;
    const pod = { namespace: labels['namespace'], name: labels['pod'], uid: labels['uid'] };
    const container = { id, pod, name: labels['container'], attempt: Number(labels['attempt']), startedAt };
    return end ? { ...container, end: await this.#withOom(id, end) } : container;
  }

  /** As other runtimes see it: whoever of its processes was killed for want of memory, the container failed because of that. */
  async #withOom(id: string, end: ProgramEnd): Promise<ContainerEnd> {
    const oomKilled = end.exitCode !== 0 && (await this.#cgroups.oomKills(this.#places.container(id).cgroup)) > 0;
    return { ...end, oomKilled };
  }

  /** Ends whatever still runs of a container and takes away everything but the shim's record. Any part of it may be missing. */
  async #undo(id: string): Promise<void> {
    const { cgroup, folder } = this.#places.container(id);
    await this.#cgroups.kill(cgroup);
    await this.#deleteRecord(id);
    await this.#cgroups.remove(cgroup);
    await removeRoot(folder);
  }

  async #deleteRecord(id: string): Promise<void> {
    const { stateFolder } = this.#runtime;
    const record = join(stateFolder, id);
    // The sandbox of runsc is a process of its own; the others leave a folder of that name.
    if (!this.#attended && !(await exists(record))) return;
    await mkdir(stateFolder, { recursive: true });
    await runtimeCommand(runDelete(this.#runtime, id), COMMAND_TIMEOUT_MS).catch((error: NodeJS.ErrnoException) => {
      // A runtime that was taken off the machine leaves only its record: all processes are ended by now.
      if (error.code !== 'ENOENT') throw error;
    });
    // It refuses to read a record that a crash has cut short; there is nothing in it that we need.
    await rm(record, { recursive: true, force: true });
  }

  async #forget(id: string): Promise<void> {
    await this.#shim.forget(id).catch((error: unknown) => {
      if (!(error instanceof ShimError) || error.code !== 'NotFound') throw error;
    });
  }
}

async function timeLimit(clock: Clock, ms: number, work: Promise<unknown>): Promise<void> {
  const limit = timeoutSignal(clock, ms);
  try {
    await orAborted(work, limit.signal);
  } finally {
    limit.dispose();
  }
}
