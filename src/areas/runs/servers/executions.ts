import { ARTIFACTS_VARIABLE, OUTPUTS_VARIABLE } from '../../../api/kruntimes.io/v1alpha1/names.ts';
import type { Clock } from '../../../lib/clock.ts';
import { OUT_OF_MEMORY } from '../protocol/error-texts.ts';
import { ExecutionState } from '../protocol/generated/executor_pb.js';
import { programOf, type Language } from './language.ts';
import type { LaunchedProcess, Launcher, ProcessEnd } from './launcher.ts';
import { RetainedOutput } from './retained-output.ts';

export interface ExecutionRequest {
  id: string;
  args: string[];
  env: Record<string, string>;
  timeoutMs: number;
  workingDir: string;
  entrypoint: string;
  network: boolean;
}

export interface ExecutionStatus {
  id: string;
  state: ExecutionState;
  exitCode: number;
  errorMessage: string;
}

export type StreamName = 'stdout' | 'stderr';

export interface ExecutionWatcher {
  /** @returns when more may come; undefined: at once */
  output(stream: StreamName, data: Buffer): Promise<void> | undefined | void;
  end(status: ExecutionStatus): void;
}

export class ExecutionError extends Error {
  readonly code: 'InvalidArgument' | 'NotFound' | 'FailedPrecondition';

  constructor(code: ExecutionError['code'], message: string) {
    super(message);
    this.code = code;
  }
}

interface Execution {
  status: ExecutionStatus;
  stdout: RetainedOutput;
  stderr: RetainedOutput;
  watchers: Set<ExecutionWatcher>;
  process?: LaunchedProcess;
  /** What ends it before its time, and is then its error. */
  stopping?: 'timeout' | 'cancelled';
  ended: Promise<void>;
}

/** Between a friendly request to end and the end. */
const GRACE_MS = 2000;

export interface ExecutionsOptions {
  language: Language;
  launcher: Launcher;
  clock: Clock;
  /** Put before paths of the Pod where its volumes could not be mounted; empty: they are where they should be. */
  root?: string;
}

/** Variables that name files of the Run. */
const PATH_VARIABLES = [OUTPUTS_VARIABLE, ARTIFACTS_VARIABLE];

/** The executions of a Runtime Server, from Execute to Forget. */
export class Executions {
  readonly #options: ExecutionsOptions;
  readonly #executions = new Map<string, Execution>();

  constructor(options: ExecutionsOptions) {
    this.#options = options;
  }

  get running(): number {
    return [...this.#executions.values()].filter(({ status }) => status.state === ExecutionState.RUNNING).length;
  }

  /** Starts it and returns. One of the same id is ended first: the caller tries again. */
  async execute(request: ExecutionRequest): Promise<{ warm: boolean }> {
    if (request.id === '') throw new ExecutionError('InvalidArgument', 'Cannot execute: the id is empty; give the uid of the Run');
    const before = this.#executions.get(request.id);
    if (before !== undefined) await this.#stop(before, 'cancelled');
    const execution = newExecution(request.id);
    this.#executions.set(request.id, execution);
    const { workingDir, env } = this.#onThisMachine(request);
    const program = programOf(this.#options.language, { ...request, workingDir });
    if ('failure' in program) {
      this.#finish(execution, { state: ExecutionState.FAILED, exitCode: -1, errorMessage: program.failure });
      return { warm: false };
    }
    const process = this.#options.launcher.launch({ program, workingDir, env, network: request.network });
    execution.process = process;
    execution.status.state = ExecutionState.RUNNING;
    this.#follow(execution, process);
    execution.ended = this.#end(execution, process, request.timeoutMs);
    return { warm: process.warm };
  }

  status(id: string): ExecutionStatus & { stdout: string; stderr: string } {
    const { status, stdout, stderr } = this.#find(id);
    return { ...status, stdout: stdout.toString(), stderr: stderr.toString() };
  }

  list(): ExecutionStatus[] {
    return [...this.#executions.values()].map(({ status }) => status);
  }

  /** Ends it and drops it. */
  async cancel(id: string): Promise<void> {
    await this.#stop(this.#find(id), 'cancelled');
    this.#executions.delete(id);
  }

  /** Drops what is kept of one that has ended. */
  forget(id: string): void {
    const { state } = this.#find(id).status;
    if (state === ExecutionState.RUNNING || state === ExecutionState.PENDING) {
      throw new ExecutionError('FailedPrecondition', `Cannot forget execution "${id}": it is running; cancel it first`);
    }
    this.#executions.delete(id);
  }

  /** What it wrote from the offsets on, then what it writes, then its end. @returns the way to stop */
  watch(id: string, offsets: Record<StreamName, number>, watcher: ExecutionWatcher): () => void {
    const execution = this.#find(id);
    for (const stream of ['stdout', 'stderr'] as const) {
      const kept = execution[stream].from(offsets[stream]);
      if (kept.length > 0) void watcher.output(stream, kept);
    }
    if (isOver(execution.status)) {
      watcher.end(execution.status);
      return () => {};
    }
    execution.watchers.add(watcher);
    return () => execution.watchers.delete(watcher);
  }

  /** Ends everything. */
  async close(): Promise<void> {
    await Promise.all([...this.#executions.values()].map((execution) => this.#stop(execution, 'cancelled')));
    await this.#options.launcher.close();
  }

  #onThisMachine({ workingDir, env }: ExecutionRequest): { workingDir: string; env: Record<string, string> } {
    const { root = '' } = this.#options;
    if (root === '') return { workingDir, env };
    const moved = { ...env };
    for (const name of PATH_VARIABLES) if (moved[name] !== undefined) moved[name] = root + moved[name];
    return { workingDir: root + workingDir, env: moved };
  }

  #find(id: string): Execution {
    const execution = this.#executions.get(id);
    if (execution === undefined) throw new ExecutionError('NotFound', `execution "${id}" not found`);
    return execution;
  }

  #follow(execution: Execution, process: LaunchedProcess): void {
    for (const stream of ['stdout', 'stderr'] as const) {
      process[stream].on('data', (chunk: Buffer) => {
        execution[stream].add(chunk);
        let slowest: Promise<void> | undefined;
        for (const watcher of execution.watchers) slowest = watcher.output(stream, chunk) ?? slowest;
        if (slowest === undefined) return;
        // The program waits as it would for any pipe that nobody reads.
        process[stream].pause();
        void slowest.then(() => process[stream].resume());
      });
      process[stream].on('error', () => {});
    }
  }

  async #end(execution: Execution, process: LaunchedProcess, timeoutMs: number): Promise<void> {
    const timer = timeoutMs > 0 ? this.#options.clock.setTimer(timeoutMs, () => void this.#stop(execution, 'timeout')) : undefined;
    try {
      const end = await process.ended;
      const { exitCode, signal } = end;
      if (execution.stopping !== undefined) {
        this.#finish(execution, { state: ExecutionState.FAILED, exitCode: -1, errorMessage: execution.stopping });
      } else if (exitCode === 0 && signal === undefined) {
        this.#finish(execution, { state: ExecutionState.SUCCEEDED, exitCode: 0, errorMessage: '' });
      } else {
        this.#finish(execution, { state: ExecutionState.FAILED, exitCode, errorMessage: failureOf(end) });
      }
    } catch (error) {
      this.#finish(execution, { state: ExecutionState.FAILED, exitCode: -1, errorMessage: startFailure(error) });
    } finally {
      timer?.cancel();
    }
  }

  #finish(execution: Execution, end: Omit<ExecutionStatus, 'id'>): void {
    Object.assign(execution.status, end);
    for (const watcher of execution.watchers) watcher.end(execution.status);
    execution.watchers.clear();
  }

  async #stop(execution: Execution, why: 'timeout' | 'cancelled'): Promise<void> {
    if (isOver(execution.status)) return;
    execution.stopping ??= why;
    execution.process?.signal('SIGTERM');
    const kill = this.#options.clock.setTimer(GRACE_MS, () => execution.process?.signal('SIGKILL'));
    await execution.ended;
    kill.cancel();
  }
}

function newExecution(id: string): Execution {
  return {
    status: { id, state: ExecutionState.PENDING, exitCode: 0, errorMessage: '' },
    stdout: new RetainedOutput(),
    stderr: new RetainedOutput(),
    watchers: new Set(),
    ended: Promise.resolve(),
  };
}

function isOver({ state }: ExecutionStatus): boolean {
  return state === ExecutionState.SUCCEEDED || state === ExecutionState.FAILED;
}

function failureOf({ exitCode, signal, ranOutOfMemory }: ProcessEnd): string {
  const end = signal === undefined ? `exit status ${exitCode}` : `signal: ${signal}`;
  return ranOutOfMemory ? `${OUT_OF_MEMORY} (${end})` : end;
}

function startFailure(error: unknown): string {
  const { code, message, path } = error as NodeJS.ErrnoException;
  return code === 'ENOENT' ? `interpreter not found: ${path ?? message}` : `cannot start: ${message}`;
}
