/** Work for one key is done one after the other, in the order in which it came; for different keys at the same time. */
export class Turns {
  readonly #last = new Map<string, Promise<unknown>>();

  async take<T>(key: string, work: () => Promise<T>): Promise<T> {
    const before = this.#last.get(key);
    const turn = (async () => {
      await before?.catch(() => {});
      return work();
    })();
    this.#last.set(key, turn);
    try {
      return await turn;
    } finally {
      if (this.#last.get(key) === turn) this.#last.delete(key);
    }
  }

  /** Resolves when all that has been asked for until now has ended, well or not. */
  async settled(): Promise<void> {
    await Promise.allSettled(this.#last.values());
  }
}
