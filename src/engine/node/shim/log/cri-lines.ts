import type { Clock } from '../../../../lib/clock.ts';

export type LogStream = 'stdout' | 'stderr';

/** The longest text of one log line, as in containerd: what is longer becomes parts. */
export const MAX_LINE_BYTES = 16 * 1024;

const NEWLINE = 10;
const END_OF_LINE = Buffer.from('\n');

/** Turns output into log lines. Holds at most one part of a line per stream, whatever is thrown at it. */
export class CriLines {
  readonly #stamp: () => string;
  readonly #open: Record<LogStream, Buffer> = { stdout: Buffer.alloc(0), stderr: Buffer.alloc(0) };

  constructor(stamp: () => string) {
    this.#stamp = stamp;
  }

  /** The lines that are complete now, as they belong into the file. */
  take(stream: LogStream, chunk: Buffer): Buffer {
    const held = this.#open[stream];
    const bytes = held.length === 0 ? chunk : Buffer.concat([held, chunk]);
    const pieces: Buffer[] = [];
    const stamp = this.#stamp();
    const full = Buffer.from(`${stamp} ${stream} F `);
    let at = 0;
    for (;;) {
      const end = bytes.indexOf(NEWLINE, at);
      const limit = end === -1 ? bytes.length : end;
      while (limit - at > MAX_LINE_BYTES) {
        pieces.push(Buffer.from(`${stamp} ${stream} P `), bytes.subarray(at, at + MAX_LINE_BYTES), END_OF_LINE);
        at += MAX_LINE_BYTES;
      }
      if (end === -1) break;
      pieces.push(full, bytes.subarray(at, end + 1));
      at = end + 1;
    }
    // A copy: the rest of a large chunk must not keep the whole of it in memory.
    this.#open[stream] = Buffer.from(bytes.subarray(at));
    return Buffer.concat(pieces);
  }

  /** What is left of a stream that ended without a newline. */
  end(stream: LogStream): Buffer {
    const held = this.#open[stream];
    this.#open[stream] = Buffer.alloc(0);
    if (held.length === 0) return held;
    return Buffer.concat([Buffer.from(`${this.#stamp()} ${stream} F `), held, END_OF_LINE]);
  }
}

/** Times for pieces of output: never the same twice and never going back, so that lines sort in the order they were written. */
export function logStamps(clock: Clock): () => string {
  let lastMs = 0;
  let extra = 0;
  return () => {
    const now = Math.floor(clock.now());
    // A small step back is a correction of the clock; after a large one the clock is believed.
    if (now > lastMs || now < lastMs - 1000) {
      lastMs = now;
      extra = 0;
    } else {
      extra = Math.min(extra + 1, 999_999);
    }
    return `${new Date(lastMs).toISOString().slice(0, -1)}${String(extra).padStart(6, '0')}Z`;
  };
}

/** How many bytes from the start are whole lines and not more than the limit. */
export function wholeLinesWithin(lines: Buffer, limit: number): number {
  if (lines.length <= limit) return lines.length;
  return limit <= 0 ? 0 : lines.lastIndexOf(NEWLINE, limit - 1) + 1;
}
