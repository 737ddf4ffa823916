import { execFile } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmdirSync, writeFileSync } from 'node:fs';
import { rmdir } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { sleep } from '../../../../lib/abort.ts';
import type { Clock } from '../../../../lib/clock.ts';

export interface RunLimits {
  /** Absent: a part of what the Pod has, so that one Run cannot take it all. */
  memoryBytes?: number;
  /** In thousandths of a core; absent: an equal share when there is not enough. */
  cpuMillis?: number;
  processes: number;
}

/** A cgroup per Run. To make and remove one costs more than a process: they are used again, one Run after the other. */
export interface RunCgroups {
  /** @returns one that nobody is in */
  take(): RunCgroup;
  /** All processes in it have ended. */
  giveBack(cgroup: RunCgroup): void;
  close(): Promise<void>;
}

export interface RunCgroup {
  name: string;
  /** A process that writes its number to them is in it; so is one that writes 0. */
  files: string[];
  /** Whether the kernel has killed a process in it, since it was taken, because there was not enough memory. */
  ranOutOfMemory(): boolean;
}

const ROOT = '/sys/fs/cgroup';
const V1_CONTROLLERS = ['memory', 'pids', 'cpu'];
const CPU_PERIOD_US = 100_000;
/** Of the Pod's memory, for a Run that no limit was given for. */
const SHARE_OF_MEMORY = 0.75;
/** The last process of a Run is counted for a moment after its end. */
const REMOVE_RETRY_MS = 20;
const REMOVE_TRIES = 100;

/**
 * Looks for cgroups that we may make others in.
 * @returns why there are none, where there are none
 */
export async function findRunCgroups(
  limits: RunLimits,
  clock: Clock,
  privileged: boolean,
): Promise<{ cgroups: RunCgroups } | { missing: string }> {
  if (!privileged) return { missing: 'limits per Run need root' };
  try {
    if (existsSync(join(ROOT, 'cgroup.controllers'))) return { cgroups: await unifiedCgroups(limits, clock) };
    return { cgroups: await v1Cgroups(limits, clock) };
  } catch (error) {
    return { missing: `limits per Run need writable cgroups: ${error instanceof Error ? error.message : String(error)}` };
  }
}

async function v1Cgroups(limits: RunLimits, clock: Clock): Promise<RunCgroups> {
  const folders = new Map<string, string>();
  for (const controller of V1_CONTROLLERS) {
    const folder = ownFolder(join(ROOT, controller), controller);
    await makeWritable(join(ROOT, controller), folder);
    folders.set(controller, folder);
  }
  const memory = limits.memoryBytes ?? partOf(readFileSync(join(folders.get('memory')!, 'memory.limit_in_bytes'), 'utf8'));
  const killsIn = (name: string) => killsOf(join(folders.get('memory')!, name, 'memory.oom_control'));
  return cgroupsIn([...folders.values()], clock, killsIn, (name) => {
    const at = (controller: string) => join(folders.get(controller)!, name);
    if (memory !== undefined) writeFileSync(join(at('memory'), 'memory.limit_in_bytes'), String(memory));
    writeFileSync(join(at('pids'), 'pids.max'), String(limits.processes));
    if (limits.cpuMillis !== undefined) {
      writeFileSync(join(at('cpu'), 'cpu.cfs_quota_us'), String((limits.cpuMillis * CPU_PERIOD_US) / 1000));
    }
  });
}

async function unifiedCgroups(limits: RunLimits, clock: Clock): Promise<RunCgroups> {
  const folder = ownFolder(ROOT, '');
  await makeWritable(ROOT, folder);
  // Processes and limits for others cannot be in the same one: we and ours move a step down.
  const own = join(folder, 'server');
  mkdirSync(own, { recursive: true });
  for (const pid of readFileSync(join(folder, 'cgroup.procs'), 'utf8').trim().split('\n')) writeFileSync(join(own, 'cgroup.procs'), pid);
  writeFileSync(join(folder, 'cgroup.subtree_control'), '+memory +pids +cpu');
  const max = join(folder, 'memory.max');
  const memory = limits.memoryBytes ?? (existsSync(max) ? partOf(readFileSync(max, 'utf8')) : undefined);
  const killsIn = (name: string) => killsOf(join(folder, name, 'memory.events'));
  return cgroupsIn([folder], clock, killsIn, (name) => {
    const at = join(folder, name);
    if (memory !== undefined) writeFileSync(join(at, 'memory.max'), String(memory));
    writeFileSync(join(at, 'pids.max'), String(limits.processes));
    if (limits.cpuMillis !== undefined) {
      writeFileSync(join(at, 'cpu.max'), `${(limits.cpuMillis * CPU_PERIOD_US) / 1000} ${CPU_PERIOD_US}`);
    }
  });
}

/** Those of servers that were killed. */
function removeStale(folder: string): void {
  for (const name of readdirSync(folder)) {
    const [, pid] = /^run-(\d+)-\d+$/.exec(name) ?? [];
    if (pid === undefined || existsSync(`/proc/${pid}`)) continue;
    try {
      rmdirSync(join(folder, name));
    } catch {
      // Somebody is still in it: the next one that starts removes it.
    }
  }
}

/** How often the kernel has killed for want of memory, as both versions count it. */
function killsOf(file: string): number {
  try {
    return Number(/^oom_kill (\d+)$/m.exec(readFileSync(file, 'utf8'))?.[1] ?? 0);
  } catch {
    return 0;
  }
}

function cgroupsIn(folders: string[], clock: Clock, killsIn: (name: string) => number, limit: (name: string) => void): RunCgroups {
  const free: string[] = [];
  let made = 0;
  const removeOne = async (folder: string, tries = REMOVE_TRIES): Promise<void> => {
    const error = await rmdir(folder).catch((reason: NodeJS.ErrnoException) => reason);
    if (error?.code !== 'EBUSY' || tries === 0) return;
    await sleep(clock, REMOVE_RETRY_MS);
    await removeOne(folder, tries - 1);
  };
  for (const folder of folders) removeStale(folder);
  const make = (): string => {
    const name = nameOf(made++);
    for (const folder of folders) mkdirSync(join(folder, name), { recursive: true });
    limit(name);
    return name;
  };
  return {
    take() {
      const name = free.pop() ?? make();
      // Those of Runs before are counted, too.
      const before = killsIn(name);
      const files = folders.map((folder) => join(folder, name, 'cgroup.procs'));
      return { name, files, ranOutOfMemory: () => killsIn(name) > before };
    },
    giveBack: ({ name }) => void free.push(name),
    async close() {
      await Promise.all(free.splice(0).flatMap((name) => folders.map((folder) => removeOne(join(folder, name)))));
    },
  };
}

/** Names differ between servers in one cgroup: outside of a container several may be. */
function nameOf(number: number): string {
  return `run-${process.pid}-${number}`;
}

/** The one that we are in: at the root of what is mounted in a container, below it otherwise. */
function ownFolder(root: string, controller: string): string {
  const lines = readFileSync('/proc/self/cgroup', 'utf8').split('\n');
  const path = lines.map((line) => line.split(':')).find(([, names]) => names?.split(',').includes(controller))?.[2] ?? '/';
  const candidates = [join(root, path), root];
  const found = candidates.find((folder) => {
    const file = join(folder, 'cgroup.procs');
    return existsSync(file) && readFileSync(file, 'utf8').split('\n').includes(String(process.pid));
  });
  if (found === undefined) throw new Error(`our own is not below ${root}`);
  return found;
}

/** Containers have them read-only, which one that may mount can change. */
async function makeWritable(mount: string, folder: string): Promise<void> {
  const test = join(folder, `probe-${process.pid}`);
  const tryOut = () => {
    mkdirSync(test);
    rmdirSync(test);
  };
  try {
    tryOut();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EROFS') throw error;
    await promisify(execFile)('mount', ['-o', 'remount,rw,bind', mount]);
    tryOut();
  }
}

function partOf(limit: string): number | undefined {
  const bytes = Number(limit.trim());
  // `max`, or a number so large that it means the same.
  return Number.isFinite(bytes) && bytes < 2 ** 60 ? Math.floor(bytes * SHARE_OF_MEMORY) : undefined;
}
