import { readdirSync, readFileSync } from 'node:fs';
import type { Clock } from '../../../../lib/clock.ts';

export interface ProcessUsage {
  pid: number;
  parent: number;
  session: number;
  cpuTicks: number;
  memoryPages: number;
}

/** Fixed on Linux, whatever the kernel's own timer does. */
const NANOSECONDS_PER_TICK = 10_000_000;
const PAGE_BYTES = 4096;
/** All containers of one round of questions are answered from one look at the machine. */
const FRESH_MS = 500;
const PER_TURN = 64;

/** The processes of containers that have no cgroup: what descends from their first process or shares its session. */
export class ContainerProcesses {
  readonly #clock: Clock;
  #latest: { at: number; processes: Promise<ProcessUsage[]> } | undefined;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  async usage(leader: number): Promise<{ cpuNanoseconds: number; memoryBytes: number } | undefined> {
    const own = membersOf(leader, await this.#processes());
    if (own.length === 0) return undefined;
    return {
      cpuNanoseconds: own.reduce((sum, { cpuTicks }) => sum + cpuTicks, 0) * NANOSECONDS_PER_TICK,
      memoryBytes: own.reduce((sum, { memoryPages }) => sum + memoryPages, 0) * PAGE_BYTES,
    };
  }

  /** As of now, the leader first. */
  async members(leader: number): Promise<number[]> {
    this.#latest = undefined;
    return membersOf(leader, await this.#processes()).map(({ pid }) => pid);
  }

  /** As of now, the oldest first. */
  async childrenOf(pid: number): Promise<number[]> {
    this.#latest = undefined;
    const children = (await this.#processes()).filter(({ parent }) => parent === pid);
    return children.map((child) => child.pid).sort((a, b) => a - b);
  }

  #processes(): Promise<ProcessUsage[]> {
    const now = this.#clock.monotonic();
    if (this.#latest === undefined || now - this.#latest.at > FRESH_MS) this.#latest = { at: now, processes: allProcesses() };
    return this.#latest.processes;
  }
}

export function membersOf(leader: number, all: readonly ProcessUsage[]): ProcessUsage[] {
  const children = new Map<number, ProcessUsage[]>();
  for (const each of all) {
    const siblings = children.get(each.parent);
    if (siblings === undefined) children.set(each.parent, [each]);
    else siblings.push(each);
  }
  const found = new Map<number, ProcessUsage>();
  const queue = all
    .filter(({ pid, session }) => pid === leader || session === leader)
    .toSorted((a, b) => order(a, leader) - order(b, leader));
  for (const each of queue) {
    if (found.has(each.pid)) continue;
    found.set(each.pid, each);
    queue.push(...(children.get(each.pid) ?? []));
  }
  return [...found.values()];
}

function order({ pid }: ProcessUsage, leader: number): number {
  return pid === leader ? 0 : 1;
}

async function allProcesses(): Promise<ProcessUsage[]> {
  if (process.platform !== 'linux') return [];
  const pids = readdirSync('/proc').filter((name) => /^\d+$/.test(name));
  const found: ProcessUsage[] = [];
  for (let at = 0; at < pids.length; at += PER_TURN) {
    for (const pid of pids.slice(at, at + PER_TURN)) {
      const usage = read(pid);
      if (usage !== undefined) found.push(usage);
    }
    await new Promise<void>((resolve) => void setImmediate(resolve));
  }
  return found;
}

function read(pid: string): ProcessUsage | undefined {
  try {
    return parseUsage(readFileSync(`/proc/${pid}/stat`, 'latin1'));
  } catch {
    return undefined;
  }
}

/** Fields are counted from behind the name of the program, which may hold anything. Ended children are counted with their parent. */
export function parseUsage(text: string): ProcessUsage {
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
  const [user, system, childrenUser, childrenSystem] = fields.slice(11, 15).map(Number);
  return {
    pid: Number.parseInt(text, 10),
    parent: Number(fields[1]),
    session: Number(fields[3]),
    cpuTicks: user + system + childrenUser + childrenSystem,
    memoryPages: Number(fields[21]),
  };
}
