import type { EventEmitter } from 'node:events';
import type { Readable } from 'node:stream';

export interface ChildOptions {
  cwd: string;
  env: Record<string, string>;
  /** Whether it can be told something, once, on descriptor 3. */
  listens: boolean;
  /** Open files that it gets, from descriptor 4 on; ours are closed. */
  files?: number[];
}

/**
 * A process in a session and a group of its own, with nothing to read. Events as those of Node's: `spawn`, or `error` when it could not
 * be started; `exit`, and `close` when its output has ended too.
 */
export interface Child extends EventEmitter {
  /** Undefined until it has started. */
  readonly pid?: number;
  /** Whether it could be started. */
  readonly started: Promise<boolean>;
  readonly stdout: Readable;
  readonly stderr: Readable;
  readonly exitCode: number | null;
  readonly signalCode: NodeJS.Signals | null;
  /** To all of its group; also when it has ended itself, or is only about to start. */
  killGroup(signal: NodeJS.Signals): void;
  /** Then descriptor 3 is at its end. */
  tell(message: string): void;
}

export type StartChild = (argv: string[], options: ChildOptions) => Child;

/** Processes that were started by our children and have lost them: they are ours then. */
export interface Orphans {
  /** Kills it. Resolves when it has ended, and with the first one of a process namespace all others in there. */
  end(pid: number): Promise<void>;
  /** By which we are told who they are: neither side ever waits at it. */
  pipe(): { read: number; write: number };
}
