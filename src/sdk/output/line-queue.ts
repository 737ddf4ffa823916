import type { Readable } from 'node:stream';
import { Bell } from './bell.ts';
import { linesOfRun, type LogLine } from './log-lines.ts';

/** Lines that are read ahead of whoever prints them. */
const READ_AHEAD = 1000;

/** The lines of a Run that have come from a log and were not taken yet. */
export class LineQueue {
  /** Nothing more will come. */
  ended = false;
  #lines: LogLine[] = [];
  readonly #taken = new Bell();

  constructor(log: Readable, uid: string, news: Bell) {
    void this.#read(log, uid, news);
  }

  take(): LogLine[] {
    const lines = this.#lines;
    this.#lines = [];
    this.#taken.ring();
    return lines;
  }

  async #read(log: Readable, uid: string, news: Bell): Promise<void> {
    try {
      for await (const line of linesOfRun(log, uid)) {
        this.#lines.push(line);
        news.ring();
        while (this.#lines.length >= READ_AHEAD) await this.#taken.next();
      }
    } catch {
      // It broke off. The reader asks for it again as long as the Run goes on, and has what was kept of it afterwards.
    }
    this.ended = true;
    news.ring();
  }
}
