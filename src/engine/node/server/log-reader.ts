import { watch, type FSWatcher } from 'node:fs';
import { basename, dirname } from 'node:path';
import { Readable } from 'node:stream';
import { linkSignals } from '../../../lib/abort.ts';
import { realClock, type Clock } from '../../../lib/clock.ts';
import { openLogs, openNextLog, type OpenLog } from './log-files.ts';
import { LogFormatter } from './log-formatter.ts';
import { tailPosition, type LogPosition } from './log-tail.ts';
import type { LogOptions } from './pod-access.ts';

export interface LogRequest {
  /** The file that the container writes to now (`<attempt>.log`); those moved away lie beside it as `<path>.<time>`. */
  path: string;
  options: LogOptions;
  /** Settles when nothing more will be written: following ends then, once everything is read. */
  ended: Promise<unknown>;
  signal: AbortSignal;
  clock?: Clock;
}

const BLOCK_BYTES = 64 * 1024;
const NO_INODE = -1;
/** Only where the folder cannot be watched (no watches left on the machine, or it does not exist yet). */
const POLL_MS = 500;

/** A container's output as its program wrote it. Reads as fast as it is read from, and holds one block whatever the length of a line. */
export function readLog({ path, options, ended, signal, clock = realClock }: LogRequest): Readable {
  const stop = linkSignals(signal);
  const pieces = limited(output(path, options, ended, stop.signal, clock), options.limitBytes);
  const stream = new Readable({
    highWaterMark: BLOCK_BYTES,
    read() {
      pieces.next().then(
        ({ done, value }) => this.push(done === true ? null : value),
        (error: Error) => this.destroy(error),
      );
    },
    destroy(error, done) {
      signal.removeEventListener('abort', onAbort);
      // It may be waiting for the next line.
      stop.abort();
      pieces.return(undefined).then(
        () => done(error),
        (failed: Error) => done(error ?? failed),
      );
    },
  });
  const onAbort = (): void => void stream.destroy();
  signal.addEventListener('abort', onAbort, { once: true });
  if (signal.aborted) stream.destroy();
  return stream;
}

async function* limited(source: AsyncGenerator<Buffer>, limitBytes: number | undefined): AsyncGenerator<Buffer> {
  let left = limitBytes ?? Infinity;
  for await (const bytes of source) {
    yield bytes.length > left ? bytes.subarray(0, left) : bytes;
    left -= bytes.length;
    if (left <= 0) return;
  }
}

async function* output(
  path: string,
  options: LogOptions,
  ended: Promise<unknown>,
  signal: AbortSignal,
  clock: Clock,
): AsyncGenerator<Buffer> {
  const since = sinceOf(options, clock.now());
  const formatter = new LogFormatter({ stream: options.stream, timestamps: options.timestamps, since });
  const changes = options.follow ? new LogChanges(path, ended, signal, clock) : undefined;
  let logs: OpenLog[] = [];
  try {
    logs = await openLogs(path);
    let position: LogPosition = options.tailLines === undefined ? { file: 0, offset: 0 } : await tailPosition(logs, options.tailLines);
    for (; position.file < logs.length; position = { file: position.file + 1, offset: 0 }) {
      const log = logs[position.file];
      const isLast = position.file === logs.length - 1;
      if (!isLast && since !== undefined && log.modifiedMs < since) continue;
      yield* blocks(log, position.offset, formatter, isLast ? changes : undefined, path);
    }
    if (changes !== undefined) yield* newFiles(path, logs, formatter, changes);
  } finally {
    changes?.close();
    await Promise.all(logs.map(({ handle }) => handle.close()));
  }
}

/** Files that come after those that were there at the start. */
async function* newFiles(path: string, logs: OpenLog[], formatter: LogFormatter, changes: LogChanges): AsyncGenerator<Buffer> {
  for (;;) {
    const isOver = changes.isOver;
    const next = await openNextLog(path, logs.at(-1)?.inode ?? NO_INODE);
    if (next === undefined) {
      if (isOver) return;
      await changes.next();
      continue;
    }
    await logs.pop()?.handle.close();
    logs.push(next);
    yield* blocks(next, 0, formatter, changes, path);
  }
}

/** The rest of a file; while it is followed, until another one took its place or nothing more will come. */
async function* blocks(
  { handle, inode }: OpenLog,
  from: number,
  formatter: LogFormatter,
  changes: LogChanges | undefined,
  path: string,
): AsyncGenerator<Buffer> {
  let offset = from;
  let isReplaced = false;
  for (;;) {
    // Looked at before reading: what was written before it became true is read below.
    const isOver = changes === undefined || changes.isOver || isReplaced;
    const { bytesRead, buffer } = await handle.read(Buffer.allocUnsafe(BLOCK_BYTES), 0, BLOCK_BYTES, offset);
    if (bytesRead > 0) {
      offset += bytesRead;
      const bytes = formatter.format(buffer.subarray(0, bytesRead));
      if (bytes.length > 0) yield bytes;
      continue;
    }
    if (isOver) return;
    const next = await openNextLog(path, inode);
    await next?.handle.close();
    if (next === undefined) await changes.next();
    else isReplaced = true;
  }
}

function sinceOf({ sinceSeconds, sinceTime }: LogOptions, now: number): number | undefined {
  if (sinceTime !== undefined) return Date.parse(sinceTime);
  return sinceSeconds === undefined ? undefined : now - sinceSeconds * 1000;
}

/** Tells when there may be more to read. Changes between two questions are not lost. */
class LogChanges {
  isOver = false;
  readonly #clock: Clock;
  #watcher: FSWatcher | undefined;
  #hasChanged = false;
  #wake: (() => void) | undefined;

  constructor(path: string, ended: Promise<unknown>, signal: AbortSignal, clock: Clock) {
    this.#clock = clock;
    const finish = (): void => {
      this.isOver = true;
      this.#changed();
    };
    ended.then(finish, finish);
    signal.addEventListener('abort', finish, { once: true });
    if (signal.aborted) finish();
    this.#watch(path);
  }

  async next(): Promise<void> {
    if (!this.#hasChanged) {
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
        if (this.#watcher === undefined) this.#clock.setTimer(POLL_MS, resolve).hold?.();
      });
    }
    this.#hasChanged = false;
    this.#wake = undefined;
  }

  close(): void {
    this.#watcher?.close();
  }

  #watch(path: string): void {
    try {
      const name = basename(path);
      this.#watcher = watch(dirname(path), { persistent: false }, (_event, file) => {
        if (file === null || file.startsWith(name)) this.#changed();
      });
      this.#watcher.on('error', () => {
        this.#watcher?.close();
        this.#watcher = undefined;
        this.#changed();
      });
    } catch {
      this.#watcher = undefined;
    }
  }

  #changed(): void {
    this.#hasChanged = true;
    this.#wake?.();
  }
}
