/** Requests of those who ask for much are let begin in steps of this length. */
const STEP_MS = 5;
/** Of the event loop's time, beside somebody who asks for little: with more of it in use, each of its requests waits for others. */
const MOST_IN_USE = 0.5;
const FIRST = 4;
const MOST = 256;
/** What was learnt about how much fits is forgotten after this. */
const LEARNT_MS = 1000;

/** How many requests of those who ask for much may begin, so that the event loop has time to spare. It is learnt from how busy the loop was. */
export class Pace {
  /** Of the event loop since the last question, from 0 to 1. */
  readonly #inUse: () => number;
  #allowed = FIRST;
  #begun = 0;
  #since = -Infinity;

  constructor(inUse: () => number) {
    this.#inUse = inUse;
  }

  mayBegin(now: number): boolean {
    const passed = now - this.#since;
    if (passed >= STEP_MS) {
      const inUse = this.#inUse();
      if (passed >= LEARNT_MS) this.#allowed = FIRST;
      else this.#allowed = inUse > MOST_IN_USE ? Math.max(1, this.#allowed / 2) : Math.min(MOST, this.#allowed * 1.25);
      this.#since = now;
      this.#begun = 0;
    }
    return this.#begun < this.#allowed;
  }

  begin(): void {
    this.#begun++;
  }

  /** Until more may begin. */
  untilNext(now: number): number {
    return Math.max(0, this.#since + STEP_MS - now);
  }
}
