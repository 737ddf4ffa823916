import { type FileSystem, removeIfThere } from '../files/file-system.ts';
import type { Journal, StagedWrite } from '../journal.ts';
import { DurationRecorder, type StoreStats } from '../store-stats.ts';
import type { DurableView } from '../versions/durable-view.ts';
import { snapshotName } from './file-names.ts';
import type { LogWriter } from './log-writer.ts';
import { encodeSnapshot } from './snapshot-encoding.ts';
import { writeSnapshotFile } from './snapshot-file.ts';
import type { StoredValues } from './stored-values.ts';

export interface LogJournalOptions {
  fileSystem: FileSystem;
  directory: string;
  view: DurableView;
  values: StoredValues;
  writer: LogWriter;
  /** The snapshot the state was recovered from: where the log begins, and its size. */
  snapshot: { number: number; bytes: number };
  /** The log may grow this large, or as large as the live data, before a snapshot replaces it. */
  snapshotAfterBytes: number;
  /** A clock that only goes forward, in milliseconds. */
  now: () => number;
}

/** The durable driver's journal: an append log that snapshots keep short. */
export class LogJournal implements Journal {
  readonly #options: LogJournalOptions;
  readonly #view: DurableView;
  readonly #writer: LogWriter;
  readonly #durations = new DurationRecorder();
  readonly #stopping = new AbortController();
  readonly #counters = { commits: 0, writes: 0, failedCommits: 0, snapshots: 0, failedSnapshots: 0 };
  #snapshot: { number: number; bytes: number };
  #snapshotting: Promise<void> | undefined;
  /** After a failed snapshot the log grows some more before the next attempt: a full disk is not tried with every commit. */
  #retryAtBytes = 0;

  constructor(options: LogJournalOptions) {
    this.#options = options;
    this.#view = options.view;
    this.#writer = options.writer;
    this.#snapshot = options.snapshot;
  }

  prepare(key: string, bytes: Uint8Array): Uint8Array {
    return this.#options.values.toStored(key, bytes);
  }

  async commit(writes: readonly StagedWrite[]): Promise<void> {
    // The log is enough to go on; stats and the size on disk show a snapshot that keeps failing.
    if (this.#snapshotDue()) await this.beginSnapshot().catch(() => {});
    const started = this.#options.now();
    try {
      await this.#writer.append(writes, this.#view.revision);
    } catch (error) {
      this.#counters.failedCommits++;
      throw error;
    }
    this.#durations.record((this.#options.now() - started) / 1000);
    this.#counters.commits++;
    this.#counters.writes += writes.length;
  }

  /**
   * To be called between commits, when the state in memory is exactly what the log holds. Resolves when writes can go on, to
   * when the snapshot is finished. A snapshot that is already being written is finished first.
   */
  async beginSnapshot(): Promise<{ finished: Promise<void> }> {
    await this.#snapshotting?.catch(() => {});
    try {
      await this.#writer.rotate(this.#view.revision);
    } catch (error) {
      this.#snapshotFailed();
      throw error;
    }
    const finished = this.#writeSnapshot(this.#writer.segment).finally(() => {
      this.#snapshotting = undefined;
    });
    this.#snapshotting = finished;
    finished.catch(() => this.#snapshotFailed());
    return { finished };
  }

  async close(): Promise<void> {
    this.#stopping.abort();
    await this.#snapshotting?.catch(() => {});
    await this.#writer.close();
  }

  stats(): StoreStats {
    const view = this.#view;
    return {
      revision: view.revision,
      compactedRevision: view.compactedRevision,
      keys: view.liveKeys,
      liveBytes: view.liveBytes,
      historyEvents: view.historyCost.events,
      historyBytes: view.historyCost.bytes,
      logBytes: this.#writer.totalLength,
      snapshotBytes: this.#snapshot.bytes,
      ...this.#counters,
      commitDuration: this.#durations,
    };
  }

  #snapshotDue(): boolean {
    if (this.#snapshotting) return false;
    return this.#writer.totalLength > Math.max(this.#options.snapshotAfterBytes, this.#view.liveBytes, this.#retryAtBytes);
  }

  #snapshotFailed(): void {
    this.#counters.failedSnapshots++;
    this.#retryAtBytes = this.#writer.totalLength + this.#options.snapshotAfterBytes / 4;
  }

  async #writeSnapshot(number: number): Promise<void> {
    const { fileSystem, directory } = this.#options;
    const versions = this.#view.capture();
    const blocks = encodeSnapshot(versions, this.#view.revision, (key, bytes) => this.prepare(key, bytes));
    const bytes = await writeSnapshotFile(fileSystem, directory, number, blocks, this.#stopping.signal);
    if (bytes === undefined) return;
    const replaced = this.#snapshot.number;
    this.#snapshot = { number, bytes };
    this.#counters.snapshots++;
    this.#retryAtBytes = 0;
    await this.#writer.dropBefore(number);
    await removeIfThere(fileSystem, `${directory}/${snapshotName(replaced)}`);
  }
}
