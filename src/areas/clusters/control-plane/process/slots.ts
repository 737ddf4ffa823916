import { orAborted } from '../../../../lib/abort.ts';

/** Lets only so many do something at once; the others wait in the order in which they came. */
export class Slots {
  #free: number;
  readonly #waiting: (() => void)[] = [];

  constructor(atOnce: number) {
    this.#free = atOnce;
  }

  /** @throws the reason of the signal when that fires before it is its turn */
  async use<T>(work: () => Promise<T>, signal?: AbortSignal): Promise<T> {
    await this.#enter(signal);
    try {
      return await work();
    } finally {
      this.#leave();
    }
  }

  async #enter(signal: AbortSignal | undefined): Promise<void> {
    signal?.throwIfAborted();
    if (this.#free > 0) {
      this.#free--;
      return;
    }
    let enter!: () => void;
    const turn = new Promise<void>((resolve) => this.#waiting.push((enter = resolve)));
    try {
      await orAborted(turn, signal);
    } catch (error) {
      const place = this.#waiting.indexOf(enter);
      // Given away at the very moment: somebody else has it then.
      if (place >= 0) this.#waiting.splice(place, 1);
      else this.#leave();
      throw error;
    }
  }

  #leave(): void {
    const next = this.#waiting.shift();
    if (next) next();
    else this.#free++;
  }
}
