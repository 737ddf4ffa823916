import { mkdir, open, readdir, rename, rm, type FileHandle } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { realClock, type Clock } from '../../../../lib/clock.ts';
import type { LogFile } from '../shim.ts';
import { CriLines, logStamps, wholeLinesWithin, type LogStream } from './cri-lines.ts';

export interface LogWriterOptions {
  file: LogFile;
  clock?: Clock;
  /** Told once per loss, not once per line. */
  warn: (message: string) => void;
  /** Called when a write that returned false has been worked off. */
  onRoom: () => void;
}

/** Above this the program has to wait for the disk, as it would if it wrote the file itself. */
const MAX_PENDING_BYTES = 1024 * 1024;

/** One container's log. What the disk does not take is lost and counted; the container never fails for it. */
export class LogWriter {
  readonly #options: LogWriterOptions;
  readonly #clock: Clock;
  readonly #stamp: () => string;
  readonly #lines: CriLines;
  #pending: Buffer[] = [];
  #pendingBytes = 0;
  #handle: FileHandle | undefined;
  #size = 0;
  #failing = false;
  #lostBytes = 0;
  #torn = false;
  #reopen = false;
  #working: Promise<void> | undefined;
  #lastRotation = 0;

  constructor(options: LogWriterOptions) {
    this.#options = options;
    this.#clock = options.clock ?? realClock;
    this.#stamp = logStamps(this.#clock);
    this.#lines = new CriLines(this.#stamp);
    // The file is there from the start: `kubectl logs` of a silent container is empty, not an error.
    this.#work();
  }

  /** False when the source should pause until `onRoom`. */
  write(stream: LogStream, chunk: Buffer): boolean {
    this.#add(this.#lines.take(stream, chunk));
    return this.#pendingBytes < MAX_PENDING_BYTES;
  }

  end(stream: LogStream): void {
    this.#add(this.#lines.end(stream));
  }

  /** From the next line on to a new file, after somebody moved the old one. */
  async reopen(): Promise<void> {
    this.#reopen = true;
    this.#work();
    await this.#working;
  }

  /** Resolves when everything is written or lost. */
  async close(): Promise<void> {
    this.end('stdout');
    this.end('stderr');
    await this.#working;
    await this.#handle?.close().catch(() => undefined);
    this.#handle = undefined;
  }

  #add(bytes: Buffer): void {
    if (bytes.length === 0) return;
    this.#pending.push(bytes);
    this.#pendingBytes += bytes.length;
    this.#work();
  }

  #work(): void {
    this.#working ??= this.#drain().finally(() => {
      this.#working = undefined;
      if (this.#pendingBytes > 0 || this.#reopen) this.#work();
    });
  }

  async #drain(): Promise<void> {
    do {
      const batch = Buffer.concat(this.#pending);
      const full = this.#pendingBytes >= MAX_PENDING_BYTES;
      this.#pending = [];
      this.#pendingBytes = 0;
      await this.#storeInFiles(batch);
      if (full) this.#options.onRoom();
    } while (this.#pendingBytes > 0);
  }

  /** Lines are never cut at the end of a file. */
  async #storeInFiles(batch: Buffer): Promise<void> {
    const { maxBytes } = this.#options.file;
    let rest = batch;
    do {
      const length = wholeLinesWithin(rest, maxBytes - this.#size) || wholeLinesWithin(rest, maxBytes) || rest.indexOf('\n') + 1;
      await this.#store(rest.subarray(0, length));
      rest = rest.subarray(length);
    } while (rest.length > 0);
  }

  async #store(batch: Buffer): Promise<void> {
    let written = 0;
    try {
      const handle = await this.#file(batch.length);
      const bytes = this.#withNotice(batch);
      while (written < bytes.length) written += (await handle.write(bytes, written)).bytesWritten;
      this.#size += bytes.length;
      this.#lostBytes = 0;
      this.#failing = false;
      this.#torn = false;
    } catch (error) {
      if (!this.#failing)
        this.#options.warn(`Cannot write the log "${this.#options.file.path}": ${String(error)}; its lines are lost until it can`);
      this.#failing = true;
      this.#lostBytes += batch.length;
      this.#torn ||= written > 0;
    }
  }

  #withNotice(batch: Buffer): Buffer {
    if (this.#lostBytes === 0) return batch;
    const notice = `${this.#torn ? '\n' : ''}${this.#stamp()} stderr F [tenantry: ${this.#lostBytes} bytes of log are missing here, the disk did not take them]\n`;
    return Buffer.concat([Buffer.from(notice), batch]);
  }

  async #file(more: number): Promise<FileHandle> {
    const { path, maxBytes } = this.#options.file;
    if (this.#handle !== undefined && (this.#reopen || (this.#size > 0 && this.#size + more > maxBytes))) {
      const old = this.#handle;
      this.#handle = undefined;
      await old.close();
      if (!this.#reopen) await this.#rotate();
    }
    this.#reopen = false;
    if (this.#handle === undefined) {
      await mkdir(dirname(path), { recursive: true });
      this.#handle = await open(path, 'a', 0o640);
      this.#size = (await this.#handle.stat()).size;
    }
    return this.#handle;
  }

  async #rotate(): Promise<void> {
    const { path, maxFiles } = this.#options.file;
    await rename(path, `${path}.${this.#rotationName()}`);
    const prefix = `${basename(path)}.`;
    const old = (await readdir(dirname(path))).filter((name) => name.startsWith(prefix)).sort();
    const extra = old.slice(0, Math.max(0, old.length - Math.max(0, maxFiles - 1)));
    for (const name of extra) await rm(join(dirname(path), name), { force: true });
  }

  /** Sorted by name is sorted by time, also when two rotations fall into the same millisecond or the clock was set back. */
  #rotationName(): string {
    this.#lastRotation = Math.max(this.#clock.now(), this.#lastRotation + 1);
    return compactTime(this.#lastRotation);
  }
}

/** `20260102-150405.678` */
function compactTime(ms: number): string {
  const [day, time] = new Date(ms).toISOString().slice(0, -1).split('T');
  return `${day.replaceAll('-', '')}-${time.replaceAll(':', '')}`;
}
