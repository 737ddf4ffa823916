import { EventEmitter } from 'node:events';
import { closeSync, write, writeSync } from 'node:fs';
import { Socket } from 'node:net';
import { constants } from 'node:os';
import type { Child, ChildOptions, Orphans, StartChild } from './child.ts';
import { findProgram } from './find-program.ts';
import type { PosixCalls } from './posix-calls.ts';

/** What an empty pipe takes at once: the least that Linux gives one. */
const PIPE_BYTES = 4096;
const SIGNALS = new Map(Object.entries(constants.signals).map(([name, number]) => [number, name as NodeJS.Signals]));

export interface PosixChildren {
  start: StartChild;
  /** Undefined when we cannot have any. */
  orphans(): Orphans | undefined;
}

/**
 * Starts processes by posix_spawn in a thread: neither is this process copied for it, nor does the event loop wait until the new one is
 * its own.
 */
export function posixChildren(calls: PosixCalls): PosixChildren {
  const running = new Map<number, { ended(status: number): void }>();
  const look = (pid: number, one: { ended(status: number): void }): boolean => {
    const status = calls.reap(pid);
    if (status === undefined) return false;
    running.delete(pid);
    one.ended(status);
    return true;
  };
  const end = (pid: number) =>
    new Promise<void>((resolve) => {
      // Its own parent may have seen its end, and its number be another's by now.
      if (running.has(pid)) return resolve();
      const orphan = { ended: () => resolve() };
      running.set(pid, orphan);
      if (!look(pid, orphan)) calls.kill(pid, constants.signals.SIGKILL);
    });
  process.on('SIGCHLD', () => {
    for (let pid = calls.ended(); pid !== undefined; pid = calls.ended()) {
      const child = running.get(pid);
      if (child !== undefined && look(pid, child)) continue;
      // One that Node itself waits for is in front, and may hide ours.
      for (const [own, each] of running) look(own, each);
      return;
    }
  });
  const start: StartChild = (argv, options) => {
    const child = new PosixChild(calls, options.listens);
    const begin = async (): Promise<boolean> => {
      try {
        const pid = await child.start(argv, options);
        running.set(pid, child);
        child.begun(pid);
        // It may be over before we knew of it.
        look(pid, child);
        return true;
      } catch (error) {
        child.failed(error);
        return false;
      }
    };
    child.started = begin();
    return child;
  };
  return { start, orphans: () => (calls.adopt() ? { end, pipe: () => calls.pipe(false) } : undefined) };
}

class PosixChild extends EventEmitter implements Child {
  pid?: number;
  started!: Promise<boolean>;
  readonly stdout: Socket;
  readonly stderr: Socket;
  exitCode: number | null = null;
  signalCode: NodeJS.Signals | null = null;
  readonly #calls: PosixCalls;
  readonly #theirs: [ours: number, theirs: number][];
  #input: number | undefined;
  /** Of its end and that of its outputs, how many are to come. */
  #open = 3;

  constructor(calls: PosixCalls, listens: boolean) {
    super();
    this.#calls = calls;
    const [output, errors] = [calls.pipe(), calls.pipe()];
    this.#theirs = [
      [output.write, 1],
      [errors.write, 2],
    ];
    if (listens) {
      const input = calls.pipe();
      this.#input = input.write;
      this.#theirs.push([input.read, 3]);
    }
    this.stdout = this.#reader(output.read);
    this.stderr = this.#reader(errors.read);
  }

  async start(argv: string[], options: ChildOptions): Promise<number> {
    const files = (options.files ?? []).map((ours, index): [number, number] => [ours, index + 4]);
    try {
      const path = findProgram(argv[0], options.env['PATH'] ?? '');
      return await this.#calls.spawn(path, argv, options, [...this.#theirs, ...files]);
    } finally {
      for (const [ours] of [...this.#theirs, ...files]) closeSync(ours);
    }
  }

  begun(pid: number): void {
    this.pid = pid;
    this.emit('spawn');
  }

  failed(error: unknown): void {
    this.#closeInput();
    this.emit('error', error);
    this.#oneLess();
  }

  /** @param status as waitpid gives it */
  ended(status: number): void {
    const signal = status & 0x7f;
    if (signal === 0) this.exitCode = (status >> 8) & 0xff;
    else this.signalCode = SIGNALS.get(signal) ?? null;
    this.#closeInput();
    this.emit('exit', this.exitCode, this.signalCode);
    this.#oneLess();
  }

  killGroup(signal: NodeJS.Signals): void {
    if (this.pid === undefined) return void this.once('spawn', () => this.killGroup(signal));
    this.#calls.kill(-this.pid, constants.signals[signal]);
  }

  tell(message: string): void {
    const input = this.#input;
    if (input === undefined) return;
    this.#input = undefined;
    const bytes = Buffer.from(message);
    if (bytes.length <= PIPE_BYTES) {
      try {
        writeSync(input, bytes);
      } catch {
        // It is gone; its end says so.
      }
      closeSync(input);
      return;
    }
    writeAll(input, bytes, () => closeSync(input));
  }

  #reader(descriptor: number): Socket {
    const socket = new Socket({ fd: descriptor, readable: true, writable: false });
    socket.once('close', () => this.#oneLess());
    return socket;
  }

  #closeInput(): void {
    if (this.#input !== undefined) closeSync(this.#input);
    this.#input = undefined;
  }

  #oneLess(): void {
    if (--this.#open === 0) this.emit('close', this.exitCode, this.signalCode);
  }
}

/** In a thread, which waits with it for as long as the reader takes. */
function writeAll(descriptor: number, bytes: Buffer, done: () => void): void {
  write(descriptor, bytes, (error, written) => {
    if (error !== null || written === bytes.length) return done();
    writeAll(descriptor, bytes.subarray(written), done);
  });
}
