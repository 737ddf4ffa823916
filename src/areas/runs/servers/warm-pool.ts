import type { Clock, Timer } from '../../../lib/clock.ts';

/** Longer than a short Run takes. */
const REST_MS = 20;

export interface WarmPoolOptions<Worker> {
  /** How many are to wait. */
  wanted: number;
  /** @returns undefined when none can be started now */
  start(): Worker | undefined;
  clock: Clock;
}

/**
 * Interpreters that wait for Runs. A start costs processor time that a Run should not wait for: while half of them are still waiting, those that are
 * missing are started 20 ms after the first of them was taken, when most Runs are over; with fewer, as soon as the event loop has time.
 */
export class WarmPool<Worker> {
  readonly #options: WarmPoolOptions<Worker>;
  readonly #waiting: Worker[] = [];
  #rest: Timer | undefined;
  /** The next start: never more than one of them, or there would be several starts in a turn of the event loop. */
  #turn: NodeJS.Immediate | undefined;
  #closed = false;

  constructor(options: WarmPoolOptions<Worker>) {
    this.#options = options;
  }

  get size(): number {
    return this.#waiting.length;
  }

  /** Starts what is missing, one in a turn of the event loop. */
  fill(): void {
    this.#rest?.cancel();
    this.#rest = undefined;
    if (this.#closed || this.#turn !== undefined || this.size >= this.#options.wanted) return;
    const worker = this.#options.start();
    if (worker === undefined) return;
    this.#waiting.push(worker);
    this.#fillNextTurn();
  }

  /** One that waits, for a Run. @returns undefined when there is none that fits */
  take(fits: (worker: Worker) => boolean = () => true): Worker | undefined {
    const at = this.#waiting.findIndex(fits);
    if (at < 0) {
      // Those that there were have ended, or could not be started.
      if (this.size === 0 && this.#options.wanted > 0) this.#fillNextTurn();
      return undefined;
    }
    const [worker] = this.#waiting.splice(at, 1);
    if (this.size * 2 < this.#options.wanted) this.#fillNextTurn();
    else this.#rest ??= this.#options.clock.setTimer(REST_MS, () => this.fill());
    return worker;
  }

  /** It has ended. @returns whether it was still waiting */
  remove(worker: Worker): boolean {
    const at = this.#waiting.indexOf(worker);
    if (at >= 0) this.#waiting.splice(at, 1);
    return at >= 0;
  }

  /** @returns those that were waiting */
  close(): Worker[] {
    this.#closed = true;
    this.#rest?.cancel();
    clearImmediate(this.#turn);
    return this.#waiting.splice(0);
  }

  #fillNextTurn(): void {
    this.#turn ??= setImmediate(() => {
      this.#turn = undefined;
      this.fill();
    });
  }
}
