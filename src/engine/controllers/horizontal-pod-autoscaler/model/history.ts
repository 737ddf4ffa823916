import type { Json } from '../../../../kube/object.ts';

/** The size that metrics asked for at some time. */
export interface Recommendation {
  replicas: number;
  at: number;
}

/** By how much the size was changed, whatever the direction. */
export interface ScaleEvent {
  change: number;
  at: number;
}

export const DOWNSCALE_STABILIZATION_MS = 5 * 60_000;

/** What an autoscaler remembers between its passes. It is lost with the process, as upstream's is. */
export class ScalingHistory {
  #recommendations: Recommendation[] = [];
  #up: ScaleEvent[] = [];
  #down: ScaleEvent[] = [];

  /** The size it was found with counts as asked for: without it the first pass after a restart could shrink what is needed. */
  constructor(replicas: number, now: number) {
    this.#recommendations.push({ replicas, at: now });
  }

  get up(): readonly ScaleEvent[] {
    return this.#up;
  }

  get down(): readonly ScaleEvent[] {
    return this.#down;
  }

  /** The largest recommendation of the last time, this one included, which is remembered. */
  highestRecent(replicas: number, now: number): number {
    const cutoff = now - DOWNSCALE_STABILIZATION_MS;
    this.#recommendations = this.#recommendations.filter(({ at }) => at >= cutoff);
    const highest = Math.max(replicas, ...this.#recommendations.map((one) => one.replicas));
    this.#recommendations.push({ replicas, at: now });
    return highest;
  }

  /** The size nearest to the current one that recent recommendations allow in both directions; this one is remembered. */
  stabilized(current: number, replicas: number, upWindowMs: number, downWindowMs: number, now: number): number {
    let lowest = replicas;
    let highest = replicas;
    for (const one of this.#recommendations) {
      if (one.at > now - upWindowMs) lowest = Math.min(lowest, one.replicas);
      if (one.at > now - downWindowMs) highest = Math.max(highest, one.replicas);
    }
    const cutoff = now - Math.max(upWindowMs, downWindowMs);
    this.#recommendations = this.#recommendations.filter(({ at }) => at >= cutoff);
    this.#recommendations.push({ replicas, at: now });
    return Math.min(highest, Math.max(lowest, current));
  }

  /** Remembered as long as a policy may ask for it. */
  scaled(before: number, after: number, behavior: Json, now: number): void {
    if (after > before) this.#up = [...kept(this.#up, behavior.scaleUp, now), { change: after - before, at: now }];
    else this.#down = [...kept(this.#down, behavior.scaleDown, now), { change: before - after, at: now }];
  }
}

function kept(events: readonly ScaleEvent[], rules: Json, now: number): ScaleEvent[] {
  const longest = Math.max(0, ...(rules?.policies ?? []).map((policy: Json) => policy.periodSeconds));
  return events.filter(({ at }) => at >= now - longest * 1000);
}

export function changedWithin(events: readonly ScaleEvent[], periodMs: number, now: number): number {
  return events.reduce((sum, { change, at }) => (at > now - periodMs ? sum + change : sum), 0);
}
