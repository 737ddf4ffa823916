import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Clock } from '../../../lib/clock.ts';
import type { Orphans } from './children/child.ts';
import { takeOrphans } from './children/start-child.ts';
import type { Language } from './language.ts';
import type { Launch, LaunchedProcess, Launcher } from './launcher.ts';
import { notStarted } from './not-started.ts';
import { findSandboxTools, tryOut, type SandboxTools } from './sandbox/probe-sandbox.ts';
import { findRunCgroups, type RunCgroup, type RunCgroups, type RunLimits } from './sandbox/run-cgroups.ts';
import { RunFolders, type Owner } from './sandbox/run-folder.ts';
import { gateMessage, type Inside, type SystemEntry } from './sandbox/sandbox-command.ts';
import { endSandbox, signalSandbox, startSandbox, type Sandbox } from './sandbox/start-sandbox.ts';
import { systemCallFilter } from './sandbox/system-call-filter.ts';
import { systemView } from './sandbox/system-view.ts';
import { WarmPool } from './warm-pool.ts';
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
  const limits = 'missing' in found ? found.missing : 'memory, CPU and processes of each Run are limited';
  let problem: string | undefined;
  // Runs that are no users of their own could do something to a first process that we have to rely on.
  for (const orphans of tools.users === undefined ? [undefined] : [takeOrphans(), undefined]) {
    const launcher = new ProcessLauncher(options, { tools, folders, cgroups, system, orphans });
    problem = await launcher.probe();
    if (problem !== undefined) continue;
    launcher.begin();
    return { launcher, limits };
  }
  return { unavailable: `bubblewrap does not work here: ${problem}` };
}

interface Means {
  tools: SandboxTools;
  folders: RunFolders;
  cgroups?: RunCgroups;
  system: SystemEntry[];
  orphans?: Orphans;
}

/** A sandbox that waits for a Run, or has one. */
interface Worker {
  sandbox: Sandbox;
  slotFolder: string;
  cgroup?: RunCgroup;
  user?: Owner;
  network: boolean;
}

class ProcessLauncher implements Launcher {
  readonly #options: ProcessLauncherOptions;
  readonly #means: Means;
  #filter: string | undefined;
  #next = 0;
  readonly #waiting: WarmPool<Worker>;

  constructor(options: ProcessLauncherOptions, means: Means) {
    this.#options = options;
    this.#means = means;
    this.#waiting = new WarmPool({ wanted: options.warmWorkers, start: () => this.#startWaiting(), clock: options.clock });
    const filter = systemCallFilter();
    if (filter === undefined) return;
    this.#filter = join(means.folders.slots, 'filter');
    writeFileSync(this.#filter, filter, { mode: 0o600 });
  }

  /** Whether a sandbox can be made, everything in it included. @returns why not */
  async probe(): Promise<string | undefined> {
    let worker: Worker | undefined;
    try {
      worker = this.#start({ kind: 'gated', argv: ['/bin/sh', '-c', ': > /tmp/x && test -d /proc/self'] }, false);
      return await tryOut(worker.sandbox, this.#options.clock);
    } catch (error) {
      return error instanceof Error ? error.message : String(error);
    } finally {
      if (worker !== undefined) this.#drop(worker);
    }
  }

  begin(): void {
    this.#waiting.fill();
  }

  launch(launch: Launch): LaunchedProcess {
    const { language, baseEnv } = this.#options;
    const name = this.#means.folders.nameOf(launch.workingDir);
    if (name === undefined) {
      const text = `Cannot start in "${launch.workingDir}": Runs have their folders in ${this.#options.workspace}`;
      return notStarted(new Error(text));
    }
    const message = WARM_STARTS[language.name].message(launch.program, launch.workingDir, launch.env);
    const waiting = message === undefined ? undefined : this.#waiting.take(({ network }) => network === launch.network);
    if (waiting !== undefined) return this.#run(waiting, name, message!, true);
    try {
      const worker = this.#start({ kind: 'gated', argv: language.commandLine(launch.program) }, launch.network);
      return this.#run(worker, name, gateMessage(launch.workingDir, { ...baseEnv, ...launch.env }), false);
    } catch (error) {
      return notStarted(error);
    }
  }

  async close(): Promise<void> {
    await Promise.all(
      this.#waiting.close().map(async (worker) => {
        await endSandbox(worker.sandbox);
        this.#drop(worker);
      }),
    );
    await this.#means.folders.close();
    await this.#means.cgroups?.close();
  }

  /** One that waits for a Run. @returns undefined when none can be started */
  #startWaiting(): Worker | undefined {
    const { language, network } = this.#options;
    const { argv, script } = WARM_STARTS[language.name];
    const worker = this.#tryStart({ kind: 'warm', argv, script }, network);
    if (worker === undefined) return undefined;
    const gone = () => {
      if (!this.#waiting.remove(worker)) return;
      void worker.sandbox.emptied.then(() => this.#drop(worker));
    };
    worker.sandbox.child.once('error', gone).once('exit', gone);
    return worker;
  }

  /** A Run that finds none waiting starts its own, and fails with the reason if that fails too. */
  #tryStart(inside: Inside, network: boolean): Worker | undefined {
    try {
      return this.#start(inside, network);
    } catch {
      return undefined;
    }
  }

  #start(inside: Inside, network: boolean): Worker {
    const { tools, system, folders, cgroups, orphans } = this.#means;
    const { users, bwrap } = tools;
    const { workspace, temporaryBytes, limits, baseEnv } = this.#options;
    const uid = users && users.first + (this.#next++ % users.count);
    const slotFolder = folders.make();
    const cgroup = cgroups?.take();
    const user = users && uid !== undefined ? { kind: 'own' as const, setpriv: users.setpriv, uid } : { kind: 'namespace' as const };
    const shape = { bwrap, user, network, system, slotFolder, workspace, temporaryBytes, processes: limits.processes };
    try {
      const sandbox = startSandbox(shape, inside, cgroup?.files ?? [], { filter: this.#filter, orphans, env: baseEnv });
      return { sandbox, slotFolder, cgroup, user: uid === undefined ? undefined : { uid, gid: uid }, network };
    } catch (error) {
      this.#drop({ slotFolder, cgroup });
      throw error;
    }
  }

  #run(worker: Worker, name: string, message: string, warm: boolean): LaunchedProcess {
    const { sandbox, slotFolder, user } = worker;
    const { child } = sandbox;
    const { folders } = this.#means;
    const ready = folders.take(name, slotFolder, user).then(() => child.tell(message));
    const closed = new Promise<number>((resolve, reject) => {
      child.once('error', reject);
      child.once('close', (code) => resolve(code ?? -1));
    });
    const ended = (async () => {
      try {
        await ready;
      } catch (error) {
        await endSandbox(sandbox);
        this.#drop(worker);
        throw error;
      }
      try {
        const exitCode = await closed;
        await sandbox.emptied;
        return { exitCode, ranOutOfMemory: exitCode !== 0 && worker.cgroup?.ranOutOfMemory() === true };
      } finally {
        await folders.giveBack(name, slotFolder);
        if (worker.cgroup !== undefined) this.#means.cgroups?.giveBack(worker.cgroup);
      }
    })();
    // Whoever launched it looks at it later.
    ended.catch(() => {});
    return { warm, stdout: child.stdout, stderr: child.stderr, ended, signal: (signal) => signalSandbox(child, signal) };
  }

  #drop({ slotFolder, cgroup }: Pick<Worker, 'slotFolder' | 'cgroup'>): void {
    this.#means.folders.removeUnused(slotFolder);
    if (cgroup !== undefined) this.#means.cgroups?.giveBack(cgroup);
  }
}
