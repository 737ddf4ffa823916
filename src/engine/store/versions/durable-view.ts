import { type Range, type RangeOptions, StoreError, type StoreEvent } from '../store.ts';
import { History } from './history.ts';
import { endOfPrefix, KeyIndex } from './key-index.ts';
import { sizeOf, type Version, versionAt } from './version.ts';

/** What the past may cost before the oldest of it is compacted without being asked. */
export interface HistoryLimit {
  events: number;
  /** Bytes of versions that are no longer current. */
  bytes: number;
}

/** Some seconds of the busiest load, or hours of a quiet one. */
export const DEFAULT_HISTORY_LIMIT: HistoryLimit = { events: 100_000, bytes: 64 * 1024 * 1024 };

/** A compaction forgets this many events at once, so that it never holds up the event loop. */
const COMPACTION_SLICE = 4096;

/** The durable state and its past, in memory: what readers see. Changed only by commits, snapshots being loaded and compaction. */
export class DurableView {
  readonly #index = new KeyIndex();
  readonly #history = new History();
  readonly #limit: HistoryLimit;
  #revision = 0;
  #compactedRevision = 0;
  #liveBytes = 0;
  #compacting = false;

  constructor(limit: HistoryLimit) {
    this.#limit = limit;
  }

  get revision(): number {
    return this.#revision;
  }

  get compactedRevision(): number {
    return this.#compactedRevision;
  }

  /** Keys and values that exist now, in bytes. */
  get liveBytes(): number {
    return this.#liveBytes;
  }

  get liveKeys(): number {
    return this.#index.live;
  }

  get historyCost(): { events: number; bytes: number } {
    return { events: this.#history.length, bytes: this.#history.cost };
  }

  get(key: string): Version | undefined {
    const newest = this.#index.get(key);
    return newest && !newest.removed ? newest : undefined;
  }

  /** Whether a version is or was part of the durable state. */
  holds(version: Version): boolean {
    if (version.revision <= this.#compactedRevision) return true;
    let known = this.#index.get(version.key);
    while (known && known.revision > version.revision) known = known.older;
    return known === version;
  }

  range(prefix: string, options: RangeOptions = {}): Range {
    const revision = options.revision ?? this.#revision;
    this.#assertReadable(revision);
    const limit = options.limit ?? Number.POSITIVE_INFINITY;
    const { after } = options;
    // The shortest string behind a key is the key with one NUL more.
    const from = after === undefined || after < prefix ? prefix : `${after}\0`;
    const end = endOfPrefix(prefix);
    const entries =
      revision === this.#revision ? this.#index.collect(from, end, limit + 1) : this.#collectAt(from, end, limit + 1, revision);
    const more = entries.length > limit;
    if (more) entries.pop();
    return { entries, revision, more };
  }

  count(prefix: string, after?: string): number {
    // The smallest key behind another one is that key with a zero character.
    return this.#index.count(after === undefined ? prefix : `${after}\u0000`, endOfPrefix(prefix));
  }

  eventsAfter(revision: number, limit?: number): StoreEvent[] {
    if (revision < this.#compactedRevision) throw this.#compacted(revision);
    return this.#history.after(revision, limit);
  }

  /** Makes a committed version current. Versions come in the order of their revisions, without a gap. */
  apply(version: Version): StoreEvent {
    const newest = this.#index.get(version.key);
    const previous = newest && !newest.removed ? newest : undefined;
    version.older = newest;
    this.#index.set(version);
    this.#revision = version.revision;
    if (previous) this.#liveBytes -= sizeOf(previous);
    if (!version.removed) this.#liveBytes += sizeOf(version);
    const event: StoreEvent = { type: version.removed ? 'remove' : 'put', revision: version.revision, entry: version, previous };
    this.#history.append(event);
    return event;
  }

  /** Compacts what is over the limit. Called once per commit, after its events were handed out. */
  enforceLimit(): void {
    while (this.#history.length > this.#limit.events || this.#history.cost > this.#limit.bytes) {
      this.#compactedRevision = Math.max(this.#compactedRevision, this.#history.oldest()!.revision);
      this.#forgetOldest();
    }
  }

  /** Takes a key of a snapshot over. Keys come in order; their past is not known. */
  load(version: Version): void {
    this.#index.set(version);
    this.#liveBytes += sizeOf(version);
  }

  /** Moves to a revision whose events are not known: the end of a snapshot. */
  startAt(revision: number): void {
    this.#revision = revision;
    this.#compactedRevision = revision;
  }

  compact(revision: number): void {
    if (revision > this.#revision) {
      throw new StoreError(
        'FutureRevision',
        `Cannot compact up to revision ${revision}: the newest is ${this.#revision}; give a revision that was reached`,
      );
    }
    if (revision <= this.#compactedRevision) return;
    this.#compactedRevision = revision;
    if (!this.#compacting) this.#forgetInSlices();
  }

  /** The versions that exist now, in the order of the keys. They are immutable, so the list stays what it is while writes go on. */
  capture(): Version[] {
    return this.#index.collect('', undefined, Number.POSITIVE_INFINITY);
  }

  #collectAt(from: string, end: string | undefined, limit: number, revision: number): Version[] {
    const collected: Version[] = [];
    this.#index.visit(from, end, (newest) => {
      const version = versionAt(newest, revision);
      return !version || collected.push(version) < limit;
    });
    return collected;
  }

  #forgetInSlices(): void {
    this.#compacting = false;
    for (let i = 0; i < COMPACTION_SLICE; i++) {
      const oldest = this.#history.oldest();
      if (!oldest || oldest.revision > this.#compactedRevision) return;
      this.#forgetOldest();
    }
    this.#compacting = true;
    setImmediate(() => this.#forgetInSlices());
  }

  /** Nothing reads below the revision of a forgotten event, so what its version replaced, and a removal itself, can go. */
  #forgetOldest(): void {
    const version = this.#history.oldest()!.entry as Version;
    this.#history.dropOldest();
    version.older = undefined;
    if (version.removed && this.#index.get(version.key) === version) this.#index.delete(version.key);
  }

  #assertReadable(revision: number): void {
    if (revision < this.#compactedRevision) throw this.#compacted(revision);
    if (revision > this.#revision) {
      throw new StoreError('FutureRevision', `Cannot read at revision ${revision}: the newest is ${this.#revision}; wait for it`);
    }
  }

  #compacted(revision: number): StoreError {
    return new StoreError(
      'Compacted',
      `Cannot read from revision ${revision}: everything below ${this.#compactedRevision} was compacted; start again from the newest`,
    );
  }
}
