import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { readFile, mkdir, readdir, rmdir, writeFile } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { sleep } from '../../../../lib/abort.ts';
import { realClock, type Clock } from '../../../../lib/clock.ts';
import type { ResourceLimits } from '../driver.ts';
import { limitWrites, type CgroupWrite } from './cgroup-limits.ts';
import { NEEDED_CONTROLLERS, parseCgroupLayout, type CgroupLayout } from './cgroup-layout.ts';
import { parseProcesses, valueOf, workingSet } from './cgroup-readings.ts';

/**
 * Cgroups by their path from the root of the trees (`/tenantry-1a2b/pod.../web.0`), the same in each tree. Paths are absolute on
 * purpose: whoever starts us may sit in a cgroup of its own (a service manager, a session), which goes away with it, while Pods stay.
 */
export interface Cgroups {
  readonly version: 'v1' | 'v2';
  /** Makes it and sets its limits; what is there is taken and limited anew. */
  create(path: string, limits?: Partial<ResourceLimits>): Promise<void>;
  add(path: string, pid: number): Promise<void>;
  /** Of the cgroup and everything below it; empty when it is not there. */
  processes(path: string): Promise<number[]>;
  /** Kills all of its processes, below it too, and waits until they are gone. */
  kill(path: string): Promise<void>;
  stats(path: string): Promise<CgroupStats | undefined>;
  /** Undefined when it is not there. At once: through the thread pool it would cost many times as much, and it is asked for many in a row. */
  cpuNanoseconds(path: string): number | undefined;
  /**
   * While a cgroup gives way, whoever else below the same parent wants a processor gets it at once. Afterwards it has these shares: the
   * kernel forgets them, and in between it would weigh as much as any. @returns false where the kernel cannot do that; one that is gone
   * has given way for ever
   */
  giveWay(path: string, gives: boolean, cpuShares: number): boolean;
  /** Whether swap can be limited in this cgroup, which must be there. */
  countsSwap(path: string): Promise<boolean>;
  /** How many processes the kernel has killed here for want of memory. */
  oomKills(path: string): Promise<number>;
  /** The names right below it, in any of the trees: container runtimes use more of them than we do. */
  children(path: string): Promise<string[]>;
  /** Removes it and everything below it. It must have no processes. */
  remove(path: string): Promise<void>;
  /** Removes it unless there is something in it, or below it. */
  removeIfEmpty(path: string): Promise<void>;
}

export interface CgroupStats {
  cpuNanoseconds: number;
  memoryBytes: number;
}

export class CgroupError extends Error {}

const RETRY_MS = 4;
const LONGEST_WAIT_MS = 5000;

/** The cgroups of this machine, or why there are none that hold. */
export async function machineCgroups(clock: Clock = realClock): Promise<{ cgroups?: Cgroups; why?: string }> {
  const layout = parseCgroupLayout(await readFile('/proc/self/mountinfo', 'utf8'));
  if (!layout) return { why: 'no cgroups are mounted' };
  const missing = layout.version === 'v1' ? NEEDED_CONTROLLERS.filter((name) => !layout.controllers.has(name)) : await missingInV2(layout);
  if (missing.length > 0) return { why: `the machine lacks the cgroup controllers ${missing.join(', ')}` };
  return { cgroups: createCgroups(layout, clock) };
}

async function missingInV2(layout: CgroupLayout): Promise<string[]> {
  const there = (await readFile(join(layout.trees[0], 'cgroup.controllers'), 'utf8')).trim().split(' ');
  return NEEDED_CONTROLLERS.filter((name) => !there.includes(name));
}

export function createCgroups(layout: CgroupLayout, clock: Clock = realClock): Cgroups {
  const folderOf = (controller: string, path: string): string => join(layout.controllers.get(controller) ?? layout.trees[0], path);
  const foldersOf = (path: string): string[] => layout.trees.map((tree) => join(tree, path));
  const limitedFoldersOf = (path: string): string[] => limitedTrees(layout).map((tree) => join(tree, path));
  const memory = layout.version === 'v1' ? 'memory' : 'unified';

  const cgroups: Cgroups = {
    version: layout.version,

    async create(path, limits) {
      await again(async () => {
        if (layout.version === 'v2') await delegate(layout.trees[0], path);
        await Promise.all(limitedFoldersOf(path).map((folder) => mkdir(folder, { recursive: true })));
      });
      for (const write of limits ? limitWrites(layout.version, limits) : []) await apply(folderOf(write.controller, path), path, write);
    },

    async add(path, pid) {
      await Promise.all(limitedFoldersOf(path).map((folder) => writeFile(join(folder, 'cgroup.procs'), String(pid))));
    },

    async processes(path) {
      // A process is in every tree; the one with the pids limit is always there.
      const folder = folderOf(layout.version === 'v1' ? 'pids' : 'unified', path);
      const lists = await Promise.all((await below(folder)).map((each) => textOf(join(each, 'cgroup.procs'))));
      return lists.flatMap((text) => parseProcesses(text ?? ''));
    },

    async kill(path) {
      const folder = folderOf(layout.version === 'v1' ? 'pids' : 'unified', path);
      await killAll(cgroups, path, folder, clock);
    },

    async stats(path) {
      return layout.version === 'v1'
        ? statsOfV1(folderOf('cpuacct', path), folderOf('memory', path))
        : statsOfV2(folderOf('unified', path));
    },

    cpuNanoseconds(path) {
      return layout.version === 'v1' ? cpuTimeOfV1(folderOf('cpuacct', path)) : cpuTimeOfV2(folderOf('unified', path));
    },

    giveWay(path, gives, cpuShares) {
      const writes = limitWrites(layout.version, { cpuShares }).map(({ controller, file, value }) => ({
        file: join(folderOf(controller, path), file),
        value,
      }));
      return gives ? giveWay(writes.map(({ file }) => file)) : takeTurns(writes);
    },

    async countsSwap(path) {
      const file = layout.version === 'v1' ? 'memory.memsw.limit_in_bytes' : 'memory.swap.max';
      return (await textOf(join(folderOf(memory, path), file))) !== undefined;
    },

    async oomKills(path) {
      const text = await textOf(join(folderOf(memory, path), layout.version === 'v1' ? 'memory.oom_control' : 'memory.events'));
      return valueOf(text ?? '', 'oom_kill') ?? 0;
    },

    async children(path) {
      const names = await Promise.all(foldersOf(path).map(childrenOf));
      return [...new Set(names.flat())];
    },

    async remove(path) {
      await Promise.all(foldersOf(path).map((folder) => removeTree(folder, clock)));
    },

    async removeIfEmpty(path) {
      await Promise.all(foldersOf(path).map((folder) => rmdir(folder).catch(() => undefined)));
    },
  };
  return cgroups;
}

/** Of v1 only what limits and counts: a cpuset, for one, takes no process before it was given cores. */
function limitedTrees(layout: CgroupLayout): string[] {
  if (layout.version === 'v2') return [...layout.trees];
  const trees = ['cpu', 'cpuacct', 'memory', 'pids'].map((name) => layout.controllers.get(name));
  return [...new Set(trees.filter((tree) => tree !== undefined))];
}

const MOST_ATTEMPTS = 5;

/** Somebody may remove a parent, because it is empty, at the moment in which we make something in it. */
async function again(work: () => Promise<void>): Promise<void> {
  for (let attempt = 1; ; attempt++) {
    try {
      await work();
      return;
    } catch (error) {
      const cause = error instanceof CgroupError ? error.cause : error;
      if (!isGone(cause) || attempt === MOST_ATTEMPTS) throw error;
    }
  }
}

/** Lets the children of every cgroup on the way use the controllers. */
async function delegate(tree: string, path: string): Promise<void> {
  let folder = tree;
  for (const name of relative('/', path).split('/')) {
    const wanted = NEEDED_CONTROLLERS.map((controller) => `+${controller}`).join(' ');
    try {
      await writeFile(join(folder, 'cgroup.subtree_control'), wanted);
    } catch (error) {
      throw new CgroupError(`Cannot limit what runs below the cgroup "${folder}": ${messageOf(error)}; it must hold no processes itself.`, {
        cause: error,
      });
    }
    folder = join(folder, name);
    await mkdir(folder, { recursive: true });
  }
}

async function apply(folder: string, path: string, write: CgroupWrite): Promise<void> {
  try {
    await writeFile(join(folder, write.file), write.value);
  } catch (error) {
    if (write.optional) return;
    throw new CgroupError(`Cannot set ${write.file} of the cgroup "${path}" to ${write.value}: ${messageOf(error)}.`, { cause: error });
  }
}

function giveWay([idle, shares]: string[]): boolean {
  // The files of a cgroup that is removed go one after the other, that of the shares first.
  return writeNow(idle, '1') || !existsSync(shares);
}

function takeTurns(writes: { file: string; value: string }[]): boolean {
  for (const { file, value } of writes) writeNow(file, value);
  return true;
}

/** Makes nothing. @returns false when it is not there: a Pod may end at any moment */
function writeNow(file: string, value: string): boolean {
  try {
    writeFileSync(file, value, { flag: 'r+' });
    return true;
  } catch (error) {
    if (isGone(error) || isGoing(error)) return false;
    throw error;
  }
}

async function killAll(cgroups: Cgroups, path: string, folder: string, clock: Clock): Promise<void> {
  const deadline = clock.monotonic() + LONGEST_WAIT_MS;
  for (let round = 0; ; round++) {
    const pids = await cgroups.processes(path);
    if (pids.length === 0) return;
    for (const pid of pids) killQuietly(pid);
    if (clock.monotonic() > deadline)
      throw new CgroupError(`Cannot end the processes of the cgroup "${path}": ${pids.length} are still there after SIGKILL.`);
    // Nothing more may be born while the others die: a fork bomb is faster than we are. Not before all had their SIGKILL: a program
    // that cannot fork might end by itself, with an exit code of its own.
    if (round === 0) await writeFile(join(folder, 'pids.max'), '0').catch(() => undefined);
    await sleep(clock, RETRY_MS);
  }
}

function killQuietly(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // Gone already.
  }
}

async function statsOfV1(cpuacct: string, memory: string): Promise<CgroupStats | undefined> {
  const [cpu, usage, stat] = await Promise.all([
    textOf(join(cpuacct, 'cpuacct.usage')),
    textOf(join(memory, 'memory.usage_in_bytes')),
    textOf(join(memory, 'memory.stat')),
  ]);
  if (usage === undefined || stat === undefined) return undefined;
  return { cpuNanoseconds: Number(cpu ?? 0), memoryBytes: workingSet(Number(usage), stat, 'total_inactive_file') };
}

function cpuTimeOfV1(cpuacct: string): number | undefined {
  const text = textNow(join(cpuacct, 'cpuacct.usage'));
  return text === undefined ? undefined : Number(text);
}

function cpuTimeOfV2(folder: string): number | undefined {
  const microseconds = valueOf(textNow(join(folder, 'cpu.stat')) ?? '', 'usage_usec');
  return microseconds === undefined ? undefined : microseconds * 1000;
}

async function statsOfV2(folder: string): Promise<CgroupStats | undefined> {
  const [cpu, usage, stat] = await Promise.all(['cpu.stat', 'memory.current', 'memory.stat'].map((file) => textOf(join(folder, file))));
  if (usage === undefined || stat === undefined) return undefined;
  const microseconds = valueOf(cpu ?? '', 'usage_usec') ?? 0;
  return { cpuNanoseconds: microseconds * 1000, memoryBytes: workingSet(Number(usage), stat, 'inactive_file') };
}

/** The folder and all below it, the deepest last; empty when it is not there. */
async function below(folder: string): Promise<string[]> {
  const found = [folder];
  for (const each of found) found.push(...(await childrenOf(each)).map((name) => join(each, name)));
  return found;
}

async function childrenOf(folder: string): Promise<string[]> {
  try {
    return (await readdir(folder, { withFileTypes: true })).filter((entry) => entry.isDirectory()).map((entry) => entry.name);
  } catch (error) {
    if (isGone(error)) return [];
    throw error;
  }
}

async function removeTree(folder: string, clock: Clock): Promise<void> {
  const deadline = clock.monotonic() + LONGEST_WAIT_MS;
  for (const each of (await below(folder)).reverse()) {
    // A process that was killed leaves its cgroup a moment after it is gone from the list.
    while (!(await removed(each, clock.monotonic() > deadline))) await sleep(clock, RETRY_MS);
  }
}

async function removed(folder: string, last: boolean): Promise<boolean> {
  try {
    await rmdir(folder);
    return true;
  } catch (error) {
    if (isGone(error)) return true;
    if ((error as NodeJS.ErrnoException).code === 'EBUSY' && !last) return false;
    throw new CgroupError(`Cannot remove the cgroup "${folder}": ${messageOf(error)}.`, { cause: error });
  }
}

/** Undefined when the cgroup (or the machine's support for the file) is not there. */
async function textOf(file: string): Promise<string | undefined> {
  try {
    return await readFile(file, 'utf8');
  } catch (error) {
    if (isGone(error) || isGoing(error)) return undefined;
    throw error;
  }
}

function textNow(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    if (isGone(error) || isGoing(error)) return undefined;
    throw error;
  }
}

/** Removed while it was read or written. */
function isGoing(error: unknown): boolean {
  return (error as NodeJS.ErrnoException).code === 'ENODEV';
}

function isGone(error: unknown): boolean {
  return (error as NodeJS.ErrnoException).code === 'ENOENT';
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
