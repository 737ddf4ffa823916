import type { LogOptions } from './pod-access.ts';

export interface LogFilter {
  stream: LogOptions['stream'];
  timestamps: boolean;
  /** Milliseconds since the epoch; lines before it are left out. */
  since?: number;
}

const NEWLINE = 0x0a;
const SPACE = 0x20;
/** A time, a stream and a tag are shorter than this: what is longer is not a line of a log. */
const MAX_HEAD_BYTES = 128;
const NEWLINE_BYTES: Buffer = Buffer.from('\n');
const EMPTY: Buffer = Buffer.alloc(0);
const STDOUT = Buffer.from('stdout');
const STDERR = Buffer.from('stderr');

/**
 * Turns the lines of a log file (`<time> stdout|stderr F|P <text>`) into what the program wrote. Parts of a line are joined by not
 * ending them, so nothing is held however long a line is, and however the bytes are cut.
 */
export class LogFormatter {
  readonly #filter: LogFilter;
  #isPast: boolean;
  #head: Buffer = EMPTY;
  #body: 'none' | 'shown' | 'skipped' = 'none';
  #isPart = false;
  /** The last line shown was a part: what follows continues it, without a time of its own. */
  #isContinued = false;

  constructor(filter: LogFilter) {
    this.#filter = filter;
    this.#isPast = filter.since !== undefined;
  }

  format(chunk: Buffer): Buffer {
    const out: Buffer[] = [];
    let at = 0;
    while (at < chunk.length) {
      const end = chunk.indexOf(NEWLINE, at);
      const stop = end < 0 ? chunk.length : end;
      if (this.#body === 'none') at = this.#readHead(chunk, at, stop, out);
      if (this.#body === 'shown' && stop > at) out.push(chunk.subarray(at, stop));
      if (end >= 0) this.#endLine(out);
      at = stop + 1;
    }
    return out.length === 0 ? EMPTY : Buffer.concat(out);
  }

  /** @returns where the text begins. */
  #readHead(chunk: Buffer, from: number, stop: number, out: Buffer[]): number {
    const before = this.#head.length;
    const piece = chunk.subarray(from, Math.min(stop, from + MAX_HEAD_BYTES));
    const head = before === 0 ? piece : Buffer.concat([this.#head, piece]);
    const time = head.indexOf(SPACE);
    const stream = time < 0 ? -1 : head.indexOf(SPACE, time + 1);
    // A line without text may end right after its tag.
    const tag = stream < 0 ? -1 : head.indexOf(SPACE, stream + 1);
    const isWhole = from + piece.length === stop && stop < chunk.length;
    if (tag < 0 && !isWhole) {
      if (head.length >= MAX_HEAD_BYTES) this.#body = 'skipped';
      else this.#head = Buffer.from(head);
      return stop;
    }
    this.#head = EMPTY;
    const tagEnd = tag < 0 ? head.length : tag;
    const fits = stream >= 0 && this.#fits(head, time, stream);
    this.#body = fits ? 'shown' : 'skipped';
    if (fits) {
      this.#isPart = head[stream + 1] === 0x50;
      if (this.#filter.timestamps && !this.#isContinued) out.push(Buffer.from(`${fixedTime(head.toString('latin1', 0, time))} `));
    }
    return Math.min(from + tagEnd + 1 - before, stop);
  }

  #fits(head: Buffer, time: number, stream: number): boolean {
    const { since, stream: wanted } = this.#filter;
    if (this.#isPast) {
      const at = Date.parse(head.toString('latin1', 0, time));
      if (!(at >= since!)) return false;
      // Times only grow: the rest need not be looked at.
      this.#isPast = false;
    }
    if (stream - time !== STDOUT.length + 1) return false;
    const isStdout = head.compare(STDOUT, 0, STDOUT.length, time + 1, stream) === 0;
    if (!isStdout && head.compare(STDERR, 0, STDERR.length, time + 1, stream) !== 0) return false;
    return wanted === 'All' || (wanted === 'Stdout') === isStdout;
  }

  #endLine(out: Buffer[]): void {
    if (this.#body === 'shown') {
      this.#isContinued = this.#isPart;
      if (!this.#isPart) out.push(NEWLINE_BYTES);
    }
    this.#body = 'none';
    this.#head = EMPTY;
  }
}

/** With nine digits of a second, as kubectl shows them. */
function fixedTime(time: string): string {
  const match = /^(.*:\d\d)(?:\.(\d+))?(Z|[+-]\d\d:\d\d)$/.exec(time);
  return match === null ? time : `${match[1]}.${(match[2] ?? '').padEnd(9, '0')}${match[3]}`;
}
