/** Wakes whoever waits for news, of several sources, without saying which: they look for themselves. */
export class Bell {
  #ring: () => void = () => {};
  #rung: Promise<void> = this.#renew();

  ring(): void {
    const ring = this.#ring;
    this.#rung = this.#renew();
    ring();
  }

  /** Resolves with the next ring. Look before waiting, in the same turn: nothing is missed in between. */
  next(): Promise<void> {
    return this.#rung;
  }

  #renew(): Promise<void> {
    return new Promise((resolve) => (this.#ring = resolve));
  }
}
