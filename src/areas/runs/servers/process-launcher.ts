import { closeSync, openSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Clock } from '../../../lib/clock.ts';
import type { Child } from './children/child.ts';
import { startChild } from './children/start-child.ts';
import type { Language } from './language.ts';
import type { Launch, LaunchedProcess, Launcher } from './launcher.ts';
import { notStarted } from './not-started.ts';
import { findSandboxTools, tryOut, type SandboxTools } from './sandbox/probe-sandbox.ts';
import { findRunCgroups, type RunCgroup, type RunCgroups, type RunLimits } from './sandbox/run-cgroups.ts';
import { RunFolders, type Owner } from './sandbox/run-folder.ts';
import { gateMessage, sandboxCommand, type SandboxPlan, type SystemEntry } from './sandbox/sandbox-command.ts';
import { systemCallFilter } from './sandbox/system-call-filter.ts';
import { systemView } from './sandbox/system-view.ts';
import { WARM_STARTS } from './warm-start.ts';

export interface ProcessLauncherOptions {
  language: Language;
  /** What every execution finds in its environment; its own variables come on top. */
  baseEnv: Record<string, string>;
  /** Interpreters kept waiting, each in a sandbox of its own. */
  warmWorkers: number;
  /** Whether those that wait have the Pod's network. */
  network: boolean;
  /** The folder that those of the Runs are in. */
  workspace: string;
  limits: RunLimits;
  /** Bytes that a Run can write to /tmp, and to /dev/shm. */
  temporaryBytes: number;
  /** Files that Runs need besides the system's: an interpreter from elsewhere. */
  programs: string[];
  clock: Clock;
}

export type OpenedLauncher =
  | { launcher: Launcher; limits: string }
  | { unavailable: string }
  /** There would be sandboxes, but not with the limits that were asked for. */
  | { limitsUnavailable: string };

/** Of the first file that a sandbox is given: the filter, where there is one, then those by which it joins its cgroups. */
const FIRST_DESCRIPTOR = 4;

/**
 * Executions in a sandbox each: a user, files, processes, queues and a network of their own, inside the container that the server is in.
 * @returns why that cannot be had here, where it cannot; nothing less is given instead
 */
export async function openProcessLauncher(options: ProcessLauncherOptions): Promise<OpenedLauncher> {
  const tools = await findSandboxTools(options.baseEnv['PATH'] ?? '');
  if ('missing' in tools) return { unavailable: tools.missing };
  const folders = new RunFolders(options.workspace, tools.users !== undefined);
  let system;
  try {
    await folders.open();
    system = await systemView(join(folders.slots, 'etc'), options.programs);
  } catch (error) {
    return { unavailable: `the folder of the Runs cannot be used: ${error instanceof Error ? error.message : String(error)}` };
  }
  const found = await findRunCgroups(options.limits, options.clock, tools.users !== undefined);
  const isLimited = options.limits.memoryBytes !== undefined || options.limits.cpuMillis !== undefined;
  if ('missing' in found && isLimited) return { limitsUnavailable: found.missing };
  const cgroups = 'cgroups' in found ? found.cgroups : undefined;
  const launcher = new ProcessLauncher(options, { tools, folders, cgroups, system });
  const problem = await launcher.probe();
  if (problem !== undefined) return { unavailable: `bubblewrap does not work here: ${problem}` };
  launcher.begin();
  return { launcher, limits: 'missing' in found ? found.missing : 'memory, CPU and processes of each Run are limited' };
}

interface Means {
  tools: SandboxTools;
  folders: RunFolders;
  cgroups?: RunCgroups;
  system: SystemEntry[];
}

/** A sandbox that waits for a Run, or has one. */
interface Worker {
  child: Child;
  slotFolder: string;
  cgroup?: RunCgroup;
  user?: Owner;
  network: boolean;
}

class ProcessLauncher implements Launcher {
  readonly #options: ProcessLauncherOptions;
  readonly #means: Means;
  readonly #waiting: Worker[] = [];
  #filter: string | undefined;
  #next = 0;
  #closed = false;

  constructor(options: ProcessLauncherOptions, means: Means) {
    this.#options = options;
    this.#means = means;
    const filter = systemCallFilter();
    if (filter === undefined) return;
    this.#filter = join(means.folders.slots, 'filter');
    writeFileSync(this.#filter, filter, { mode: 0o600 });
  }

  /** Whether a sandbox can be made, everything in it included. */
  async probe(): Promise<string | undefined> {
    const number = this.#next++;
    const { folders, cgroups } = this.#means;
    const slotFolder = folders.make();
    const cgroup = cgroups?.take();
    const files = this.#openFiles(cgroup);
    try {
      const argv = sandboxCommand(
        this.#plan(number, slotFolder, cgroup, false),
        ['/bin/sh', '-c', ': > /tmp/x && test -d /proc/self'],
        false,
      );
      return await tryOut(argv, this.#options.baseEnv, files);
    } catch (error) {
      return error instanceof Error ? error.message : String(error);
    } finally {
      for (const descriptor of files) closeSync(descriptor);
      folders.removeUnused(slotFolder);
      if (cgroup !== undefined) cgroups?.giveBack(cgroup);
    }
  }

  begin(): void {
    this.#refill();
  }

  launch(launch: Launch): LaunchedProcess {
    const { language, baseEnv } = this.#options;
    const name = this.#means.folders.nameOf(launch.workingDir);
    if (name === undefined) {
      const text = `Cannot start in "${launch.workingDir}": Runs have their folders in ${this.#options.workspace}`;
      return notStarted(new Error(text));
    }
    const message = WARM_STARTS[language.name].message(launch.program, launch.workingDir, launch.env);
    const at = message === undefined ? -1 : this.#waiting.findIndex(({ network }) => network === launch.network);
    setImmediate(() => this.#refill());
    if (at >= 0) {
      const [worker] = this.#waiting.splice(at, 1);
      return this.#run(worker, name, message!, true);
    }
    try {
      const worker = this.#start(language.commandLine(launch.program), launch.network, true);
      return this.#run(worker, name, gateMessage(launch.workingDir, { ...baseEnv, ...launch.env }), false);
    } catch (error) {
      return notStarted(error);
    }
  }

  async close(): Promise<void> {
    this.#closed = true;
    await Promise.all(
      this.#waiting.splice(0).map(async (worker) => {
        await endOf(worker.child);
        this.#drop(worker);
      }),
    );
    await this.#means.folders.close();
    await this.#means.cgroups?.close();
  }

  /** One more for each that was taken, when the event loop has time. */
  #refill(): void {
    const { language, warmWorkers, network } = this.#options;
    if (this.#closed || this.#waiting.length >= warmWorkers) return;
    const worker = this.#tryStart(WARM_STARTS[language.name].argv, network);
    if (worker === undefined) return;
    const gone = () => {
      const at = this.#waiting.indexOf(worker);
      if (at < 0) return;
      this.#waiting.splice(at, 1);
      this.#drop(worker);
    };
    worker.child.once('error', gone);
    worker.child.once('exit', gone);
    this.#waiting.push(worker);
    setImmediate(() => this.#refill());
  }

  /** A Run that finds none waiting starts its own, and fails with the reason if that fails too. */
  #tryStart(program: string[], network: boolean): Worker | undefined {
    try {
      return this.#start(program, network, false);
    } catch {
      return undefined;
    }
  }

  #start(program: string[], network: boolean, gated: boolean): Worker {
    const number = this.#next++;
    const slotFolder = this.#means.folders.make();
    const cgroup = this.#means.cgroups?.take();
    const plan = this.#plan(number, slotFolder, cgroup, network);
    const argv = sandboxCommand(plan, program, gated);
    const child = startChild(argv, { cwd: '/', env: this.#options.baseEnv, listens: true, files: this.#openFiles(cgroup) });
    const user = plan.user.kind === 'own' ? { uid: plan.user.uid, gid: plan.user.uid } : undefined;
    return { child, slotFolder, cgroup, user, network };
  }

  #run(worker: Worker, name: string, message: string, warm: boolean): LaunchedProcess {
    const { child, slotFolder, user } = worker;
    const { folders } = this.#means;
    const ready = folders.take(name, slotFolder, user).then(() => child.tell(message));
    const closed = new Promise<number>((resolve, reject) => {
      child.once('error', reject);
      // Bubblewrap ends when all that was inside has ended.
      child.once('close', (code) => resolve(code ?? -1));
    });
    const ended = (async () => {
      try {
        await ready;
      } catch (error) {
        await endOf(child);
        this.#drop(worker);
        throw error;
      }
      try {
        const exitCode = await closed;
        return { exitCode, ranOutOfMemory: exitCode !== 0 && worker.cgroup?.ranOutOfMemory() === true };
      } finally {
        await folders.giveBack(name, slotFolder);
        if (worker.cgroup !== undefined) this.#means.cgroups?.giveBack(worker.cgroup);
      }
    })();
    // Whoever launched it looks at it later.
    ended.catch(() => {});
    return { warm, stdout: child.stdout, stderr: child.stderr, ended, signal: (signal) => kill(child, signal) };
  }

  #drop({ slotFolder, cgroup }: Worker): void {
    this.#means.folders.removeUnused(slotFolder);
    if (cgroup !== undefined) this.#means.cgroups?.giveBack(cgroup);
  }

  #plan(number: number, slotFolder: string, cgroup: RunCgroup | undefined, network: boolean): SandboxPlan {
    const { tools, system } = this.#means;
    const { users, bwrap } = tools;
    const firstOfCgroup = FIRST_DESCRIPTOR + (this.#filter === undefined ? 0 : 1);
    return {
      bwrap,
      user: users ? { kind: 'own', setpriv: users.setpriv, uid: users.first + (number % users.count) } : { kind: 'namespace' },
      network,
      system,
      slotFolder,
      workspace: this.#options.workspace,
      temporaryBytes: this.#options.temporaryBytes,
      processes: this.#options.limits.processes,
      filterDescriptor: this.#filter === undefined ? undefined : FIRST_DESCRIPTOR,
      cgroupDescriptors: (cgroup?.files ?? []).map((_, index) => firstOfCgroup + index),
    };
  }

  /** Opened for each: who reads the filter reads on from where the one before stopped. */
  #openFiles(cgroup: RunCgroup | undefined): number[] {
    const filter = this.#filter === undefined ? [] : [openSync(this.#filter, 'r')];
    return [...filter, ...(cgroup?.files ?? []).map((file) => openSync(file, 'w'))];
  }
}

async function endOf(child: Child): Promise<void> {
  if (!(await child.started) || child.exitCode !== null || child.signalCode !== null) return;
  const exited = new Promise((resolve) => child.once('exit', resolve));
  kill(child, 'SIGKILL');
  await exited;
}

/**
 * To the processes in the sandbox, not to bubblewrap, which would leave without them. The first one takes nothing but SIGKILL, by which
 * all go.
 */
function kill(child: Child, signal: NodeJS.Signals): void {
  if (child.exitCode !== null || child.signalCode !== null) return;
  if (child.pid === undefined) return void child.once('spawn', () => kill(child, signal));
  const first = firstProcessOf(child.pid);
  try {
    if (first === undefined) process.kill(child.pid, 'SIGKILL');
    else process.kill(signal === 'SIGKILL' ? first : -first, signal);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}

/** Undefined while the sandbox is being made. */
function firstProcessOf(bubblewrap: number): number | undefined {
  try {
    const [first] = readFileSync(`/proc/${bubblewrap}/task/${bubblewrap}/children`, 'utf8').trim().split(' ').map(Number);
    return first || undefined;
  } catch {
    return undefined;
  }
}
