import type { Readable } from 'node:stream';
import type { Clock } from '../../../../lib/clock.ts';
import type { LogStream } from '../log/cri-lines.ts';
import type { ProgramEnds } from './stdio.ts';

export type OutputListener = (stream: LogStream, bytes: Buffer) => void;

/**
 * How long outputs may be silent after the program has ended before they are closed. What is in the pipes arrives at once; this is
 * for a process that got away with an output still open.
 */
const DRAIN_MS = 500;
const MAX_REPORT_BYTES = 8 * 1024;

/** Everything a program writes: for one consumer, at its pace, and for listeners, who cannot slow it down. */
export class Outputs {
  readonly #sources: [LogStream, Readable][];
  readonly #listeners = new Set<OutputListener>();
  readonly #closed: Promise<unknown>;
  #paused = false;
  #received = 0;

  constructor(ends: ProgramEnds) {
    this.#sources = [['stdout', ends.stdout]];
    if (ends.stderr !== undefined) this.#sources.push(['stderr', ends.stderr]);
    this.#closed = Promise.all(this.#sources.map(([, source]) => closed(source)));
  }

  /** Begins to read. A consumer that returns false is spared until it calls `resume`. */
  read(consume: (stream: LogStream, bytes: Buffer) => boolean): void {
    for (const [stream, source] of this.#sources) {
      source.on('data', (bytes: Buffer) => {
        this.#received++;
        for (const listener of this.#listeners) listener(stream, bytes);
        if (!consume(stream, bytes)) this.#pause();
      });
    }
  }

  resume(): void {
    this.#paused = false;
    this.#received++;
    for (const [, source] of this.#sources) source.resume();
  }

  listen(listener: OutputListener): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  /** Resolves when all is read that there will be, and closes them. */
  async drain(clock: Clock): Promise<void> {
    for (let silent = false; !silent;) {
      const before = this.#received;
      const closed = await Promise.race([this.#closed.then(() => true), patience(clock)]);
      silent = closed || (!this.#paused && this.#received === before);
    }
    for (const [, source] of this.#sources) source.destroy();
  }

  /** What a program that failed to start has said. */
  async report(clock: Clock): Promise<string> {
    const pieces: Buffer[] = [];
    this.read((_stream, bytes) => pieces.push(bytes) > 0);
    await this.drain(clock);
    return Buffer.concat(pieces).subarray(0, MAX_REPORT_BYTES).toString().trim();
  }

  #pause(): void {
    this.#paused = true;
    for (const [, source] of this.#sources) source.pause();
  }
}

function closed(source: Readable): Promise<void> {
  // A container that an OCI runtime left to us may have ended, silently, before anybody listened.
  if (source.readableEnded || source.destroyed) return Promise.resolve();
  return new Promise((resolve) => {
    // A terminal whose other side is closed says so with an error.
    source.once('error', () => resolve());
    source.once('end', () => resolve());
    source.once('close', () => resolve());
  });
}

function patience(clock: Clock): Promise<false> {
  return new Promise((resolve) => {
    clock.setTimer(DRAIN_MS, () => resolve(false)).hold?.();
  });
}
