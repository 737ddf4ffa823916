import type { Clock, Timer } from '../../../../lib/clock.ts';

/** Decides when the shim has nothing left to do. */
export class Lifetime {
  readonly finished: Promise<void>;
  readonly #clock: Clock;
  readonly #idleMs: number;
  readonly #running: () => number;
  #finish = () => {};
  #clients = 0;
  #impatient = false;
  #timer: Timer | undefined;

  constructor(clock: Clock, idleMs: number, running: () => number) {
    this.#clock = clock;
    this.#idleMs = idleMs;
    this.#running = running;
    this.finished = new Promise((resolve) => (this.#finish = resolve));
  }

  clientCame(): void {
    this.#clients++;
    // Somebody wants it again.
    this.#impatient = false;
    this.check();
  }

  clientLeft(): void {
    this.#clients--;
    this.check();
  }

  finishWhenIdle(): void {
    this.#impatient = true;
    this.check();
  }

  check(): void {
    this.#timer?.cancel();
    this.#timer = undefined;
    if (this.#clients > 0 || this.#running() > 0) return;
    if (this.#impatient) this.#finish();
    else this.#timer = this.#clock.setTimer(this.#idleMs, this.#finish);
  }
}
