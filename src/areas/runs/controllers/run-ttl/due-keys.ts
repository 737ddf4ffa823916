import { BinaryHeap } from '../../../../lib/binary-heap.ts';
import type { Clock, Timer } from '../../../../lib/clock.ts';

/** Looked at again at least so often: the machine's time may have been corrected. */
const LONGEST_WAIT_MS = 600_000;

/** Keys that fall due at a time of day, with one timer for all of them. A key that was put twice falls due twice. */
export class DueKeys {
  readonly #clock: Clock;
  readonly #onDue: (key: string) => void;
  readonly #heap = new BinaryHeap<{ due: number; key: string }>((a, b) => a.due < b.due);
  #timer: { timer: Timer; due: number } | undefined;

  constructor(clock: Clock, onDue: (key: string) => void) {
    this.#clock = clock;
    this.#onDue = onDue;
  }

  put(key: string, due: number): void {
    this.#heap.push({ key, due });
    if (this.#timer === undefined || due < this.#timer.due) this.#arm();
  }

  stop(): void {
    this.#timer?.timer.cancel();
    this.#timer = undefined;
  }

  #arm(): void {
    this.stop();
    const next = this.#heap.peek();
    if (next === undefined) return;
    const wait = Math.min(LONGEST_WAIT_MS, Math.max(0, next.due - this.#clock.now()));
    this.#timer = { due: next.due, timer: this.#clock.setTimer(wait, () => this.#fire()) };
  }

  #fire(): void {
    for (let next = this.#heap.peek(); next !== undefined && next.due <= this.#clock.now(); next = this.#heap.peek()) {
      this.#heap.pop();
      this.#onDue(next.key);
    }
    this.#arm();
  }
}
