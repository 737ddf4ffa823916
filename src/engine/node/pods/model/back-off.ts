/** Waits that double from failure to failure, as Kubernetes counts them for containers and images. */
export interface BackOffLimits {
  initialMs: number;
  maxMs: number;
  /** After so long without trouble the next failure is a first one. */
  forgetMs: number;
}

export const RESTART_BACK_OFF: BackOffLimits = { initialMs: 10_000, maxMs: 300_000, forgetMs: 600_000 };
export const IMAGE_BACK_OFF: BackOffLimits = { initialMs: 10_000, maxMs: 300_000, forgetMs: 600_000 };

/** From here on it is worth looking for entries that are too old. */
const MANY = 1000;

export class BackOff {
  #limits: BackOffLimits;
  #entries = new Map<string, { waitMs: number; updatedAt: number }>();

  constructor(limits: BackOffLimits) {
    this.#limits = limits;
  }

  /** How long the key still has to wait, when it failed at this time; 0: it may be tried now. */
  left(key: string, failedAt: number, now: number): number {
    const entry = this.#entries.get(key);
    if (!entry || now - entry.updatedAt > this.#limits.forgetMs) return 0;
    return Math.max(0, failedAt + entry.waitMs - now);
  }

  waitMs(key: string): number {
    return this.#entries.get(key)?.waitMs ?? 0;
  }

  updatedAt(key: string): number | undefined {
    return this.#entries.get(key)?.updatedAt;
  }

  /** It is tried again after a failure at this time: should it fail once more, it waits longer. */
  advance(key: string, failedAt: number, now: number): void {
    const entry = this.#entries.get(key);
    const { initialMs, maxMs, forgetMs } = this.#limits;
    const fresh = !entry || failedAt - entry.updatedAt > forgetMs;
    if (this.#entries.size >= MANY) this.#forgetOld(now);
    this.#entries.set(key, { waitMs: fresh ? initialMs : Math.min(maxMs, entry.waitMs * 2), updatedAt: now });
  }

  forget(key: string): void {
    this.#entries.delete(key);
  }

  /** Of what is long gone nobody asks again. */
  #forgetOld(now: number): void {
    for (const [key, { updatedAt }] of this.#entries) if (now - updatedAt > this.#limits.forgetMs) this.#entries.delete(key);
  }
}

/** As Go prints a duration: `10s`, `1m20s`, `5m0s`, `1.5s`, `250ms`. */
export function durationText(ms: number): string {
  if (ms === 0) return '0s';
  if (ms < 1000) return `${trimmed(ms)}ms`;
  const hours = Math.floor(ms / 3_600_000);
  const minutes = Math.floor((ms % 3_600_000) / 60_000);
  const seconds = `${trimmed((ms % 60_000) / 1000)}s`;
  if (hours > 0) return `${hours}h${minutes}m${seconds}`;
  return minutes > 0 ? `${minutes}m${seconds}` : seconds;
}

function trimmed(value: number): string {
  return String(Number(value.toFixed(3)));
}
