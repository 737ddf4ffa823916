/** Longer than a short Run takes. */
const REST_MS = 20;

/**
 * Starts one more interpreter for each that a Run took. A start costs processor time that the Run should not wait for: while half of them are still
 * waiting there is time until it is over; with fewer it is done as soon as the event loop has time.
 */
export class WarmRefill {
  readonly #wanted: number;
  readonly #waiting: () => number;
  readonly #startOne: () => boolean;
  #timer: NodeJS.Timeout | undefined;
  #closed = false;

  /**
   * @param waiting how many there are
   * @param startOne false when it cannot be done now
   */
  constructor(wanted: number, waiting: () => number, startOne: () => boolean) {
    this.#wanted = wanted;
    this.#waiting = waiting;
    this.#startOne = startOne;
  }

  /** Starts what is missing, one in a turn of the event loop. */
  fill(): void {
    if (this.#closed || this.#waiting() >= this.#wanted || !this.#startOne()) return;
    setImmediate(() => this.fill());
  }

  /** One was taken. */
  taken(): void {
    if (this.#waiting() * 2 < this.#wanted) {
      setImmediate(() => this.fill());
      return;
    }
    this.#timer ??= setTimeout(() => {
      this.#timer = undefined;
      this.fill();
    }, REST_MS);
  }

  close(): void {
    this.#closed = true;
    clearTimeout(this.#timer);
  }
}
