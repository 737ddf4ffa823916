import type { GatewayReport } from '../../rollout/model/traffic-facts.ts';

/** Somebody waits for what is told. */
const QUICK_MS = 300;
/** Nobody does: so often counts are told, however fast they change. */
export const SLOW_MS = 3_000;

export interface Moving {
  revision: number;
  /** Versions that get nothing new: they go when nothing of them is under way. */
  leaving: readonly string[];
  /** How long the routes are as they are. */
  sinceMs: number;
}

/**
 * After how long the next report is due. At once until the routes of now are told, and while versions wait for their last requests. Else ever
 * more slowly: what was told is never much older than the half of what has happened since the routes changed.
 */
export function nextReportMs({ revision, leaving, sinceMs }: Moving, told: GatewayReport | undefined): number {
  if (told?.revision !== revision) return QUICK_MS;
  if (leaving.some((version) => (told.versions[version]?.inFlight ?? 0) > 0)) return QUICK_MS;
  return Math.min(Math.max(sinceMs, QUICK_MS), SLOW_MS);
}
