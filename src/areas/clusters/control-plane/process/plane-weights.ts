import type { Clock } from '../../../../lib/clock.ts';
import { wereScarce, type ProcessorTimes } from '../../../../lib/processor-times.ts';

/** What a control plane weighs against others, and against a process that is in no group. */
export const FULL_WEIGHT = 1024;
const LEAST_WEIGHT = 32;

/** Of one processor: who uses no more weighs everything. */
const CALM = 0.25;

const LOOK_MS = 1000;

export interface WeighedPlanes {
  processors(): ProcessorTimes;
  /** Nanoseconds of processors that a control plane has used; undefined: it is not there. */
  used(id: string): Promise<number | undefined>;
  weigh(id: string, weight: number): Promise<void>;
  clock: Clock;
}

interface Seen {
  weight: number;
  /** Of one processor, the last seconds more than those before. */
  use: number;
  last?: { nanoseconds: number; at: number };
}

/** Who uses all of a processor weighs a sixteenth: as much as it wants while nobody else wants any, and at once away when somebody does. */
export function weightOf(use: number): number {
  return use <= CALM ? FULL_WEIGHT : Math.max(LEAST_WEIGHT, Math.round(FULL_WEIGHT * (CALM / use) ** 2));
}

/**
 * Lets control planes that use much wait for those that use little. With the same weight for all, who asks once in a while waits for the end of a slice
 * of the one who never stops, each time. It is looked at only while processors are scarce; no watch tells that.
 */
export class PlaneWeights {
  readonly #planes: WeighedPlanes;
  readonly #seen = new Map<string, Seen>();
  #times: ProcessorTimes | undefined;
  #isLooking = false;

  constructor(planes: WeighedPlanes) {
    this.#planes = planes;
  }

  add(id: string): void {
    if (!this.#seen.has(id)) this.#seen.set(id, { weight: FULL_WEIGHT, use: 0 });
    if (!this.#isLooking) this.#lookSoon();
  }

  remove(id: string): void {
    this.#seen.delete(id);
  }

  #lookSoon(): void {
    this.#isLooking = this.#seen.size > 0;
    if (this.#isLooking) this.#planes.clock.setTimer(LOOK_MS, () => void this.#look());
  }

  async #look(): Promise<void> {
    const isScarce = this.#areScarce();
    for (const [id, seen] of this.#seen) {
      await (isScarce ? this.#follow(id, seen) : this.#calm(id, seen)).catch(() => {
        // One that cannot be looked at now keeps its weight, and nobody else's look waits for it.
      });
    }
    this.#lookSoon();
  }

  #areScarce(): boolean {
    const [before, now] = [this.#times, this.#planes.processors()];
    this.#times = now;
    return wereScarce(before, now);
  }

  async #follow(id: string, seen: Seen): Promise<void> {
    const nanoseconds = await this.#planes.used(id);
    if (nanoseconds === undefined) return;
    const { last } = seen;
    const at = this.#planes.clock.monotonic();
    seen.last = { nanoseconds, at };
    if (last === undefined || at <= last.at) return;
    seen.use = (seen.use + (nanoseconds - last.nanoseconds) / 1e6 / (at - last.at)) / 2;
    await this.#weigh(id, seen, weightOf(seen.use));
  }

  async #calm(id: string, seen: Seen): Promise<void> {
    seen.use = 0;
    delete seen.last;
    await this.#weigh(id, seen, FULL_WEIGHT);
  }

  async #weigh(id: string, seen: Seen, weight: number): Promise<void> {
    // What changes little is not written: the kernel would only weigh everything anew.
    if (weight !== FULL_WEIGHT && weight > seen.weight / 2 && weight < seen.weight * 2) return;
    if (weight === seen.weight || !this.#seen.has(id)) return;
    seen.weight = weight;
    await this.#planes.weigh(id, weight);
  }
}
