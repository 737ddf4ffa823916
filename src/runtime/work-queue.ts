import { backoffDelay, type BackoffOptions } from '../lib/backoff.ts';
import type { Clock, Timer } from '../lib/clock.ts';

export interface WorkQueueOptions {
  clock: Clock;
  /** Waits of a key that keeps failing; 5 ms doubling to 5 minutes by default. */
  backoff?: BackoffOptions;
  /** Keys that share something: absent, each is for itself. */
  share?: KeyShare;
}

/** Of keys of one group only so many are worked on at once; others go before those that are too many. */
export interface KeyShare {
  groupOf(key: string): string;
  atOnce: number;
}

const DEFAULT_BACKOFF: BackoffOptions = { initialMs: 5, maxMs: 300_000, jitter: 0.1 };

/**
 * Keys that wait for work, each at most once, in the order of their arrival. The contract is client-go's:
 *
 * - A key that is added while it waits is not added twice.
 * - A key that is added while it is being worked on waits until `done`, then comes again: no two workers hold the same key, and no
 *   change is overlooked.
 * - Every key from `get` must be given back with `done`.
 */
export class WorkQueue {
  #clock: Clock;
  #backoff: BackoffOptions;
  #ready: string[] = [];
  #head = 0;
  /** Needs work: waits in #ready, or is being worked on and will come again. */
  #dirty = new Set<string>();
  #processing = new Set<string>();
  #delayed = new Map<string, { due: number; timer: Timer }>();
  #failures = new Map<string, number>();
  #share: KeyShare | undefined;
  /** Of each group: how many are being worked on, and those that wait for one of them to end. */
  #groups = new Map<string, { active: number; parked: string[] }>();
  #parked = 0;
  #takers: ((key: string | undefined) => void)[] = [];
  #closed = false;

  constructor(options: WorkQueueOptions) {
    this.#clock = options.clock;
    this.#backoff = options.backoff ?? DEFAULT_BACKOFF;
    this.#share = options.share;
  }

  /** Keys that wait now; delayed ones and those being worked on do not count. */
  get length(): number {
    return this.#readyCount + this.#parked;
  }

  /** Keys that a worker could have now, or that are too many of their group without anybody having looked. */
  get #readyCount(): number {
    return this.#ready.length - this.#head;
  }

  get inProgress(): number {
    return this.#processing.size;
  }

  /** Neither waiting, delayed nor being worked on. */
  get idle(): boolean {
    return this.#dirty.size === 0 && this.#processing.size === 0 && this.#delayed.size === 0;
  }

  add(key: string): void {
    if (this.#closed || this.#dirty.has(key)) return;
    this.#dirty.add(key);
    if (!this.#processing.has(key)) this.#offer(key);
  }

  /** Adds the key later. Of several delays of one key the earliest counts. */
  addAfter(key: string, ms: number): void {
    if (this.#closed) return;
    if (ms <= 0) {
      this.add(key);
      return;
    }
    const due = this.#clock.monotonic() + ms;
    const pending = this.#delayed.get(key);
    if (pending) {
      if (pending.due <= due) return;
      pending.timer.cancel();
    }
    const timer = this.#clock.setTimer(ms, () => {
      this.#delayed.delete(key);
      this.add(key);
    });
    this.#delayed.set(key, { due, timer });
  }

  /** Adds a key that failed: each failure in a row waits longer. @returns the wait. */
  addRateLimited(key: string): number {
    const failures = (this.#failures.get(key) ?? 0) + 1;
    this.#failures.set(key, failures);
    const wait = backoffDelay(failures, this.#backoff);
    this.addAfter(key, wait);
    return wait;
  }

  /** The key succeeded: its next failure is a first one. */
  forget(key: string): void {
    this.#failures.delete(key);
  }

  failures(key: string): number {
    return this.#failures.get(key) ?? 0;
  }

  /** The next key, or undefined once the queue was closed and is empty. */
  get(): Promise<string | undefined> {
    const key = this.#take();
    if (key !== undefined) return Promise.resolve(key);
    if (this.#closed) return Promise.resolve(undefined);
    return new Promise((resolve) => this.#takers.push(resolve));
  }

  done(key: string): void {
    this.#processing.delete(key);
    this.#leaveGroup(key);
    if (this.#dirty.has(key)) this.#offer(key);
  }

  /** Takes no more keys; those waiting and those that were added during their work are still given out. Delayed keys are dropped. */
  close(): void {
    this.#closed = true;
    for (const { timer } of this.#delayed.values()) timer.cancel();
    this.#delayed.clear();
    if (this.#readyCount === 0) for (const taker of this.#takers.splice(0)) taker(undefined);
  }

  /** Like close, and forgets what waits: a controller that stops leaves the rest to its next start. */
  closeNow(): void {
    this.#ready = [];
    this.#head = 0;
    this.#dirty.clear();
    this.#parked = 0;
    for (const group of this.#groups.values()) group.parked = [];
    this.close();
  }

  #offer(key: string): void {
    if (this.#takers.length === 0) this.#ready.push(key);
    else if (this.#begin(key)) this.#takers.shift()!(key);
  }

  #take(): string | undefined {
    while (this.#readyCount > 0) {
      const key = this.#ready[this.#head++];
      // Amortised: a shift per key would move the whole array each time.
      if (this.#head > 1024 && this.#head * 2 > this.#ready.length) {
        this.#ready = this.#ready.slice(this.#head);
        this.#head = 0;
      }
      if (this.#begin(key)) return key;
    }
    return undefined;
  }

  /** @returns false when the key is one too many of its group: it comes when another of them is done */
  #begin(key: string): boolean {
    if (this.#share) {
      const id = this.#share.groupOf(key);
      const group = this.#groups.get(id) ?? { active: 0, parked: [] };
      this.#groups.set(id, group);
      if (group.active >= this.#share.atOnce) {
        group.parked.push(key);
        this.#parked++;
        return false;
      }
      group.active++;
    }
    this.#dirty.delete(key);
    this.#processing.add(key);
    return true;
  }

  #leaveGroup(key: string): void {
    const id = this.#share?.groupOf(key);
    const group = id === undefined ? undefined : this.#groups.get(id);
    if (group === undefined) return;
    group.active--;
    const next = group.parked.shift();
    if (next !== undefined) {
      this.#parked--;
      this.#offer(next);
    } else if (group.active === 0) this.#groups.delete(id!);
  }
}
