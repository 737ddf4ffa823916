import type { Clock } from '../../../../lib/clock.ts';
import { LogWriter } from '../log/log-writer.ts';
import { ShimError, type ProgramEnd, type ShimProgram, type ShimProgramState } from '../shim.ts';
import { identify, type ProcessIdentity } from '../system/process-identity.ts';
import type { ExitStatus } from '../system/system-calls.ts';
import type { Written } from '../wire/messages.ts';
import { awaitReady, launchContainer } from './container-start.ts';
import { exitCodeOf } from './exit-code.ts';
import { launch, type LaunchTools } from './launch.ts';
import { Outputs, type OutputListener } from './outputs.ts';
import type { ProgramRecord } from './records.ts';
import { killSession } from './session.ts';
import type { ProgramEnds } from './stdio.ts';

export interface ProgramEnvironment extends LaunchTools {
  clock: Clock;
  warn: (message: string) => void;
  /** Keeps what is known of the program; called at the start and at the end. */
  record: (record: ProgramRecord) => void;
  drop: (id: string) => void;
}

/** A process that runs, and our ends of it. */
export interface RunningMain {
  pid: number;
  /** Whether it leads a session that the shim made. */
  ownSession: boolean;
  ends: ProgramEnds;
  exited: Promise<ExitStatus>;
}

/** A program that was started by this shim. */
export class Program {
  readonly ended: Promise<Written<ProgramEnd>>;
  readonly #spec: ShimProgram;
  readonly #environment: ProgramEnvironment;
  readonly #main: RunningMain;
  readonly #identity: ProcessIdentity;
  readonly #outputs: Outputs;
  readonly #log: LogWriter;
  readonly #startedAt: string;
  #end: Written<ProgramEnd> | undefined;

  static async start(spec: ShimProgram, environment: ProgramEnvironment): Promise<Program> {
    if (spec.pidFile !== undefined) return new Program(spec, environment, await launchContainer(spec, environment));
    const launched = await launch(spec, environment, { readyPipe: spec.saysWhenReady });
    // On record before it is ready: a shim that is killed now leaves a process that the next one has to find.
    environment.record({
      id: spec.id,
      labels: spec.labels,
      main: identify(launched.pid),
      ownSession: true,
      startedAt: new Date(environment.clock.now()).toISOString(),
    });
    try {
      if (launched.ready !== undefined) await awaitReady(spec, launched, environment.clock);
    } catch (error) {
      environment.drop(spec.id);
      throw error;
    }
    return new Program(spec, environment, { ...launched, ownSession: true });
  }

  private constructor(spec: ShimProgram, environment: ProgramEnvironment, main: RunningMain) {
    this.#spec = spec;
    this.#environment = environment;
    this.#main = main;
    this.#identity = identify(main.pid);
    this.#startedAt = new Date(environment.clock.now()).toISOString();
    this.#outputs = new Outputs(main.ends);
    this.#log = new LogWriter({ file: spec.log, clock: environment.clock, warn: environment.warn, onRoom: () => this.#outputs.resume() });
    this.#outputs.read((stream, bytes) => this.#log.write(stream, bytes));
    main.ends.stdin?.on('error', () => undefined);
    this.#record();
    this.ended = main.exited.then((status) => this.#finish(status));
  }

  get state(): Written<ShimProgramState> {
    return { id: this.#spec.id, labels: this.#spec.labels, pid: this.#main.pid, startedAt: this.#startedAt, end: this.#end };
  }

  get spec(): ShimProgram {
    return this.#spec;
  }

  get ends(): ProgramEnds {
    return this.#main.ends;
  }

  listen(listener: OutputListener): () => void {
    return this.#outputs.listen(listener);
  }

  signal(signal: NodeJS.Signals, group: boolean): void {
    if (this.#end !== undefined) return;
    try {
      process.kill(group ? -this.#main.pid : this.#main.pid, signal);
    } catch (error) {
      // It is on its way out.
      if ((error as NodeJS.ErrnoException).code !== 'ESRCH') {
        throw new ShimError('StartFailed', `Cannot send ${signal} to "${this.#spec.id}": ${(error as Error).message}`, { cause: error });
      }
    }
  }

  reopenLog(): Promise<void> {
    return this.#log.reopen();
  }

  async #finish(status: ExitStatus): Promise<Written<ProgramEnd>> {
    const finishedAt = new Date(this.#environment.clock.now()).toISOString();
    if (this.#main.ownSession) await killSession(this.#main.pid);
    await this.#outputs.drain(this.#environment.clock);
    this.#main.ends.stdin?.destroy();
    await this.#log.close();
    this.#end = { ...exitCodeOf(status), startedAt: this.#startedAt, finishedAt };
    this.#record();
    return this.#end;
  }

  #record(): void {
    this.#environment.record({
      id: this.#spec.id,
      labels: this.#spec.labels,
      main: this.#identity,
      ownSession: this.#main.ownSession,
      startedAt: this.#startedAt,
      end: this.#end,
    });
  }
}
