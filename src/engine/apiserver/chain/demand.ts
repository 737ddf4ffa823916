/** Who asks for more than this in a moment asks for much. */
const FEW = 4;
/** How long a moment is, for which one that asks for little is remembered. */
const MOMENT_MS = 100;
/** Who asked for much only pauses for this long. */
const PAUSE_MS = 1000;

/** What one client asks for. */
export interface Demand {
  readonly name: string;
  count: number;
  countedSince: number;
  muchUntil: number;
}

interface Sighting {
  name: string;
  at: number;
}

const NEVER: Sighting = { name: '', at: -Infinity };

/** Tells clients that ask for much from those that ask for little. */
export class Demands {
  /** The last two that asked for little. */
  #calm: readonly [Sighting, Sighting] = [NEVER, NEVER];

  /** One more request. */
  count(demand: Demand, now: number): void {
    if (now - demand.countedSince >= MOMENT_MS) {
      demand.count = 0;
      demand.countedSince = now;
    }
    if (++demand.count > FEW) demand.muchUntil = now + PAUSE_MS;
  }

  /** A request of somebody who waits for the answer. */
  waitsFor(demand: Demand, now: number): void {
    if (now < demand.muchUntil) return;
    const [last, before] = this.#calm;
    const sighting = { name: demand.name, at: now };
    this.#calm = last.name === demand.name ? [sighting, before] : [sighting, last];
  }

  /** Whether one who asks for much holds up another who asks for little. */
  isInTheWay(demand: Demand, now: number): boolean {
    if (now >= demand.muchUntil) return false;
    const [last, before] = this.#calm;
    const other = last.name === demand.name ? before : last;
    return now - other.at < MOMENT_MS;
  }

  isForgotten(demand: Demand, now: number): boolean {
    return now >= demand.muchUntil && now - demand.countedSince >= MOMENT_MS;
  }
}
