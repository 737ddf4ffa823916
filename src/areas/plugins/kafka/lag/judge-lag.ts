import type { PartitionLag } from './partition-lag.ts';

/** Alert `consumer_lag`: the 99th percentile over the partitions of a group is above this for that long. */
export const LAG_LIMIT_SECONDS = 60;
export const LAG_FOR_MS = 5 * 60_000;
const QUANTILE = 0.99;

/** Since when each group of a plugin is late; those that are not are not in it. */
export type LateGroups = ReadonlyMap<string, number>;

export interface LagJudgement {
  late: LateGroups;
  /** Groups that are late for long enough, by name. */
  raised: { group: string; since: number }[];
}

/** What Prometheus would make of the same samples with the rule that we give it: one look below the limit ends it. */
export function judgeLag(before: LateGroups, samples: readonly PartitionLag[], now: number): LagJudgement {
  const groups = new Map<string, number[]>();
  for (const { group, seconds } of samples) groups.set(group, [...(groups.get(group) ?? []), seconds]);
  const late = new Map<string, number>();
  for (const [group, seconds] of groups) if (quantile(QUANTILE, seconds) > LAG_LIMIT_SECONDS) late.set(group, before.get(group) ?? now);
  const raised = [...late].filter(([, since]) => now - since >= LAG_FOR_MS).map(([group, since]) => ({ group, since }));
  return { late, raised: raised.sort((a, b) => a.group.localeCompare(b.group)) };
}

/** As Prometheus has it: between the two nearest. With few values it is close to the largest. */
export function quantile(q: number, values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  const rank = q * (sorted.length - 1);
  const low = sorted[Math.floor(rank)];
  return low + (sorted[Math.ceil(rank)] - low) * (rank - Math.floor(rank));
}
