import type { VersionTraffic } from '../rollout/model/traffic-facts.ts';

/** The upper bounds of what a request may have taken, each a tenth more than the one before: a p99 is at most so wrong. */
const GROWTH = 1.1;
const FIRST_MS = 1;
const BUCKETS = 130;

class Counts {
  requests = 0;
  errors = 0;
  readonly #took = new Uint32Array(BUCKETS);

  add(isError: boolean, ms: number): void {
    this.requests++;
    if (isError) this.errors++;
    const index = ms <= FIRST_MS ? 0 : Math.ceil(Math.log(ms / FIRST_MS) / Math.log(GROWTH));
    this.#took[Math.min(index, BUCKETS - 1)]++;
  }

  p99Ms(): number {
    let rest = Math.floor(this.requests * 0.01);
    for (let index = BUCKETS - 1; index >= 0; index--) {
      rest -= this.#took[index];
      if (rest < 0) return Math.round(FIRST_MS * GROWTH ** index);
    }
    return 0;
  }
}

interface Installed {
  revision: number;
  counts: Map<string, Counts>;
  inFlight: Map<string, number>;
}

export interface RequestUnderWay {
  ended(isError: boolean, ms: number): void;
  /** No Pod has seen anything of it, so it says nothing about the version. */
  unsent(): void;
}

/** What the requests to each version are like. Counts begin anew with every change of the routes; what is under way stays counted. */
export class Traffic {
  readonly #installed = new Map<string, Installed>();

  /** The installation goes by these routes from now on. */
  follow(installation: string, revision: number): void {
    const known = this.#of(installation);
    if (known.revision === revision) return;
    known.revision = revision;
    known.counts.clear();
  }

  forget(installation: string): void {
    const known = this.#installed.get(installation);
    if (known && known.inFlight.size === 0) this.#installed.delete(installation);
  }

  /** A request to a version begins. One of what is returned is to be called, once. */
  begin(installation: string, version: string): RequestUnderWay {
    const known = this.#of(installation);
    const { revision } = known;
    known.inFlight.set(version, (known.inFlight.get(version) ?? 0) + 1);
    const over = (): void => {
      const left = known.inFlight.get(version)! - 1;
      if (left === 0) known.inFlight.delete(version);
      else known.inFlight.set(version, left);
    };
    return {
      unsent: over,
      ended(isError, ms) {
        over();
        if (known.revision !== revision) return;
        let counts = known.counts.get(version);
        if (!counts) known.counts.set(version, (counts = new Counts()));
        counts.add(isError, ms);
      },
    };
  }

  of(installation: string): { revision: number; versions: Record<string, VersionTraffic> } {
    const { revision, counts, inFlight } = this.#of(installation);
    const versions: Record<string, VersionTraffic> = {};
    for (const version of new Set([...counts.keys(), ...inFlight.keys()])) {
      const seen = counts.get(version);
      versions[version] = {
        inFlight: inFlight.get(version) ?? 0,
        requests: seen?.requests ?? 0,
        errors: seen?.errors ?? 0,
        p99Ms: seen?.p99Ms() ?? 0,
      };
    }
    return { revision, versions };
  }

  get inFlight(): number {
    let sum = 0;
    for (const { inFlight } of this.#installed.values()) for (const count of inFlight.values()) sum += count;
    return sum;
  }

  #of(installation: string): Installed {
    let known = this.#installed.get(installation);
    if (!known) this.#installed.set(installation, (known = { revision: 0, counts: new Map(), inFlight: new Map() }));
    return known;
  }
}
