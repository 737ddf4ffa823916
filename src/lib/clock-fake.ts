import type { Clock, Timer } from './clock.ts';

interface PendingTimer {
  due: number;
  order: number;
  callback: () => void;
}

/** A clock that stands still until a test moves it. Timers fire in the order of their due times. */
export class FakeClock implements Clock {
  #now: number;
  #start: number;
  #order = 0;
  #pending = new Set<PendingTimer>();

  constructor(start: number | string = '2026-01-01T00:00:00Z') {
    this.#now = typeof start === 'number' ? start : Date.parse(start);
    this.#start = this.#now;
  }

  now(): number {
    return this.#now;
  }

  monotonic(): number {
    return this.#now - this.#start;
  }

  setTimer(ms: number, callback: () => void): Timer {
    const timer = { due: this.#now + Math.max(ms, 0), order: this.#order++, callback };
    this.#pending.add(timer);
    return { cancel: () => void this.#pending.delete(timer) };
  }

  get pendingTimers(): number {
    return this.#pending.size;
  }

  /** Moves time, firing what falls due on the way and letting the promises it settles run before the next timer. */
  async advance(ms: number): Promise<void> {
    const end = this.#now + ms;
    await settle();
    for (let next = this.#next(end); next; next = this.#next(end)) {
      this.#pending.delete(next);
      this.#now = Math.max(this.#now, next.due);
      next.callback();
      await settle();
    }
    this.#now = end;
  }

  #next(end: number): PendingTimer | undefined {
    let first: PendingTimer | undefined;
    for (const timer of this.#pending) {
      if (timer.due > end) continue;
      if (!first || timer.due < first.due || (timer.due === first.due && timer.order < first.order)) first = timer;
    }
    return first;
  }
}

/** Lets everything that is already runnable run: a turn of the event loop drains all settled promises, and some work takes several turns. */
export async function settle(turns = 10): Promise<void> {
  for (let turn = 0; turn < turns; turn++) await new Promise<void>((resolve) => void setImmediate(resolve));
}
