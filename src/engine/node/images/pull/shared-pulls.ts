import { orAborted } from '../../../../lib/abort.ts';

interface SharedPull<T> {
  promise: Promise<T>;
  controller: AbortController;
  waiters: number;
}

/** Requests for the same thing at the same time are one. It ends early only when nobody waits for it any more. */
export class SharedPulls<T> {
  readonly #running = new Map<string, SharedPull<T>>();

  async run(key: string, signal: AbortSignal, start: (signal: AbortSignal) => Promise<T>): Promise<T> {
    signal.throwIfAborted();
    const pull = this.#running.get(key) ?? this.#start(key, start);
    pull.waiters++;
    try {
      return await orAborted(pull.promise, signal);
    } finally {
      if (--pull.waiters === 0) {
        if (this.#running.get(key) === pull) this.#running.delete(key);
        pull.controller.abort();
      }
    }
  }

  #start(key: string, start: (signal: AbortSignal) => Promise<T>): SharedPull<T> {
    const controller = new AbortController();
    const promise = start(controller.signal).finally(() => {
      if (this.#running.get(key) === pull) this.#running.delete(key);
    });
    // Whoever waits hears of it; nobody may be left to.
    promise.catch(() => {});
    const pull: SharedPull<T> = { promise, controller, waiters: 0 };
    this.#running.set(key, pull);
    return pull;
  }
}
