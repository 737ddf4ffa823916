/** A source of numbers in [0, 1). */
export type Random = () => number;

export interface BackoffOptions {
  initialMs: number;
  maxMs: number;
  /** How much longer each wait is than the one before; 2 by default. */
  factor?: number;
  /** Share of each wait that is random, so that many clients do not return together; 0.5 by default, 0 for none. */
  jitter?: number;
  random?: Random;
}

/** The wait before retry number `failures` (1 is the first): exponential, capped, and shortened by up to `jitter` of itself. */
export function backoffDelay(failures: number, options: BackoffOptions): number {
  const { initialMs, maxMs, factor = 2, jitter = 0.5, random = Math.random } = options;
  const full = Math.min(maxMs, initialMs * factor ** Math.min(failures - 1, 64));
  return full * (1 - jitter * random());
}

/** Counts failures in a row. */
export class Backoff {
  #options: BackoffOptions;
  #failures = 0;

  constructor(options: BackoffOptions) {
    this.#options = options;
  }

  get failures(): number {
    return this.#failures;
  }

  next(): number {
    this.#failures++;
    return backoffDelay(this.#failures, this.#options);
  }

  reset(): void {
    this.#failures = 0;
  }
}

/** Mulberry32: the same seed gives the same sequence on every machine. Not for secrets. */
export function seededRandom(seed: number): Random {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}
