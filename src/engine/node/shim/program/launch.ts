import { spawn, type ChildProcess } from 'node:child_process';
import { accessSync, closeSync, constants, statSync } from 'node:fs';
import { Socket } from 'node:net';
import { constants as osConstants } from 'node:os';
import { delimiter, join } from 'node:path';
import { ShimError, type TransientProgram } from '../shim.ts';
import type { Reaper } from '../system/reaper.ts';
import type { ExitStatus, SystemCalls } from '../system/system-calls.ts';
import { openStdio, type ProgramEnds, type Stdio } from './stdio.ts';

export interface LaunchTools {
  /** Undefined on platforms that lack them. */
  calls?: SystemCalls;
  reaper?: Reaper;
}

export interface Launched {
  pid: number;
  ends: ProgramEnds;
  exited: Promise<ExitStatus>;
  /** Its descriptor 3, when asked for. */
  ready?: Socket;
}

/** Opening a terminal makes it the controlling one of a session that has none; only then Ctrl-C and the shell's job control work. */
const TAKE_TERMINAL = 'exec 9<>"$0" 9>&-; exec "$@"';

/** Starts a program in a session of its own. Rejects with a ShimError. */
export async function launch(program: TransientProgram, tools: LaunchTools, options: { readyPipe?: boolean } = {}): Promise<Launched> {
  checkFolder(program.cwd);
  const stdio = opened(() => openStdio(tools.calls, program));
  const ready = options.readyPipe ? tools.calls?.pipe() : undefined;
  try {
    const terminal = program.leadsTerminal ? undefined : stdio.terminal;
    const child = started(program, [...stdio.forChild, ...(ready === undefined ? [] : [ready.write])], terminal);
    if (child.pid === undefined) throw await startError(child, program);
    const left = tools.reaper?.leaveToNode(child.pid);
    const exited = new Promise<ExitStatus>((resolve) => {
      child.once('exit', (code, signal) => {
        left?.ended();
        resolve({ code, signal: signal === null ? null : osConstants.signals[signal] });
      });
    });
    if (ready !== undefined) closeSync(ready.write);
    return {
      pid: child.pid,
      ends: stdio.take(child),
      exited,
      ready: ready && new Socket({ fd: ready.read, readable: true, writable: false }),
    };
  } catch (error) {
    stdio.drop();
    if (ready !== undefined) [ready.read, ready.write].forEach((fd) => closeSync(fd));
    throw error;
  }
}

function started(program: TransientProgram, stdio: Stdio['forChild'], terminal: string | undefined): ChildProcess {
  const [command, ...rest] = terminal === undefined ? program.argv : ['/bin/sh', '-c', TAKE_TERMINAL, terminal, ...program.argv];
  // The shell that takes the terminal could not tell us about a command that is not there.
  if (terminal !== undefined) checkCommand(program);
  try {
    return spawn(command, rest, { cwd: program.cwd, env: program.env, stdio, detached: true, ...program.user });
  } catch (error) {
    throw asShimError(error, program);
  }
}

function startError(child: ChildProcess, program: TransientProgram): Promise<ShimError> {
  return new Promise((resolve) => void child.once('error', (error) => resolve(asShimError(error, program))));
}

function asShimError(error: unknown, program: TransientProgram): ShimError {
  const code = (error as NodeJS.ErrnoException).code;
  // A folder in PATH that may not be read looks to the kernel like a program that may not be executed.
  if (code === 'ENOENT' || code === 'EACCES') return lookupError(program, code === 'EACCES' ? lookUp(program) : 'absent');
  return new ShimError('StartFailed', `Cannot start "${program.argv[0]}": ${(error as Error).message}`, { cause: error });
}

function lookupError({ argv: [command] }: TransientProgram, found: 'denied' | 'executable' | 'absent'): ShimError {
  if (found === 'absent') return new ShimError('CommandNotFound', `Cannot start "${command}": there is no such program`);
  return new ShimError('NotExecutable', `Cannot start "${command}": it may not be executed`);
}

function opened<T>(open: () => T): T {
  try {
    return open();
  } catch (error) {
    throw new ShimError('StartFailed', (error as Error).message, { cause: error });
  }
}

/** A missing folder would be reported as a missing program. */
function checkFolder(path: string): void {
  if (statSync(path, { throwIfNoEntry: false })?.isDirectory()) return;
  throw new ShimError('StartFailed', `Cannot start in "${path}": there is no such folder`);
}

function checkCommand(program: TransientProgram): void {
  const found = lookUp(program);
  if (found !== 'executable') throw lookupError(program, found);
}

function lookUp({ argv: [command], env }: TransientProgram): 'executable' | 'denied' | 'absent' {
  const folders = (env.PATH ?? '/usr/bin:/bin').split(delimiter);
  const places = command.includes('/') ? [command] : folders.map((folder) => join(folder, command));
  const found = places.map(kindOf);
  return found.find((kind) => kind === 'executable') ?? found.find((kind) => kind === 'denied') ?? 'absent';
}

function kindOf(path: string): 'executable' | 'denied' | 'absent' {
  try {
    if (!statSync(path).isFile()) return 'denied';
  } catch {
    return 'absent';
  }
  try {
    accessSync(path, constants.X_OK);
    return 'executable';
  } catch {
    return 'denied';
  }
}
