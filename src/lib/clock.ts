/** Time as a parameter: production code takes a Clock, tests hand in a FakeClock and move it by hand. */
export interface Clock {
  /** Milliseconds since the epoch. May jump when the machine's time is corrected: for timestamps only. */
  now(): number;
  /** Milliseconds that never go back: for durations and deadlines. */
  monotonic(): number;
  /** Calls back once after `ms`. Does not keep the process alive unless it is held. */
  setTimer(ms: number, callback: () => void): Timer;
}

export interface Timer {
  cancel(): void;
  /** Keeps the process alive until it fires: somebody waits for it. */
  hold?(): void;
}

/** Timers of Node overflow above this and fire at once. */
const LONGEST_TIMER = 2 ** 31 - 1;

export const realClock: Clock = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
  setTimer(ms, callback) {
    const handle = setTimeout(callback, Math.min(Math.max(ms, 0), LONGEST_TIMER));
    handle.unref();
    return { cancel: () => clearTimeout(handle), hold: () => void handle.ref() };
  },
};
