/** So many requests in any stretch of time of this length. */
export interface Rate {
  limit: number;
  windowMs: number;
}

const UNITS: Record<string, number> = { second: 1_000, minute: 60_000, hour: 3_600_000, day: 86_400_000 };

/** `60/minute`, as the manifest writes it. */
export function readRate(text: string): Rate {
  const [, limit, unit] = /^([1-9]\d*)\/(second|minute|hour|day)$/.exec(text) ?? [];
  if (unit === undefined) throw new Error(`Cannot read the request rate "${text}": it is not like 60/minute; correct the manifest`);
  return { limit: Number(limit), windowMs: UNITS[unit] };
}

interface Window {
  start: number;
  count: number;
  before: number;
}

/** When so many are counted, those that say nothing any more are dropped. */
const SWEEP_AT = 1_000;

/**
 * Counts requests by key, each against its rate. The window slides: what was counted in the one before weighs as much as of it still lies
 * within, so that no stretch of time sees much more than the limit and a key costs three numbers.
 */
export class RequestRates {
  readonly #windows = new Map<string, Window & { windowMs: number }>();
  #sweepAt = SWEEP_AT;

  /** Counts a request. @returns 0, or after how many milliseconds there is room for it, when it is one too many and was not counted */
  take(key: string, rate: Rate, now: number): number {
    const wait = this.wait(key, rate, now);
    if (wait === 0) this.#window(key, rate.windowMs, now).count++;
    return wait;
  }

  /** Counts nothing. @returns after how many milliseconds there is room for a request */
  wait(key: string, { limit, windowMs }: Rate, now: number): number {
    const window = this.#window(key, windowMs, now);
    const elapsed = now - window.start;
    const weight = window.before * (1 - elapsed / windowMs);
    if (weight + window.count + 1 <= limit) return 0;
    const room = limit - 1 - window.count;
    // What is left of the window before has to shrink to the room; without room, all of this window has to pass and shrink.
    const wait =
      room >= 0 ? windowMs * (1 - room / window.before) - elapsed : windowMs - elapsed + windowMs * (1 - (limit - 1) / window.count);
    return Math.max(1, Math.ceil(wait));
  }

  /** What was counted turned out not to count. */
  giveBack(key: string): void {
    const window = this.#windows.get(key);
    if (window && window.count > 0) window.count--;
  }

  #window(key: string, windowMs: number, now: number): Window {
    let window = this.#windows.get(key);
    if (!window || window.windowMs !== windowMs || now < window.start) {
      window = { start: now, count: 0, before: 0, windowMs };
      this.#windows.set(key, window);
      if (this.#windows.size >= this.#sweepAt) this.#sweep(now);
      return window;
    }
    const passed = Math.floor((now - window.start) / windowMs);
    if (passed > 0) {
      window.before = passed === 1 ? window.count : 0;
      window.count = 0;
      window.start += passed * windowMs;
    }
    return window;
  }

  #sweep(now: number): void {
    for (const [key, { start, windowMs }] of this.#windows) if (now - start > 2 * windowMs) this.#windows.delete(key);
    this.#sweepAt = Math.max(SWEEP_AT, 2 * this.#windows.size);
  }
}
