import { mkdirSync, realpathSync } from 'node:fs';
import { readdir, writeFile } from 'node:fs/promises';
import { realClock, type Clock } from '../../../../lib/clock.ts';
import { BUILT_IN_REGISTRY } from '../../images/built-in.ts';
import { ShimError, type ProgramEnd, type Shim, type ShimProgram, type ShimProgramState } from '../../shim/shim.ts';
import type { Cgroups } from '../cgroups/cgroups.ts';
import {
  ContainerError,
  type ContainerEnd,
  type ContainerSpec,
  type Driver,
  type DriverContainer,
  type ExecSpec,
  type PodProcessors,
  type SandboxSpec,
} from '../driver.ts';
import {
  containerFolder,
  exists,
  linkVolumes,
  makeContainerFolder,
  readPlan,
  removeContainerFolder,
  systemPaths,
  type ContainerFolder,
} from './container-folder.ts';
import {
  execCommand,
  leadsTerminal,
  machinePaths,
  planContainer,
  startCommand,
  type ContainerPlan,
  type Surroundings,
} from './container-plan.ts';
import { ContainerProcesses } from './container-processes.ts';
import { mainProcess } from './main-process.ts';
import { MemoryWatch } from './memory-watch.ts';
import { missingIsolation } from './missing-isolation.ts';
import type { SystemPath } from './model/bubblewrap.ts';
import { ProcessCgroups } from './process-cgroups.ts';
import { checkCommand } from './resolve-command.ts';
import type { SandboxTools } from './sandbox-tools.ts';

export interface ProcessDriverOptions {
  shim: Shim;
  /** Ours alone: a folder per container. As root without a sandbox others must be able to pass through what is above it. */
  dir: string;
  /** See probeSandboxTools. */
  tools: SandboxTools;
  /** Files and folders that built-in images run from (Node, the product), besides the machine's own programs. */
  programs: string[];
  /** What containers never see, wherever it is: the data directory. Without a sandbox only its own rights protect it. */
  hidden?: string[];
  /** When root and the machine has them; absent: limits are watched, or not kept at all. */
  cgroups?: Cgroups;
  log?: { maxBytes: number; maxFiles: number };
  clock?: Clock;
}

/** As the kubelet has it. */
const DEFAULT_LOG = { maxBytes: 10 << 20, maxFiles: 5 };
const DRIVER_LABEL = 'process';
/** For the tools only; the container's own comes later in the chain. */
const TOOLS_ENVIRONMENT = { PATH: '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin' };

export function createProcessDriver(options: ProcessDriverOptions): Driver {
  return new ProcessDriver(options);
}

/** Runs built-in images as processes of the machine, in a sandbox of bubblewrap where there is one. Needs neither root nor a container runtime. */
class ProcessDriver implements Driver {
  readonly name = 'process';
  readonly missingIsolation: readonly string[];
  readonly processors?: PodProcessors;
  readonly #options: ProcessDriverOptions;
  readonly #shim: Shim;
  readonly #clock: Clock;
  readonly #dir: string;
  readonly #cgroups: ProcessCgroups | undefined;
  readonly #processes: ContainerProcesses;
  readonly #memory: MemoryWatch;
  /** The shim's children by container: known without asking the shim for the list of all. */
  readonly #leaders = new Map<string, number>();
  #system: Promise<SystemPath[]> | undefined;

  constructor(options: ProcessDriverOptions) {
    this.#options = options;
    this.#shim = options.shim;
    this.#clock = options.clock ?? realClock;
    mkdirSync(options.dir, { recursive: true, mode: 0o711 });
    this.#dir = realpathSync(options.dir);
    this.#cgroups = options.cgroups && new ProcessCgroups(options.cgroups, this.#dir);
    if (this.#cgroups !== undefined) this.processors = this.#cgroups.processors;
    this.#processes = new ContainerProcesses(this.#clock);
    this.#memory = new MemoryWatch(this.#clock);
    this.missingIsolation = missingIsolation(options.tools, { cgroups: options.cgroups !== undefined });
  }

  cannotRun(reference: string): string | undefined {
    if (reference.startsWith(`${BUILT_IN_REGISTRY}/`)) return undefined;
    return `Cannot run "${reference}": this node runs only built-in images (tenantry.dev/...); run tenantry as root with runc or crun`;
  }

  async prepareSandbox({ pod, limits }: SandboxSpec): Promise<void> {
    await this.#cgroups?.makePod(pod.uid, limits);
  }

  async start(spec: ContainerSpec): Promise<{ startedAt: Date }> {
    const reason = this.cannotRun(spec.image.name);
    if (reason !== undefined) throw new ContainerError('CreateContainerError', reason);
    const folder = this.#folder(spec.id);
    const plan = planContainer(spec, this.#options.tools, folder);
    const surroundings = {
      ...(await this.#surroundings(spec.id)),
      cgroupFiles: (await this.#cgroups?.makeContainer(spec.id, spec.limits)) ?? [],
    };
    try {
      await checkCommand(plan.command[0], {
        path: plan.env.PATH,
        workingDir: plan.workingDir,
        toMachine: machinePaths(plan, surroundings),
      });
      await this.#makeFolder(folder, plan);
      const { startedAt, pid } = await this.#shim.start(this.#program(spec, startCommand(plan, surroundings, spec.terminal), plan));
      this.#leaders.set(spec.id, pid);
      this.#watchMemory(spec.id, pid, spec.limits.memoryBytes);
      return { startedAt };
    } catch (error) {
      if (error instanceof ShimError && error.code === 'AlreadyExists') return this.#known(spec.id);
      await this.#undo(spec.id);
      throw asContainerError(error);
    }
  }

  async list(): Promise<DriverContainer[]> {
    return Promise.all((await this.#states()).map((state) => this.#described(state)));
  }

  async ended(id: string): Promise<ContainerEnd> {
    const end = await this.#shim.ended(id);
    this.#leaders.delete(id);
    return this.#withOom(id, end);
  }

  async signal(id: string, signal: NodeJS.Signals): Promise<void> {
    const pid = await this.#leader(id);
    if (pid === undefined) return;
    if (signal === 'SIGKILL') return this.#kill(id, pid);
    const main = await mainProcess(pid, this.#options.tools.bwrap !== undefined, this.#processes);
    // Still making its sandbox: nobody would take the signal, and the start fails.
    if (main === undefined || main === pid) return this.#shim.signal(id, signal);
    kill(main, signal);
  }

  async exec(id: string, spec: ExecSpec): ReturnType<Driver['exec']> {
    const { tools } = this.#options;
    const pid = await this.#leader(id);
    const plan = await readPlan<ContainerPlan>(this.#folder(id));
    const main = pid === undefined ? undefined : await mainProcess(pid, tools.bwrap !== undefined, this.#processes);
    if (plan === undefined || main === undefined) throw new ContainerError('CreateContainerError', `container not found ("${id}")`);
    if (tools.bwrap !== undefined && tools.nsenter === undefined) {
      throw new ContainerError('StartError', 'Cannot enter the sandbox of a container: nsenter is not there; install util-linux');
    }
    const surroundings = await this.#surroundings(id);
    await checkCommand(spec.command[0], { path: plan.env.PATH, workingDir: plan.workingDir, toMachine: machinePaths(plan, surroundings) });
    const { terminal, stdin } = spec;
    return this.#shim.run({
      argv: execCommand(plan, surroundings, main, spec),
      env: TOOLS_ENVIRONMENT,
      cwd: '/',
      stdioOwner: plan.user,
      terminal,
      leadsTerminal: leadsTerminal(tools, terminal),
      stdin,
    });
  }

  attach(id: string): ReturnType<Driver['attach']> {
    return this.#shim.attach(id);
  }

  async stats(id: string): ReturnType<Driver['stats']> {
    const pid = await this.#leader(id);
    if (pid === undefined) return undefined;
    const stats = this.#cgroups === undefined ? await this.#processes.usage(pid) : await this.#cgroups.stats(id);
    return stats && { ...stats, at: new Date(this.#clock.now()) };
  }

  async remove(id: string): Promise<void> {
    await this.#undo(id);
    // Last: for as long as the shim knows the container, the next agent finds it and removes it again.
    await this.#shim.forget(id);
  }

  async removeSandbox(podUid: string): Promise<void> {
    await this.#cgroups?.removePod(podUid);
  }

  async cleanUp(livePodUids: ReadonlySet<string>): Promise<void> {
    const states = await this.#states();
    for (const { id, pid, labels, end } of states) {
      if (livePodUids.has(labels.uid)) {
        if (end === undefined) this.#watchMemory(id, pid, Number(labels.memoryBytes) || undefined);
        continue;
      }
      if (end === undefined) {
        await this.#kill(id, pid);
        await this.#shim.ended(id);
      }
      await this.remove(id);
    }
    const known = new Set(states.map(({ id }) => id));
    for (const id of await readdir(this.#dir)) if (!known.has(id)) await removeContainerFolder(this.#folder(id));
    for (const uid of (await this.#cgroups?.pods()) ?? []) if (!livePodUids.has(uid)) await this.removeSandbox(uid);
  }

  async #surroundings(id: string): Promise<Surroundings> {
    this.#system ??= systemPaths(this.#options.programs, this.#options.hidden ?? [this.#dir]);
    const cgroupFiles = (await this.#cgroups?.filesOf(id)) ?? [];
    return { tools: this.#options.tools, folder: this.#folder(id), system: await this.#system, cgroupFiles };
  }

  async #makeFolder(folder: ContainerFolder, plan: ContainerPlan): Promise<void> {
    await makeContainerFolder(folder, plan.env, plan.user);
    await writeFile(folder.plan, JSON.stringify(plan), { mode: 0o600 });
    if (this.#options.tools.bwrap === undefined) await linkVolumes(folder.root, plan.mounts);
  }

  #program(spec: ContainerSpec, argv: string[], { user }: ContainerPlan): ShimProgram {
    const { id, pod, name, attempt, limits, terminal, stdin, stdinOnce, logPath } = spec;
    const labels: Record<string, string> = {
      driver: DRIVER_LABEL,
      namespace: pod.namespace,
      pod: pod.name,
      uid: pod.uid,
      container: name,
      attempt: String(attempt),
    };
    if (limits.memoryBytes !== undefined) labels.memoryBytes = String(limits.memoryBytes);
    return {
      id,
      argv,
      env: TOOLS_ENVIRONMENT,
      cwd: '/',
      stdioOwner: user,
      terminal,
      leadsTerminal: leadsTerminal(this.#options.tools, terminal),
      stdin,
      stdinOnce,
      saysWhenReady: true,
      log: { path: logPath, ...(this.#options.log ?? DEFAULT_LOG) },
      labels,
    };
  }

  #folder(id: string): ContainerFolder {
    return containerFolder(this.#dir, id);
  }

  async #states(): Promise<ShimProgramState[]> {
    return (await this.#shim.list()).filter(({ labels }) => labels.driver === DRIVER_LABEL);
  }

  async #state(id: string): Promise<ShimProgramState> {
    const state = (await this.#states()).find((each) => each.id === id);
    if (state === undefined) throw new ContainerError('CreateContainerError', `container not found ("${id}")`);
    return state;
  }

  /** Undefined when it has ended. */
  async #leader(id: string): Promise<number | undefined> {
    const known = this.#leaders.get(id);
    if (known !== undefined) return known;
    const { pid, end } = await this.#state(id);
    if (end !== undefined) return undefined;
    this.#leaders.set(id, pid);
    return pid;
  }

  async #known(id: string): Promise<{ startedAt: Date }> {
    const { startedAt } = await this.#state(id);
    return { startedAt };
  }

  async #described(state: ShimProgramState): Promise<DriverContainer> {
    const { id, labels, startedAt, end } = state;
    const pod = { namespace: labels.namespace, name: labels.pod, uid: labels.uid };
    const container = { id, pod, name: labels.container, attempt: Number(labels.attempt), startedAt };
    return end ? { ...container, end: await this.#withOom(id, end) } : container;
  }

  async #withOom(id: string, end: ProgramEnd): Promise<ContainerEnd> {
    const watched = await exists(this.#folder(id).memoryExceeded);
    return { ...end, oomKilled: watched || (end.exitCode !== 0 && ((await this.#cgroups?.outOfMemory(id)) ?? false)) };
  }

  /** The end of the first process ends its session and its sandbox; only without a sandbox there may be more, found by descent. */
  async #kill(id: string, pid: number): Promise<void> {
    if (this.#cgroups !== undefined) return this.#cgroups.kill(id);
    if (this.#options.tools.bwrap === undefined) for (const each of await this.#processes.members(pid)) kill(each, 'SIGKILL');
    await this.#shim.signal(id, 'SIGKILL');
  }

  #watchMemory(id: string, pid: number, memoryBytes: number | undefined): void {
    if (this.#cgroups !== undefined || memoryBytes === undefined) return;
    this.#memory.add({
      id,
      memoryBytes,
      usage: async () => (await this.#processes.usage(pid))?.memoryBytes,
      over: async () => {
        await writeFile(this.#folder(id).memoryExceeded, '');
        await this.#kill(id, pid);
      },
    });
  }

  async #undo(id: string): Promise<void> {
    this.#memory.remove(id);
    this.#leaders.delete(id);
    await this.#cgroups?.removeContainer(id);
    await removeContainerFolder(this.#folder(id));
  }
}

function asContainerError(error: unknown): unknown {
  if (!(error instanceof ShimError)) return error;
  return new ContainerError(error.code === 'Disconnected' ? 'RunContainerError' : 'StartError', error.message, { cause: error });
}

function kill(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch (error) {
    // It is gone already.
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}
