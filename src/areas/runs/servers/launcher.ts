import type { Readable } from 'node:stream';
import type { Program } from './language.ts';

/** One execution, ready to be started. */
export interface Launch {
  program: Program;
  workingDir: string;
  env: Record<string, string>;
  /** For `process` isolation: whether it reaches the Pod's network. */
  network: boolean;
}

export interface ProcessEnd {
  exitCode: number;
  signal?: NodeJS.Signals;
  /** The kernel killed something of it, because it took more memory than it may. */
  ranOutOfMemory?: boolean;
}

/** A process that runs, or has run, an execution and everything it started. */
export interface LaunchedProcess {
  warm: boolean;
  stdout: Readable;
  stderr: Readable;
  /** Of the main process; what it started in its process group is gone by then. Rejects when it could not be started at all. */
  ended: Promise<ProcessEnd>;
  /** To the whole process group. */
  signal(signal: NodeJS.Signals): void;
}

/** How executions are kept apart: one implementation per isolation. */
export interface Launcher {
  launch(launch: Launch): LaunchedProcess;
  /** Ends what was started ahead of time. */
  close(): void | Promise<void>;
}
