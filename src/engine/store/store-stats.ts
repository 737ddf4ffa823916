/** Upper bounds of the buckets that durations are counted in; one more bucket takes the rest. */
export const DURATION_BUCKETS_SECONDS = [0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1] as const;

export interface DurationHistogram {
  /** One more than there are bounds; not cumulative. */
  readonly counts: readonly number[];
  readonly count: number;
  readonly sumSeconds: number;
}

export interface StoreStats {
  revision: number;
  compactedRevision: number;
  keys: number;
  /** Keys and values that exist now. */
  liveBytes: number;
  /** Superseded versions and events kept for watches and reads in the past. */
  historyEvents: number;
  historyBytes: number;
  /** What a start has to read. */
  logBytes: number;
  snapshotBytes: number;
  commits: number;
  writes: number;
  failedCommits: number;
  snapshots: number;
  failedSnapshots: number;
  /** Write and sync of each commit. */
  commitDuration: DurationHistogram;
}

export class DurationRecorder implements DurationHistogram {
  readonly counts: number[] = Array.from({ length: DURATION_BUCKETS_SECONDS.length + 1 }, () => 0);
  count = 0;
  sumSeconds = 0;

  record(seconds: number): void {
    const bucket = DURATION_BUCKETS_SECONDS.findIndex((bound) => seconds <= bound);
    this.counts[bucket < 0 ? DURATION_BUCKETS_SECONDS.length : bucket]++;
    this.count++;
    this.sumSeconds += seconds;
  }
}
