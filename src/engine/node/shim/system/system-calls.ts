import type { LibraryHandle } from 'koffi';
import { descriptorCalls } from './receive-descriptor.ts';

/** What the shim needs of the kernel and Node does not offer. Linux only; elsewhere the shim does with less. */
export interface SystemCalls {
  /** Orphans among our descendants become our children. */
  becomeSubreaper(): void;
  /** A child that has ended, left as it is; undefined when there is none. */
  peekEndedChild(): number | undefined;
  /** Takes the end of this child; undefined when it has not ended or is not ours. */
  reap(pid: number): ExitStatus | undefined;
  pipe(): { read: number; write: number };
  /** False when another process holds it. Held until this process ends. */
  tryLock(fd: number): boolean;
  /** A new terminal: unlocks the master's other side and tells its path. */
  terminalOf(master: number): string;
  resizeTerminal(master: number, columns: number, rows: number): void;
  listenForTerminal(path: string): number;
  /** The terminal that was sent to the socket; undefined when none was. */
  receiveTerminal(socket: number): number | undefined;
}

export interface ExitStatus {
  code: number | null;
  signal: number | null;
}

/** Undefined where it does not work: another platform, or no native part of koffi for this one. */
export async function loadSystemCalls(warn: (message: string) => void): Promise<SystemCalls | undefined> {
  if (process.platform !== 'linux') return undefined;
  try {
    const { default: koffi } = await import('koffi');
    const library = koffi.load(null);
    return { ...processCalls(library), ...terminalCalls(library), ...descriptorCalls(library, koffi.address) };
  } catch (error) {
    warn(`Cannot call the kernel: ${(error as Error).message}; there are no terminals and no containers of an OCI runtime`);
    return undefined;
  }
}

const PR_SET_CHILD_SUBREAPER = 36;
const P_ALL = 0;
const P_PID = 1;
const WNOHANG = 1;
const WEXITED = 4;
const WNOWAIT = 0x0100_0000;
const CLD_EXITED = 1;
const O_CLOEXEC = 0o2000000;
const LOCK_EX_NB = 2 | 4;

function processCalls(library: LibraryHandle) {
  const prctl = library.func('int prctl(int, ulong, ulong, ulong, ulong)');
  const waitid = library.func('int waitid(int, int, void *, int, void *)');
  const pipe2 = library.func('int pipe2(void *, int)');
  const flock = library.func('int flock(int, int)');
  // siginfo_t of 64-bit Linux: si_code at 8, si_pid at 16, si_status at 24.
  const info = Buffer.alloc(128);
  const wait = (kind: number, pid: number, flags: number): number => {
    info.fill(0);
    return waitid(kind, pid, info, flags | WNOHANG | WEXITED, null) === 0 ? info.readInt32LE(16) : 0;
  };
  return {
    becomeSubreaper: () => void prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0),
    peekEndedChild: () => wait(P_ALL, 0, WNOWAIT) || undefined,
    reap(pid: number): ExitStatus | undefined {
      if (wait(P_PID, pid, 0) === 0) return undefined;
      const status = info.readInt32LE(24);
      return info.readInt32LE(8) === CLD_EXITED ? { code: status, signal: null } : { code: null, signal: status };
    },
    pipe() {
      const ends = Buffer.alloc(8);
      if (pipe2(ends, O_CLOEXEC) !== 0) throw new Error('Cannot make a pipe: too many files are open');
      return { read: ends.readInt32LE(0), write: ends.readInt32LE(4) };
    },
    tryLock: (fd: number) => flock(fd, LOCK_EX_NB) === 0,
  };
}

const TIOCSPTLCK = 0x4004_5431;
const TIOCGPTN = 0x8004_5430;
const TIOCSWINSZ = 0x5414;

function terminalCalls(library: LibraryHandle) {
  const ioctl = library.func('int ioctl(int, ulong, void *)');
  return {
    terminalOf(master: number): string {
      const number = Buffer.alloc(4);
      if (ioctl(master, TIOCSPTLCK, number) !== 0 || ioctl(master, TIOCGPTN, number) !== 0)
        throw new Error('Cannot make a terminal: /dev/ptmx refuses');
      return `/dev/pts/${number.readUInt32LE(0)}`;
    },
    resizeTerminal(master: number, columns: number, rows: number): void {
      const size = Buffer.alloc(8);
      size.writeUInt16LE(clampSize(rows), 0);
      size.writeUInt16LE(clampSize(columns), 2);
      // The kernel tells the foreground processes with SIGWINCH.
      ioctl(master, TIOCSWINSZ, size);
    },
  };
}

function clampSize(value: number): number {
  return Math.min(Math.max(Math.trunc(value) || 0, 0), 65_535);
}
