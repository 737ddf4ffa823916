const INITIAL_MS = 1000;
const LONGEST_MS = 15 * 60_000;

/** A daemon that keeps failing on a node is replaced after one second, two, four, ... up to a quarter of an hour. */
export class FailedPodBackOff {
  #entries = new Map<string, { waitMs: number; at: number }>();

  /** Milliseconds until the next replacement may be made; 0 when it may be made now, which then counts. */
  tryAt(key: string, now: number): number {
    const entry = this.#entries.get(key);
    if (entry && now - entry.at < entry.waitMs) return entry.waitMs - (now - entry.at);
    // One that did well for long starts anew.
    const waitMs = !entry || now - entry.at > 2 * LONGEST_MS ? INITIAL_MS : Math.min(LONGEST_MS, entry.waitMs * 2);
    this.#entries.set(key, { waitMs, at: now });
    return 0;
  }

  forget(prefix: string): void {
    for (const key of this.#entries.keys()) if (key.startsWith(prefix)) this.#entries.delete(key);
  }
}
