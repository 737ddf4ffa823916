import { readFileSync, readdirSync } from 'node:fs';

/** A process that is not mistaken for a later one with the same number. */
export interface ProcessIdentity {
  pid: number;
  /** In ticks since the boot; empty where /proc does not tell. */
  startTime: string;
  bootId: string;
}

export interface ProcessStatus {
  pid: number;
  parent: number;
  session: number;
  /** `Z` for one that has ended and waits to be taken by its parent. */
  state: string;
  startTime: string;
}

export function identify(pid: number): ProcessIdentity {
  return { pid, startTime: readStatus(pid)?.startTime ?? '', bootId: bootId() };
}

/** Whether this very process still runs. */
export function isAlive({ pid, startTime, bootId: boot }: ProcessIdentity): boolean {
  if (!isOfThisBoot({ bootId: boot })) return false;
  const status = readStatus(pid);
  if (status !== undefined) return status.startTime === startTime && status.state !== 'Z';
  return process.platform !== 'linux' && exists(pid);
}

export function isOfThisBoot(identity: Pick<ProcessIdentity, 'bootId'>): boolean {
  return identity.bootId === bootId();
}

/** Undefined when there is no such process, or no /proc. */
export function readStatus(pid: number): ProcessStatus | undefined {
  try {
    return parseStatus(readFileSync(`/proc/${pid}/stat`, 'latin1'));
  } catch {
    return undefined;
  }
}

/** The name of the program, second field, may hold spaces and brackets: fields are counted from its last bracket. */
export function parseStatus(text: string): ProcessStatus {
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
  return { pid: Number.parseInt(text, 10), state: fields[0], parent: Number(fields[1]), session: Number(fields[3]), startTime: fields[19] };
}

export function* allProcesses(): Generator<ProcessStatus> {
  if (process.platform !== 'linux') return;
  for (const name of readdirSync('/proc')) {
    const status = /^\d+$/.test(name) ? readStatus(Number(name)) : undefined;
    if (status !== undefined) yield status;
  }
}

let knownBootId: string | undefined;

function bootId(): string {
  try {
    knownBootId ??= readFileSync('/proc/sys/kernel/random/boot_id', 'latin1').trim();
  } catch {
    knownBootId = '';
  }
  return knownBootId;
}

function exists(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}
