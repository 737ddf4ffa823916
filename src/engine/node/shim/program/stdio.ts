import { chownSync, closeSync, constants, fchownSync, openSync } from 'node:fs';
import type { ChildProcess } from 'node:child_process';
import { Socket } from 'node:net';
import type { Readable, Writable } from 'node:stream';
import { ReadStream } from 'node:tty';
import type { TransientProgram } from '../shim.ts';
import type { SystemCalls } from '../system/system-calls.ts';

/** Our ends of a program's inputs and outputs. */
export interface ProgramEnds {
  stdin?: Writable;
  stdout: Readable;
  stderr?: Readable;
  resize(columns: number, rows: number): void;
}

/** Made before the program, because it is born with them. */
export interface Stdio {
  forChild: (number | 'pipe' | 'ignore')[];
  /** The path of the terminal, which the program has to open itself for it to control the session. */
  terminal?: string;
  /** After the program was started: gives up the child's ends and takes ours. */
  take(child: ChildProcess): ProgramEnds;
  /** When it could not be started. */
  drop(): void;
}

type Wanted = Pick<TransientProgram, 'terminal' | 'stdin' | 'user' | 'stdioOwner'>;

export function openStdio(calls: SystemCalls | undefined, wanted: Wanted): Stdio {
  if (wanted.terminal) {
    if (calls === undefined) throw new Error('Cannot make a terminal: this platform is not supported');
    return openTerminal(calls, wanted);
  }
  return calls === undefined ? nodePipes(wanted) : openPipes(calls, wanted);
}

/**
 * Real pipes: what Node makes are sockets, which a program cannot open again as /dev/stdout. They belong to the program's user, who
 * could not open them either.
 */
function openPipes(calls: SystemCalls, { stdin, user, stdioOwner = user }: Wanted): Stdio {
  const own: number[] = [];
  const childs: number[] = [];
  const pipe = (child: 'read' | 'write') => {
    const { read, write } = calls.pipe();
    own.push(child === 'read' ? write : read);
    childs.push(child === 'read' ? read : write);
    if (stdioOwner !== undefined) fchownSync(childs.at(-1)!, stdioOwner.uid, stdioOwner.gid);
  };
  const drop = () => [...own, ...childs].forEach((fd) => closeSync(fd));
  try {
    pipe('write');
    pipe('write');
    if (stdin) pipe('read');
  } catch (error) {
    drop();
    throw error;
  }
  return {
    forChild: [childs[2] ?? 'ignore', childs[0], childs[1]],
    take() {
      childs.forEach((fd) => closeSync(fd));
      return {
        stdout: new Socket({ fd: own[0], readable: true, writable: false }),
        stderr: new Socket({ fd: own[1], readable: true, writable: false }),
        stdin: stdin ? new Socket({ fd: own[2], readable: false, writable: true }) : undefined,
        resize() {},
      };
    },
    drop,
  };
}

function nodePipes({ stdin }: Wanted): Stdio {
  return {
    forChild: [stdin ? 'pipe' : 'ignore', 'pipe', 'pipe'],
    take: (child) => ({ stdin: child.stdin ?? undefined, stdout: child.stdout!, stderr: child.stderr!, resize() {} }),
    drop() {},
  };
}

function openTerminal(calls: SystemCalls, { stdin, user, stdioOwner = user }: Wanted): Stdio {
  // Without NOCTTY it would become the terminal of the shim, which has none.
  const flags = constants.O_RDWR | constants.O_NOCTTY;
  const master = openSync('/dev/ptmx', flags);
  let slave: number;
  let path: string;
  try {
    path = calls.terminalOf(master);
    if (stdioOwner !== undefined) chownSync(path, stdioOwner.uid, stdioOwner.gid);
    slave = openSync(path, flags);
  } catch (error) {
    closeSync(master);
    throw error;
  }
  return {
    forChild: [slave, slave, slave],
    terminal: path,
    take() {
      closeSync(slave);
      return terminalEnds(calls, master, stdin);
    },
    drop() {
      closeSync(slave);
      closeSync(master);
    },
  };
}

/** A terminal has one stream for both ways. */
export function terminalEnds(calls: SystemCalls, master: number, stdin: boolean): ProgramEnds {
  const stream = new ReadStream(master);
  return {
    stdin: stdin ? stream : undefined,
    stdout: stream,
    resize: (columns, rows) => {
      if (!stream.destroyed) calls.resizeTerminal(master, columns, rows);
    },
  };
}
