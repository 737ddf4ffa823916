/**
 * The receiving end of a watch inside the process: a bounded queue that is iterated. When the consumer is behind, `write` says
 * so and the watcher waits with nothing but its cursor.
 */
export class EventQueue<Event> implements AsyncIterable<Event> {
  static readonly #LIMIT = 1000;
  #events: Event[] = [];
  #wake: (() => void) | undefined;
  #drained: (() => void) | undefined;
  #ended = false;
  #close: (() => void) | undefined;

  constructor(signal: AbortSignal) {
    const stop = () => {
      this.end();
      this.#close?.();
    };
    if (signal.aborted) this.#ended = true;
    else signal.addEventListener('abort', stop, { once: true });
  }

  onClose(close: () => void): void {
    this.#close = close;
    if (this.#ended) close();
  }

  write(events: readonly Event[]): boolean {
    this.#events.push(...events);
    this.#wake?.();
    return this.#events.length < EventQueue.#LIMIT;
  }

  drained(callback: () => void): void {
    this.#drained = callback;
  }

  end(): void {
    this.#ended = true;
    this.#wake?.();
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Event> {
    try {
      for (;;) {
        while (this.#events.length > 0) {
          const batch = this.#events;
          this.#events = [];
          for (const event of batch) yield event;
        }
        if (this.#drained !== undefined) {
          const drained = this.#drained;
          this.#drained = undefined;
          drained();
        }
        if (this.#events.length > 0) continue;
        if (this.#ended) return;
        await new Promise<void>((resolve) => {
          this.#wake = resolve;
        });
        this.#wake = undefined;
      }
    } finally {
      this.#ended = true;
      this.#close?.();
    }
  }
}
