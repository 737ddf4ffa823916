/** Work that covers everything asked for before it began: requests that come while a round runs share the next one. */
export class Rounds {
  #work: () => Promise<void>;
  #running: Promise<void> | undefined;
  #next: Promise<void> | undefined;

  constructor(work: () => Promise<void>) {
    this.#work = work;
  }

  /** Resolves when a round that began after this call has ended; rejects when it failed. */
  request(): Promise<void> {
    if (this.#next) return this.#next;
    if (!this.#running) return this.#start();
    this.#next = this.#running
      .catch(() => {})
      .then(() => {
        this.#next = undefined;
        return this.#start();
      });
    return this.#next;
  }

  /** Waits until nothing is under way. Never rejects. */
  async idle(): Promise<void> {
    while (this.#next ?? this.#running) await (this.#next ?? this.#running)?.catch(() => {});
  }

  #start(): Promise<void> {
    // The next turn, so that all changes of this one take part.
    const running = Promise.resolve()
      .then(this.#work)
      .finally(() => {
        if (this.#running === running) this.#running = undefined;
      });
    this.#running = running;
    return running;
  }
}
