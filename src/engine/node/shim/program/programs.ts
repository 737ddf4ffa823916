import type { Clock } from '../../../../lib/clock.ts';
import { ShimError, type ProgramEnd, type ShimProgram, type ShimProgramState, type StartedProgram } from '../shim.ts';
import { isAlive, isOfThisBoot, readStatus } from '../system/process-identity.ts';
import type { Written } from '../wire/messages.ts';
import type { LaunchTools } from './launch.ts';
import { Program } from './program.ts';
import { isSafeId, type ProgramRecord, type Records } from './records.ts';
import { killSession } from './session.ts';

export interface ProgramsOptions extends LaunchTools {
  records: Records;
  clock: Clock;
  warn: (message: string) => void;
  /** Called when the number of running programs changes. */
  onChange: () => void;
}

/** Kubernetes shows this code for a container that nobody saw end. */
const LOST_EXIT_CODE = 137;
const GONE_POLL_MS = 10;
const GONE_POLLS = 200;

/** All programs of this shim, and what is known of those that another one started. */
export class Programs {
  readonly #options: ProgramsOptions;
  readonly #running = new Map<string, Program>();
  /** Whoever asks for the same again, after an agent was killed in the middle of it, gets the same answer. */
  readonly #starting = new Map<string, Promise<Written<StartedProgram>>>();
  readonly #ended = new Map<string, ProgramRecord & { end: Written<ProgramEnd> }>();

  constructor(options: ProgramsOptions) {
    this.#options = options;
  }

  get runningCount(): number {
    return this.#running.size + this.#starting.size;
  }

  /**
   * What a shim that was killed has left. Its programs have lost their outputs: they die of the next line they write, and nobody
   * could tell how. So those that still live are killed here, and all of them are reported as lost: the agent starts them again.
   */
  async recover(): Promise<void> {
    const { records, clock } = this.#options;
    for (const record of records.readAll()) {
      if (record.end === undefined) {
        await this.#endLeftOver(record);
        const finishedAt = new Date(clock.now()).toISOString();
        record.end = { exitCode: LOST_EXIT_CODE, signal: 'SIGKILL', startedAt: record.startedAt, finishedAt, lost: true };
        this.#write(record);
      }
      this.#ended.set(record.id, record as ProgramRecord & { end: Written<ProgramEnd> });
    }
  }

  async start(spec: ShimProgram): Promise<Written<StartedProgram>> {
    if (!isSafeId(spec.id)) throw new ShimError('StartFailed', `Cannot start "${spec.id}": an id has letters, digits, dots and dashes`);
    if (this.#running.has(spec.id) || this.#ended.has(spec.id)) {
      throw new ShimError('AlreadyExists', `Cannot start "${spec.id}": it was started before; forget it first`);
    }
    const pending = this.#starting.get(spec.id);
    if (pending !== undefined) return pending;
    const starting = this.#start(spec);
    this.#starting.set(spec.id, starting);
    this.#options.onChange();
    try {
      return await starting;
    } finally {
      this.#starting.delete(spec.id);
      this.#options.onChange();
    }
  }

  async #start(spec: ShimProgram): Promise<Written<StartedProgram>> {
    const { records } = this.#options;
    const program = await Program.start(spec, {
      ...this.#options,
      record: (record) => this.#write(record),
      drop: (id) => records.remove(id),
    });
    this.#running.set(spec.id, program);
    void program.ended.then((end) => this.#finish(program, end));
    const { pid, startedAt } = program.state;
    return { pid, startedAt };
  }

  list(): Written<ShimProgramState>[] {
    const running = [...this.#running.values()].map((program) => program.state);
    const ended = [...this.#ended.values()].map(({ id, labels, main, startedAt, end }) => ({ id, labels, pid: main.pid, startedAt, end }));
    return [...running, ...ended];
  }

  async ended(id: string): Promise<Written<ProgramEnd>> {
    return this.#ended.get(id)?.end ?? this.running(id).ended;
  }

  signal(id: string, signal: NodeJS.Signals, group: boolean): void {
    if (!this.#ended.has(id)) this.running(id).signal(signal, group);
  }

  endOf(id: string): Written<ProgramEnd> | undefined {
    return this.#ended.get(id)?.end;
  }

  running(id: string): Program {
    const program = this.#running.get(id);
    if (program === undefined) throw new ShimError('NotFound', `Cannot find "${id}": no such program was started`);
    return program;
  }

  async reopenLog(id: string): Promise<void> {
    if (!this.#ended.has(id)) await this.running(id).reopenLog();
  }

  forget(id: string): void {
    if (this.#running.has(id) || this.#starting.has(id)) throw new ShimError('AlreadyExists', `Cannot forget "${id}": it still runs`);
    this.#ended.delete(id);
    this.#options.records.remove(id);
  }

  #finish(program: Program, end: Written<ProgramEnd>): void {
    const { id, labels, pid, startedAt } = program.state;
    this.#running.delete(id);
    this.#ended.set(id, { id, labels, main: { pid, startTime: '', bootId: '' }, ownSession: false, startedAt, end });
    this.#options.onChange();
  }

  async #endLeftOver({ main, ownSession }: ProgramRecord): Promise<void> {
    const alive = isAlive(main);
    // The number of a session is not given to another process while the session has members: if there is another, it has none.
    if (ownSession && (alive || readStatus(main.pid) === undefined) && isOfThisBoot(main)) await killSession(main.pid);
    if (!alive) return;
    process.kill(main.pid, 'SIGKILL');
    for (let poll = 0; poll < GONE_POLLS && isAlive(main); poll++) {
      await new Promise<void>((resolve) => {
        this.#options.clock.setTimer(GONE_POLL_MS, resolve).hold?.();
      });
    }
  }

  #write(record: ProgramRecord): void {
    try {
      this.#options.records.write(record);
    } catch (error) {
      this.#options.warn(`Cannot keep the record of "${record.id}": ${String(error)}; its end is lost if the shim is killed`);
    }
  }
}
