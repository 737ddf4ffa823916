import type { Readable, Writable } from 'node:stream';

/**
 * The one small process per data directory that is the parent of every container. It holds their stdio, writes their logs, keeps
 * their exit codes, and outlives the agent and `up`: a crash of either leaves Pods running, and the next agent finds them here.
 */
export interface Shim {
  /**
   * Resolves when the program runs, as leader of a session of its own; when it ends, what is left of that session is killed.
   * Rejects with a ShimError when it could not be started; then nothing is left of it. The message of StartFailed has its output.
   */
  start(program: ShimProgram): Promise<StartedProgram>;
  /** Everything that was started and not forgotten, running or ended. */
  list(): Promise<ShimProgramState[]>;
  /** The end of a program that was started here or by an agent before this one. Already ended ones resolve at once. */
  ended(id: string): Promise<ProgramEnd>;
  /** Sends a signal to the program's main process (to its whole process group when `group` is set). */
  signal(id: string, signal: NodeJS.Signals, options?: { group?: boolean }): Promise<void>;
  /** Streams of the running program, from now on; for programs with `stdin`, also its input. */
  attach(id: string): Promise<ProgramStreams>;
  /** Runs a program that nobody needs after its caller is gone: no log, no record; it is killed when the caller disconnects. */
  run(program: TransientProgram): Promise<ProgramStreams>;
  /** Tells the shim to write to a fresh log file, after the old one was moved away. The shim also rotates by itself, by size. */
  reopenLog(id: string): Promise<void>;
  /** Drops the record of an ended program. */
  forget(id: string): Promise<void>;
  /** Lets go of the shim, which lives on for as long as it has programs; `endIfIdle` spares it the wait when it has none. */
  close(options?: { endIfIdle?: boolean }): void;
}

export interface TransientProgram {
  /** The program and its arguments; an absolute path, or found in the PATH of its own environment. */
  argv: string[];
  env: Record<string, string>;
  cwd: string;
  user?: { uid: number; gid: number };
  /** Who may open its pipes or terminal again by name, when it becomes another user by itself. */
  stdioOwner?: { uid: number; gid: number };
  terminal: boolean;
  /** Becomes the leader of the terminal's session by itself: a program of another process namespace has to. Else the shim sees to it. */
  leadsTerminal?: boolean;
  /** Whether it gets an input at all; without, it reads the end of file. */
  stdin: boolean;
}

export interface ShimProgram extends TransientProgram {
  /** Chosen by the caller, never used twice. */
  id: string;
  /** Input stays open after the first attached client leaves, unless this is set. */
  stdinOnce: boolean;
  log: LogFile;
  /**
   * For OCI runtimes, which leave the container behind and exit: the main process is the one whose id is in this file once `argv`
   * has exited with 0. The shim adopts it (it is a subreaper) and reports its end.
   */
  pidFile?: string;
  /**
   * With `pidFile` and `terminal`: where the OCI runtime sends the terminal that it makes inside the container (`--console-socket`).
   * The shim listens there before it runs `argv`. Without it, `argv` gets a terminal of the shim's as its stdio.
   */
  consoleSocket?: string;
  /**
   * Its descriptor 3 is a pipe, and it counts as running once it has written there: for programs that first build a sandbox. One that
   * ends before that was not started; what it said on its outputs is in the ShimError, not in the log.
   */
  saysWhenReady?: boolean;
  /** Kept as it is and given back by `list`: what the agent needs to recognise its containers after a restart. */
  labels: Record<string, string>;
}

/** Lines in the form of the container runtime interface: `<RFC3339Nano> stdout|stderr F|P <text>`; `P` marks a part of a line. */
export interface LogFile {
  path: string;
  /** At this size the file is moved to `<path>.<time>` and a new one begun. */
  maxBytes: number;
  /** How many files are kept, the current one included. */
  maxFiles: number;
}

export interface StartedProgram {
  pid: number;
  startedAt: Date;
}

export interface ProgramEnd {
  /** 128 + the signal's number when a signal ended it. */
  exitCode: number;
  signal?: NodeJS.Signals;
  startedAt: Date;
  finishedAt: Date;
  /** Nobody saw how it ended, because the shim itself was killed: the exit code is made up (137). */
  lost?: boolean;
}

export interface ShimProgramState extends StartedProgram {
  id: string;
  labels: Record<string, string>;
  end?: ProgramEnd;
}

export interface ProgramStreams {
  stdin?: Writable;
  stdout: Readable;
  /** Absent with a terminal, which has one output. */
  stderr?: Readable;
  resize(columns: number, rows: number): void;
  ended: Promise<{ exitCode: number; signal?: NodeJS.Signals }>;
  /** For `attach`: lets go of the streams. For `run`: also kills the program. */
  close(): void;
}

/** `Disconnected`: the shim was killed. The next call starts another, which ends what the old one left running. */
export type ShimErrorCode = 'NotFound' | 'AlreadyExists' | 'CommandNotFound' | 'NotExecutable' | 'StartFailed' | 'Disconnected';

export class ShimError extends Error {
  readonly code: ShimErrorCode;

  constructor(code: ShimErrorCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }
}
