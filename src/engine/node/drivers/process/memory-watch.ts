import type { Clock, Timer } from '../../../../lib/clock.ts';

export interface WatchedContainer {
  id: string;
  memoryBytes: number;
  /** Undefined when it has ended. */
  usage(): Promise<number | undefined>;
  /** It uses more than it may. */
  over(): Promise<void>;
}

/** Memory grows in the meantime; a shorter time would cost more than it saves. No watch can do this: the kernel tells nobody. */
const INTERVAL_MS = 2000;

/** Where there is no cgroup to hold a container to its memory, we look from time to time. Costs nothing without limits. */
export class MemoryWatch {
  readonly #clock: Clock;
  readonly #watched = new Map<string, WatchedContainer>();
  #timer: Timer | undefined;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  add(container: WatchedContainer): void {
    this.#watched.set(container.id, container);
    this.#schedule();
  }

  remove(id: string): void {
    this.#watched.delete(id);
    if (this.#watched.size > 0) return;
    this.#timer?.cancel();
    this.#timer = undefined;
  }

  #schedule(): void {
    this.#timer ??= this.#clock.setTimer(INTERVAL_MS, () => {
      void this.#look().finally(() => {
        this.#timer = undefined;
        if (this.#watched.size > 0) this.#schedule();
      });
    });
  }

  async #look(): Promise<void> {
    for (const container of this.#watched.values()) {
      try {
        const used = await container.usage();
        if (used !== undefined && used > container.memoryBytes) await container.over();
      } catch {
        // It ended under our eyes; if not, there is the next time.
      }
    }
  }
}
