import { encodeSnapshot } from './log/snapshot-encoding.ts';
import type { Journal, StagedWrite } from './journal.ts';
import { type EncodedValue, type Entry, type Range, type RangeOptions, type Store, StoreError, type StoreEvent } from './store.ts';
import type { DurableView } from './versions/durable-view.ts';
import { LiveBound } from './versions/live-bound.ts';
import { sizeOf, Version } from './versions/version.ts';

/** Bounds of one commit: what is copied, checksummed and applied in one synchronous slice. */
const COMMIT_BYTES = 1024 * 1024;
const COMMIT_WRITES = 128;

interface QueuedWrite extends StagedWrite {
  /** Of the live data, by this write. */
  readonly growth: number;
  readonly written: Promise<Entry>;
  readonly resolve: (entry: Entry) => void;
  readonly reject: (error: StoreError) => void;
}

/**
 * The store above its journal: gives revisions, keeps writes that wait apart from what readers see, and commits in groups.
 * One commit runs at a time; what is written meanwhile makes the next.
 */
export class StagedStore implements Store {
  readonly #view: DurableView;
  readonly #journal: Journal;
  readonly #bound = new LiveBound();
  /** The newest waiting version of each key that has one. */
  readonly #staged = new Map<string, Version>();
  readonly #listeners = new Set<(events: readonly StoreEvent[]) => void>();
  #queue: QueuedWrite[] = [];
  /** What is being made durable now. */
  #inCommit: readonly QueuedWrite[] = [];
  #tasks: (() => Promise<void>)[] = [];
  #stagedRevision: number;
  #committing: Promise<void> | undefined;
  #closing: Promise<void> | undefined;

  constructor(view: DurableView, journal: Journal) {
    this.#view = view;
    this.#journal = journal;
    this.#stagedRevision = view.revision;
  }

  get revision(): number {
    return this.#view.revision;
  }

  get compactedRevision(): number {
    return this.#view.compactedRevision;
  }

  get(key: string): Entry | undefined {
    return this.#view.get(key);
  }

  latest(key: string): Entry | undefined {
    const staged = this.#staged.get(key);
    if (!staged) return this.#view.get(key);
    return staged.removed ? undefined : staged;
  }

  durable(entry: Entry): Entry | Promise<Entry> {
    const isIt = ({ version }: QueuedWrite): boolean => version === entry;
    const waiting = this.#inCommit.find(isIt) ?? this.#queue.find(isIt);
    if (waiting) return waiting.written;
    if (this.#view.holds(entry as Version)) return entry;
    return Promise.reject(new StoreError('WriteFailed', `Cannot write "${entry.key}": the commit it waited for was refused; retry`));
  }

  range(prefix: string, options?: RangeOptions): Range {
    return this.#view.range(prefix, options);
  }

  count(prefix: string, after?: string): number {
    return this.#view.count(prefix, after);
  }

  put(key: string, expected: number, encode: (revision: number) => EncodedValue): Promise<Entry> {
    return this.#stage(key, expected, encode, false);
  }

  remove(key: string, expected: number, encode: (revision: number) => EncodedValue): Promise<Entry> {
    return this.#stage(key, expected, encode, true);
  }

  eventsAfter(revision: number, limit?: number): readonly StoreEvent[] {
    return this.#view.eventsAfter(revision, limit);
  }

  onCommit(listener: (events: readonly StoreEvent[]) => void): () => void {
    const own = (events: readonly StoreEvent[]) => listener(events);
    this.#listeners.add(own);
    return () => this.#listeners.delete(own);
  }

  compact(revision: number): void {
    this.#view.compact(revision);
  }

  /** What is there already stays, however large it is. */
  limitLiveBytes(maxBytes: number): void {
    this.#bound.maxBytes = maxBytes;
  }

  async *backup(): AsyncGenerator<Uint8Array> {
    const versions = this.#view.capture();
    for (const block of encodeSnapshot(versions, this.#view.revision, (key, bytes) => this.#journal.prepare(key, bytes))) {
      yield block;
      // A consumer that never waits for anything must not keep everybody else waiting.
      await new Promise((resume) => setImmediate(resume));
    }
  }

  close(): Promise<void> {
    this.#closing ??= this.#finish();
    return this.#closing;
  }

  /** Runs `task` when no commit runs, all before it are visible, and none begins until it is done. */
  protected betweenCommits(task: () => Promise<void>): Promise<void> {
    if (this.#closing) throw new StoreError('Closed', 'Cannot go on: the store is closed; open it again');
    return new Promise((resolve, reject) => {
      this.#tasks.push(() => task().then(resolve, reject));
      this.#committing ??= this.#commitAll();
    });
  }

  async #finish(): Promise<void> {
    await this.#committing;
    await this.#journal.close();
  }

  #stage(key: string, expected: number, encode: (revision: number) => EncodedValue, removed: boolean): Promise<Entry> {
    if (this.#closing) throw new StoreError('Closed', `Cannot write "${key}": the store is closed; open it again`);
    const latest = this.latest(key);
    const actual = latest ? latest.revision : 0;
    if (actual !== expected || (removed && !latest)) throw conflict(key, expected, actual);
    const revision = this.#stagedRevision + 1;
    const { bytes, attachment } = encode(revision);
    const stored = this.#journal.prepare(key, bytes);
    if (this.#stagedRevision + 1 !== revision)
      throw new Error(`Cannot write "${key}": its encoder wrote to the store; write before or after`);
    const version = new Version(key, bytes, revision, latest ? latest.createdRevision : revision, removed, attachment);
    const growth = (removed ? 0 : sizeOf(version)) - (latest ? sizeOf(latest) : 0);
    if (!this.#bound.fits(this.#view.liveBytes, growth, latest !== undefined)) return Promise.reject(storeFull(key, this.#bound.maxBytes));
    this.#bound.waits(growth);
    this.#stagedRevision = revision;
    this.#staged.set(key, version);
    let resolve!: QueuedWrite['resolve'];
    let reject!: QueuedWrite['reject'];
    const written = new Promise<Entry>((...settle) => {
      [resolve, reject] = settle;
    });
    this.#queue.push({ version, stored, growth, written, resolve, reject });
    this.#committing ??= this.#commitAll();
    return written;
  }

  async #commitAll(): Promise<void> {
    // Everything written in this turn of the event loop shares the first commit: what other sockets had to say in it too.
    await new Promise((resolve) => setImmediate(resolve));
    while (this.#queue.length + this.#tasks.length > 0) {
      const task = this.#tasks.shift();
      if (task) await task();
      if (this.#queue.length === 0) continue;
      const writes = this.#takeBatch();
      this.#inCommit = writes;
      try {
        await this.#journal.commit(writes);
      } catch (error) {
        this.#refuse(writes, asStoreError(error));
        continue;
      }
      this.#settle(writes);
    }
    this.#committing = undefined;
  }

  #takeBatch(): QueuedWrite[] {
    const queue = this.#queue;
    let bytes = 0;
    let taken = 0;
    while (taken < queue.length && taken < COMMIT_WRITES && bytes < COMMIT_BYTES) bytes += queue[taken++].stored.length;
    this.#queue = taken === queue.length ? [] : queue.splice(taken);
    return queue;
  }

  #settle(writes: readonly QueuedWrite[]): void {
    this.#inCommit = [];
    const events: StoreEvent[] = [];
    for (const { version, growth } of writes) {
      events.push(this.#view.apply(version));
      this.#bound.settled(growth);
      if (this.#staged.get(version.key) === version) this.#staged.delete(version.key);
    }
    for (const listener of this.#listeners) {
      try {
        listener(events);
      } catch (error) {
        // A reader that missed an event would show a gap to its watchers for ever: this is worth ending the process, not the commit.
        queueMicrotask(() => {
          throw error;
        });
      }
    }
    for (const write of writes) write.resolve(write.version);
    this.#view.enforceLimit();
  }

  /** What was queued behind the failed writes was made from states that will never exist, so it goes with them. */
  #refuse(failed: readonly QueuedWrite[], error: StoreError): void {
    const behind = this.#queue;
    this.#inCommit = [];
    this.#queue = [];
    this.#staged.clear();
    this.#bound.allRefused();
    this.#stagedRevision = this.#view.revision;
    for (const write of failed) write.reject(error);
    for (const write of behind) write.reject(error);
  }
}

function conflict(key: string, expected: number, actual: number): StoreError {
  const state = actual === 0 ? 'it does not exist' : `its revision is ${actual}`;
  const wanted = expected === 0 ? 'it was expected not to exist' : `revision ${expected} was expected`;
  return new StoreError('Conflict', `Cannot write "${key}": ${state} and ${wanted}; read it again and retry`);
}

function storeFull(key: string, maxBytes: number): StoreError {
  return new StoreError(
    'StoreFull',
    `Cannot write "${key}": the store has reached its limit of ${maxBytes} bytes; remove what is not needed`,
  );
}

function asStoreError(error: unknown): StoreError {
  if (error instanceof StoreError) return error;
  return new StoreError('WriteFailed', `Cannot commit: ${String(error)}; retry`, { cause: error });
}
