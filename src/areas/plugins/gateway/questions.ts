/** Those who wait in vain are told so at once instead of late. */
const MOST_WAITING = 256;
const AT_ONCE = 16;

/** Asks the API server so much at once and no more, whoever calls how often. */
export class Questions {
  #asking = 0;
  readonly #waiting: (() => void)[] = [];

  async ask<T>(question: () => Promise<T>): Promise<T> {
    if (this.#asking < AT_ONCE) this.#asking++;
    else await this.#turn();
    try {
      return await question();
    } finally {
      const next = this.#waiting.shift();
      // The place goes from one to the next.
      if (next) next();
      else this.#asking--;
    }
  }

  #turn(): Promise<void> {
    if (this.#waiting.length >= MOST_WAITING) throw new Error('too many callers that it does not know yet');
    return new Promise((resolve) => this.#waiting.push(resolve));
  }
}
