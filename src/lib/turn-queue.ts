/** Milliseconds of one turn of the event loop that are given to those who queue. */
const TURN_MS = 4;

/**
 * Shares the event loop among many pieces of long work. Each gives way between its steps; here they queue for their next one, and a
 * turn of the loop lets as many go on as fit into a few milliseconds. With setImmediate alone all of them would go on in the same
 * turn: harmless for one list, a stall for five hundred.
 */
export class TurnQueue {
  readonly #now: () => number;
  #waiting: (() => void)[] = [];
  #head = 0;
  #scheduled = false;

  constructor(now: () => number = () => performance.now()) {
    this.#now = now;
  }

  /** Undefined for the first one of a turn: it may go on at once. A promise of a later turn for the others. */
  enter(): Promise<void> | undefined {
    if (this.#scheduled) return this.#wait();
    this.#schedule();
    return undefined;
  }

  /** Resolves in a later turn. */
  pause(): Promise<void> {
    if (!this.#scheduled) this.#schedule();
    return this.#wait();
  }

  #wait(): Promise<void> {
    return new Promise((resolve) => {
      this.#waiting.push(resolve);
    });
  }

  #schedule(): void {
    this.#scheduled = true;
    setImmediate(() => void this.#serve());
  }

  async #serve(): Promise<void> {
    const started = this.#now();
    do {
      const next = this.#waiting[this.#head++];
      if (next === undefined) {
        this.#waiting = [];
        this.#head = 0;
        this.#scheduled = false;
        return;
      }
      next();
      // Behind this stands the step that was let go on: it has run when we are back.
      await Promise.resolve();
      await Promise.resolve();
    } while (this.#now() - started < TURN_MS);
    if (this.#head > 1000) {
      this.#waiting = this.#waiting.slice(this.#head);
      this.#head = 0;
    }
    this.#schedule();
  }
}

/** The one of this process: there is one event loop. */
export const turns = new TurnQueue();
