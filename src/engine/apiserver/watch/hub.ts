import { turns } from '../../../lib/turn-queue.ts';
import { StoreError, type Store, type StoreEvent } from '../../store/store.ts';
import { prefixOfKey } from '../registry/keys.ts';
import { changeFor, type ObjectFilter } from './filter.ts';
import type { FrameRenderer } from './frames.ts';

/** From this many watchers on, a write to each of them costs more than the few milliseconds it is worth to wait for company. */
const CROWD = 8;
/** The larger the crowd, the more a write to all of them costs, and the longer it is worth to wait for the next event. */
const GATHER_MS_PER_WATCHER = 0.2;
const MAX_GATHER_MS = 10;
/** Watchers that are written to between two looks at the time, and what they get: every byte is encrypted for each of them. */
const WRITES_PER_STEP = 16;
const BYTES_PER_STEP = 256 * 1024;

/**
 * Watchers that see the same objects in the same representation: an event is filtered and encoded once for all of them. Few
 * watchers are told at once. A crowd is told at once too when nothing happened lately; in a rush of commits, events are gathered for
 * some milliseconds, so that each watcher gets one write instead of many.
 */
class WatchGroup {
  readonly live = new Set<Watcher>();
  readonly key: string;
  readonly filter: ObjectFilter;
  readonly renderer: FrameRenderer;
  #gathered: StoreEvent[] = [];
  #gatheredRevision = 0;
  #timer: NodeJS.Timeout | undefined;
  #lastFlush = 0;
  /** Renderings that have to wait (webhook conversions) keep later batches behind them. */
  #waiting: Promise<void> | undefined;
  #waitingCount = 0;

  constructor(key: string, filter: ObjectFilter, renderer: FrameRenderer) {
    this.key = key;
    this.filter = filter;
    this.renderer = renderer;
  }

  /** Nothing that has happened is still to be told. */
  get idle(): boolean {
    return this.#waitingCount === 0 && this.#gathered.length === 0;
  }

  /** A watcher that has seen everything up to now: what is still gathered is not for it. */
  add(watcher: Watcher): void {
    this.#flush();
    this.live.add(watcher);
  }

  deliver(events: readonly StoreEvent[], revision: number): void {
    if (this.live.size < CROWD && this.#gathered.length === 0) {
      this.#send(events, revision);
      return;
    }
    for (const event of events) this.#gathered.push(event);
    this.#gatheredRevision = revision;
    if (this.#timer !== undefined) return;
    const gather = Math.min(MAX_GATHER_MS, this.live.size * GATHER_MS_PER_WATCHER);
    const rest = this.#lastFlush + gather - performance.now();
    if (rest <= 0) this.#flush();
    else this.#timer = setTimeout(() => this.#flush(), rest);
  }

  #flush(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    if (this.#gathered.length === 0) return;
    const events = this.#gathered;
    this.#gathered = [];
    this.#send(events, this.#gatheredRevision);
    this.#lastFlush = performance.now();
  }

  #send(events: readonly StoreEvent[], revision: number): void {
    if (this.#waiting === undefined) {
      const waiting = this.#render(events, revision);
      if (waiting !== undefined) this.#queue(waiting);
    } else {
      this.#queue(this.#waiting.then(() => this.#render(events, revision)));
    }
  }

  #queue(work: Promise<void>): void {
    this.#waitingCount++;
    this.#waiting = work.then(() => {
      if (--this.#waitingCount === 0) this.#waiting = undefined;
    });
  }

  #render(events: readonly StoreEvent[], revision: number): Promise<void> | undefined {
    const receivers = [...this.live];
    const frames = this.renderer.events(events, this.filter);
    if (frames instanceof Promise) {
      return frames.then(
        (chunk) => this.#write(receivers, chunk, revision),
        () => {
          for (const watcher of receivers) watcher.cut();
        },
      );
    }
    return this.#write(receivers, frames, revision);
  }

  #write(receivers: Watcher[], chunk: unknown, revision: number, from = 0): Promise<void> | undefined {
    const bytes = chunk instanceof Uint8Array ? chunk.byteLength : 0;
    const step = Math.min(WRITES_PER_STEP, Math.ceil(BYTES_PER_STEP / (bytes + 1)));
    for (let i = from; i < receivers.length; i++) {
      receivers[i].push(chunk, revision);
      if (i % step !== step - 1) continue;
      const turn = turns.share();
      if (turn !== undefined) return turn.then(() => this.#write(receivers, chunk, revision, i + 1));
    }
    return undefined;
  }
}

export interface WatcherOptions {
  filter: ObjectFilter;
  /** Names the representation: watchers with equal filter and representation share their encodings. */
  representation: string;
  renderer: FrameRenderer;
  /** Events after this revision are delivered. */
  after: number;
  /** Written before the first event, in slices: the initial state. */
  initial?: () => Iterable<unknown> | AsyncIterable<unknown>;
  bookmarks: boolean;
  write(chunk: unknown): boolean;
  drained(callback: () => void): void;
  end(): void;
}

/** What one who is behind gets at a time. */
const CATCH_UP_EVENTS = 256;
const CATCH_UP_BYTES = 1024 * 1024;

/**
 * One client's watch: a cursor in the store's history. While the client keeps up it is `live` and gets each batch as it is
 * committed; when its socket is full it leaves the group, holds nothing but its cursor, and reads the history from there when the
 * socket has drained. If the history has moved past the cursor it is told so and cut: memory never grows with a slow reader.
 */
export class Watcher {
  readonly #hub: WatchHub;
  readonly #options: WatcherOptions;
  #group: WatchGroup | undefined;
  #cursor: number;
  #stopped = false;

  constructor(hub: WatchHub, options: WatcherOptions) {
    this.#hub = hub;
    this.#options = options;
    this.#cursor = options.after;
  }

  /** Once, when the hub knows it: it may end before this returns. */
  start(): void {
    void this.#run();
  }

  isAbout(keyPrefix: string): boolean {
    return this.#options.filter.keyPrefix.startsWith(keyPrefix);
  }

  /** Behind or waiting for a conversion, a watcher must not be told of a revision whose events it has not got yet. */
  get wantsBookmark(): boolean {
    return this.#options.bookmarks && this.#group?.idle === true;
  }

  push(chunk: unknown, revision: number): void {
    if (this.#stopped || revision <= this.#cursor) return;
    this.#cursor = revision;
    if (chunk === undefined) return;
    if (!this.#options.write(chunk)) this.#fallBehind();
  }

  bookmark(): void {
    this.#cursor = Math.max(this.#cursor, this.#hub.store.revision);
    if (!this.#options.write(this.#options.renderer.bookmark(this.#cursor))) this.#fallBehind();
  }

  stop(): void {
    if (this.#stopped) return;
    this.#stopped = true;
    this.#leaveGroup();
    this.#hub.forget(this);
  }

  /** Ends the watch from our side. */
  cut(): void {
    if (this.#stopped) return;
    this.stop();
    this.#options.end();
  }

  #fallBehind(): void {
    this.#leaveGroup();
    this.#options.drained(() => void this.#catchUp());
  }

  #leaveGroup(): void {
    if (this.#group !== undefined) this.#hub.leave(this.#group, this);
    this.#group = undefined;
  }

  async #run(): Promise<void> {
    try {
      if (this.#options.initial !== undefined) {
        for await (const chunk of this.#options.initial()) {
          if (this.#stopped) return;
          if (!this.#options.write(chunk)) await this.#drained();
        }
      }
      await this.#catchUp();
    } catch {
      this.cut();
    }
  }

  #drained(): Promise<void> {
    return new Promise((resolve) => {
      this.#options.drained(resolve);
    });
  }

  async #catchUp(): Promise<void> {
    const { renderer, filter } = this.#options;
    try {
      while (!this.#stopped) {
        const events = firstBytes(this.#hub.store.eventsAfter(this.#cursor, CATCH_UP_EVENTS), CATCH_UP_BYTES);
        if (events.length === 0) {
          this.#group = this.#hub.join(this.#options, this);
          return;
        }
        const chunk = await renderer.events(events, filter);
        if (this.#stopped) return;
        this.#cursor = events[events.length - 1].revision;
        if (chunk !== undefined && !this.#options.write(chunk)) await this.#drained();
        else await turns.pause();
      }
    } catch (error) {
      if (this.#stopped) return;
      if (error instanceof StoreError && error.code === 'Compacted') {
        this.#options.write(renderer.expired(this.#cursor, this.#hub.store.compactedRevision));
      }
      this.cut();
    }
  }
}

/** The first of the events, until they have so many bytes; one at least. */
function firstBytes(events: readonly StoreEvent[], most: number): readonly StoreEvent[] {
  let bytes = 0;
  const enough = events.findIndex(({ entry }) => (bytes += entry.bytes.byteLength) > most);
  return enough < 0 ? events : events.slice(0, Math.max(1, enough));
}

/** Takes each commit of the store to the groups that are interested in it, found by key and not by asking every watcher. */
export class WatchHub {
  readonly store: Store;
  readonly #groups = new Map<string, Map<string, WatchGroup>>();
  readonly #watchers = new Set<Watcher>();
  readonly #stopListening: () => void;
  readonly #bookmarkTimer: NodeJS.Timeout;

  constructor(store: Store, bookmarkEveryMs = 60_000) {
    this.store = store;
    this.#stopListening = store.onCommit((events) => this.#dispatch(events));
    // A bookmark reports that nothing happened: no event can announce it.
    this.#bookmarkTimer = setInterval(() => this.#bookmarkAll(), bookmarkEveryMs);
    this.#bookmarkTimer.unref();
  }

  get size(): number {
    return this.#watchers.size;
  }

  watch(options: WatcherOptions): Watcher {
    const watcher = new Watcher(this, options);
    this.#watchers.add(watcher);
    watcher.start();
    return watcher;
  }

  join(options: WatcherOptions, watcher: Watcher): WatchGroup {
    const { keyPrefix, identity } = options.filter;
    let atPrefix = this.#groups.get(keyPrefix);
    if (atPrefix === undefined) this.#groups.set(keyPrefix, (atPrefix = new Map<string, WatchGroup>()));
    const key = `${options.representation}|${identity}`;
    let group = atPrefix.get(key);
    if (group === undefined) atPrefix.set(key, (group = new WatchGroup(key, options.filter, options.renderer)));
    group.add(watcher);
    return group;
  }

  leave(group: WatchGroup, watcher: Watcher): void {
    group.live.delete(watcher);
    if (group.live.size > 0) return;
    const atPrefix = this.#groups.get(group.filter.keyPrefix);
    if (atPrefix?.get(group.key) !== group) return;
    atPrefix.delete(group.key);
    if (atPrefix.size === 0) this.#groups.delete(group.filter.keyPrefix);
  }

  forget(watcher: Watcher): void {
    this.#watchers.delete(watcher);
  }

  close(): void {
    this.#stopListening();
    clearInterval(this.#bookmarkTimer);
    for (const watcher of this.#watchers) watcher.cut();
  }

  /** Ends every watch on one resource: its schema or its existence changed under them. */
  cutPrefix(prefix: string): void {
    // Those that are behind too: they would come back to a group and bring what they know of the old definition with them.
    for (const watcher of this.#watchers) if (watcher.isAbout(prefix)) watcher.cut();
  }

  #dispatch(events: readonly StoreEvent[]): void {
    if (this.#groups.size === 0) return;
    const revision = events[events.length - 1].revision;
    const perGroup = new Map<WatchGroup, StoreEvent[]>();
    for (const event of events) {
      const { key } = event.entry;
      const prefix = prefixOfKey(key);
      this.#collect(prefix, event, perGroup);
      const slash = key.indexOf('/', prefix.length);
      if (slash > 0) this.#collect(key.slice(0, slash + 1), event, perGroup);
      this.#collect(key, event, perGroup);
    }
    for (const [group, concerned] of perGroup) group.deliver(concerned, revision);
  }

  #collect(keyPrefix: string, event: StoreEvent, perGroup: Map<WatchGroup, StoreEvent[]>): void {
    const groups = this.#groups.get(keyPrefix);
    if (groups === undefined) return;
    for (const group of groups.values()) {
      if (group.filter.matches !== undefined && changeFor(group.filter, event) === undefined) continue;
      const list = perGroup.get(group);
      if (list === undefined) perGroup.set(group, [event]);
      else list.push(event);
    }
  }

  #bookmarkAll(): void {
    for (const watcher of this.#watchers) if (watcher.wantsBookmark) watcher.bookmark();
  }
}
