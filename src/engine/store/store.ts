/**
 * Keys to bytes with one global revision. The contract every driver keeps, checked by one suite:
 *
 * - Revisions start at 1 and grow by one with every write; they never go back, restarts and restores included.
 * - A write's promise resolves only after the write is durable. Writes that arrive together share one commit.
 * - Readers (`get`, `range`, `eventsAfter`, listeners) see durable state only. `latest` also sees writes that wait for their
 *   commit: a writer that reads with it and writes in the same turn of the event loop cannot lose a race.
 * - If a commit fails, all writes waiting for it and all queued behind it are refused and leave no trace.
 * - Entries are immutable and shared: nobody changes the bytes of one.
 */
export interface Store {
  /** Revision of the newest durable write. */
  readonly revision: number;
  /** Reads at, and events after, revisions below this one are gone. */
  readonly compactedRevision: number;

  get(key: string): Entry | undefined;
  /** Like `get`, and also sees writes that wait for their commit. */
  latest(key: string): Entry | undefined;
  /** The version that `latest` gave, once it is durable; rejects with what its writer is told when its commit was refused. */
  durable(entry: Entry): Entry | Promise<Entry>;
  range(prefix: string, options?: RangeOptions): Range;
  /** How many live keys there are under a prefix (behind `after`, if given), without listing them. */
  count(prefix: string, after?: string): number;

  /**
   * Writes one key if its latest revision is `expected` (0: the key must not exist). The value is made from the revision the
   * write gets, because objects carry their own resourceVersion. Revision and value are settled before this returns;
   * the promise says when they are durable.
   * Rejects with `StoreFull` when it would take live data over the bound of the store, if that has one.
   * @throws StoreError `Conflict` (synchronously) when the expectation does not hold.
   */
  put(key: string, expected: number, encode: (revision: number) => EncodedValue): Promise<Entry>;
  /** Removes a key if its latest revision is `expected`. The event's entry carries `encode`'s bytes as the last state of the key. */
  remove(key: string, expected: number, encode: (revision: number) => EncodedValue): Promise<Entry>;

  /** Durable events with a revision above `revision`, oldest first. @throws StoreError `Compacted` when some of them are gone. */
  eventsAfter(revision: number, limit?: number): readonly StoreEvent[];
  /** Calls `listener` once per commit, after it is durable, with its events in order. Returns the way to stop. */
  onCommit(listener: (events: readonly StoreEvent[]) => void): () => void;

  /** Forgets superseded versions and events up to and including `revision`. */
  compact(revision: number): void;
  /** The whole live state at one revision as a portable stream of checksummed records, while writes go on. */
  backup(): AsyncIterable<Uint8Array>;
  /** Waits for pending writes and releases the files. Writes after this are refused. */
  close(): Promise<void>;
}

export interface EncodedValue {
  bytes: Uint8Array;
  /** What the writer knows about the value and readers would otherwise parse from it again. In memory only: absent after a restart. */
  attachment?: unknown;
}

export interface Entry {
  readonly key: string;
  readonly bytes: Uint8Array;
  /** Revision of the write that made this version. */
  readonly revision: number;
  /** Revision of the write that made the key. */
  readonly createdRevision: number;
  /** See EncodedValue; a reader that had to parse may leave its own here. */
  attachment?: unknown;
}

export interface StoreEvent {
  readonly type: 'put' | 'remove';
  readonly revision: number;
  /** The new version; for a removal, the last state. */
  readonly entry: Entry;
  /** The version before this write, absent when the write made the key. */
  readonly previous?: Entry;
}

export interface RangeOptions {
  /** Read the state as it was at this revision; the newest durable one by default. @throws StoreError `Compacted` */
  revision?: number;
  /** Start behind this key. */
  after?: string;
  limit?: number;
}

export interface Range {
  /** In the order of the keys. */
  entries: Entry[];
  /** The revision the range was read at. */
  revision: number;
  more: boolean;
}

export type StoreErrorCode =
  | 'Conflict'
  | 'Compacted'
  | 'FutureRevision'
  | 'DiskFull'
  | 'StoreFull'
  | 'WriteFailed'
  | 'Closed'
  | 'Corrupt'
  | 'Locked'
  | 'NewerFormat';

export class StoreError extends Error {
  readonly code: StoreErrorCode;

  constructor(code: StoreErrorCode, message: string, options?: { cause?: unknown }) {
    super(message, options);
    this.name = 'StoreError';
    this.code = code;
  }
}
