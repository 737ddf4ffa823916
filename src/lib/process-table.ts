import { readFileSync } from 'node:fs';
import { hostname } from 'node:os';

/** Which process this is and which others live: what tells a held lock from one left behind. */
export interface ProcessTable {
  readonly self: ProcessIdentity;
  isAlive(process: ProcessIdentity): boolean;
}

export interface ProcessIdentity {
  pid: number;
  /** Differs between processes that got the same pid one after the other; empty where the system does not tell. */
  startTime: string;
  hostname: string;
}

export const processTable: ProcessTable = {
  get self() {
    return identityOf(process.pid);
  },
  isAlive({ pid, startTime }) {
    try {
      process.kill(pid, 0);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EPERM') return false;
    }
    const current = startTimeOf(pid);
    if (current === ENDED) return false;
    return startTime === '' || current === '' || startTime === current;
  },
};

/** Of a process that lives now. */
export function identityOf(pid: number): ProcessIdentity {
  return { pid, startTime: startTimeOf(pid), hostname: hostname() };
}

/** Of a process that has ended, whose parent has not asked how: it holds nothing any more, for as long as that may take. */
const ENDED = 'ended';

/** Boot and clock tick at which a process began. Linux only: elsewhere a pid in use is taken for the process that had it. */
function startTimeOf(pid: number): string {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
    // The second field is the program's name in parentheses and may contain spaces and parentheses itself.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    if (fields[0] === 'Z' || fields[0] === 'X') return ENDED;
    const boot = readFileSync('/proc/sys/kernel/random/boot_id', 'latin1').trim();
    return `${boot}/${fields[19]}`;
  } catch {
    return '';
  }
}
