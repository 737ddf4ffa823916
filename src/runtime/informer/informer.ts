import { deepFreeze } from '../../kube/json-value.ts';
import type { KubeObject } from '../../kube/object.ts';
import { linkSignals, orAborted, timeoutSignal } from '../../lib/abort.ts';
import { turns } from '../../lib/turn-queue.ts';
import { keyOf, ObjectCache, toKey, type IndexValues } from './object-cache.ts';
import { OBJECTS_PER_STEP, Reflector, type ReflectorOptions } from './reflector.ts';

export type Change<T extends KubeObject> =
  | { type: 'added'; object: T }
  | { type: 'modified'; object: T; previous: T }
  /** `object` is the last state that was seen. */
  | { type: 'deleted'; object: T };

/** Called synchronously, in the order of the changes; the cache already shows them. Handlers put keys on queues and do not throw. */
export type ChangeHandler<T extends KubeObject> = (change: Change<T>) => void;

export interface InformerOptions<T extends KubeObject> extends ReflectorOptions<T> {
  /** What to keep of each object, for caches that need only a part; undefined: nothing. It keeps its resourceVersion. */
  transform?: (object: T) => T | undefined;
  /** For objects that somebody else makes, who must not fill our memory. */
  ceiling?: Ceiling<T>;
  /** For servers that may never answer: who waits for the first list gives up then. */
  patience?: { ms: number; signal: AbortSignal };
}

export interface Ceiling<T extends KubeObject> {
  /** What all objects may weigh together. What does not fit is not kept, and not reported. */
  weight: number;
  /** Absent: each is one. */
  weigh?: (object: T) => number;
  /** Something does not fit any more, or everything fits again. */
  onChange?: () => void;
}

/** Room for so much has to come before it is tried again whether everything fits. */
const ROOM = 1 / 4;

/** Objects in a page of what somebody else may have made as large as an object can be. */
const GUARDED_PAGE = 50;

/** A list that is being received, as far as it is kept. */
class Listing<T extends KubeObject> {
  readonly objects = new Map<string, T>();
  weight = 0;
  isCut = false;
}

/**
 * A local copy of a resource, kept up to date by one list and one watch. Every change is reported once and in order, across broken
 * connections, server restarts and expired histories; between two lists only the newest state of an object may be seen. Objects are
 * frozen and shared by all readers.
 */
export class Informer<T extends KubeObject = KubeObject> {
  #options: InformerOptions<T>;
  #cache = new ObjectCache<T>();
  #handlers = new Set<ChangeHandler<T>>();
  #weight = 0;
  #isCut = false;
  /** Below this weight it is worth a list whether everything fits again. */
  #relistBelow = 0;
  #synced = false;
  #syncWaiters = new Set<() => void>();

  constructor(options: InformerOptions<T>) {
    this.#options = options;
  }

  /** The first list is in the cache and was reported. */
  get synced(): boolean {
    return this.#synced;
  }

  get size(): number {
    return this.#cache.size;
  }

  /** There is more than the ceiling allows: what is here is not everything. */
  get isCut(): boolean {
    return this.#isCut;
  }

  async whenSynced(signal?: AbortSignal): Promise<void> {
    if (this.#synced) return;
    const { clock, patience } = this.#options;
    const limit = patience && timeoutSignal(clock, patience.ms, patience.signal);
    const either = linkSignals(signal, limit?.signal);
    let waiter: (() => void) | undefined;
    try {
      await orAborted(new Promise<void>((resolve) => this.#syncWaiters.add((waiter = resolve))), either.signal);
    } finally {
      this.#syncWaiters.delete(waiter!);
      either.dispose();
      limit?.dispose();
    }
  }

  get(key: string): T | undefined {
    return this.#cache.get(key);
  }

  find(namespace: string | undefined, name: string): T | undefined {
    return this.#cache.get(toKey(namespace, name));
  }

  list(): IterableIterator<T> {
    return this.#cache.values();
  }

  addIndex(name: string, values: IndexValues<T>): void {
    this.#cache.addIndex(name, values);
  }

  byIndex(name: string, value: string): T[] {
    return this.#cache.byIndex(name, value);
  }

  /** How many there are, without looking at them. */
  countByIndex(name: string, value: string): number {
    return this.#cache.countByIndex(name, value);
  }

  /** Objects that are already here are reported as added before this returns. @returns the way to stop. */
  onChange(handler: ChangeHandler<T>): () => void {
    for (const object of this.#cache.values()) handler({ type: 'added', object });
    this.#handlers.add(handler);
    return () => this.#handlers.delete(handler);
  }

  /** Lists and watches until the signal fires. Never rejects. */
  run(signal: AbortSignal): Promise<void> {
    let listing = new Listing<T>();
    const pageSize = this.#options.ceiling && GUARDED_PAGE;
    const reflector = new Reflector<T>(
      { ...this.#options, pageSize },
      {
        listBegins: () => (listing = new Listing()),
        listed: (object) => this.#list(listing, object),
        unlisted: (object) => this.#unlist(listing, keyOf(object)),
        listEnds: async () => {
          const complete = listing;
          listing = new Listing();
          await this.#replace(complete);
        },
        changed: (type, object) => {
          if (type === 'DELETED') this.#remove(keyOf(object), object);
          else this.#change(keyOf(object), object);
        },
        wantsList: () => this.#isCut && this.#weight < this.#relistBelow,
      },
    );
    return reflector.run(signal);
  }

  #list(listing: Listing<T>, received: T): void {
    const key = keyOf(received);
    this.#unlist(listing, key);
    const object = this.#keep(received);
    if (object === undefined) return;
    const weight = this.#weigh(object);
    if (listing.weight + weight > this.#ceiling) {
      listing.isCut = true;
      return;
    }
    listing.weight += weight;
    listing.objects.set(key, object);
  }

  #unlist(listing: Listing<T>, key: string): void {
    const object = listing.objects.get(key);
    if (object === undefined) return;
    listing.objects.delete(key);
    listing.weight -= this.#weigh(object);
  }

  /** Takes over a whole list, reporting only what differs from what is known. */
  async #replace({ objects, isCut }: Listing<T>): Promise<void> {
    let handled = 0;
    for (const key of this.#cache.keys()) {
      if (!objects.has(key)) this.#remove(key, undefined);
      if (++handled % OBJECTS_PER_STEP === 0) await turns.share();
    }
    for (const [key, object] of objects) {
      this.#put(key, object);
      if (++handled % OBJECTS_PER_STEP === 0) await turns.share();
    }
    this.#setCut(isCut);
    if (this.#synced) return;
    this.#synced = true;
    for (const resolve of this.#syncWaiters) resolve();
  }

  #change(key: string, received: T): void {
    const object = this.#keep(received);
    if (object === undefined) return this.#remove(key, undefined);
    const previous = this.#cache.get(key);
    const others = this.#weight - (previous === undefined ? 0 : this.#weigh(previous));
    if (others + this.#weigh(object) <= this.#ceiling) return this.#put(key, object);
    // Nothing is known of it rather than what was true before.
    this.#remove(key, undefined);
    this.#setCut(true);
  }

  #put(key: string, object: T): void {
    const previous = this.#cache.get(key);
    if (previous && previous.metadata.uid === object.metadata.uid) {
      if (previous.metadata.resourceVersion === object.metadata.resourceVersion) return;
      this.#weight += this.#weigh(object) - this.#weigh(previous);
      this.#cache.set(key, object);
      this.#report({ type: 'modified', object, previous });
      return;
    }
    // Another object of the same name: its predecessor went while we did not look.
    if (previous) this.#remove(key, undefined);
    this.#weight += this.#weigh(object);
    this.#cache.set(key, object);
    this.#report({ type: 'added', object });
  }

  #remove(key: string, last: T | undefined): void {
    const previous = this.#cache.get(key);
    if (!previous) return;
    this.#cache.delete(key);
    this.#weight -= this.#weigh(previous);
    this.#report({ type: 'deleted', object: (last && this.#keep(last)) ?? previous });
  }

  #keep(object: T): T | undefined {
    const { transform } = this.#options;
    try {
      const kept = transform ? transform(object) : object;
      return kept && deepFreeze(kept);
    } catch (error) {
      // One object that is not as anybody expected must not end the watch of all others.
      this.#options.log.warn('cannot keep an object, will go on without it', { object: keyOf(object), error });
      return undefined;
    }
  }

  get #ceiling(): number {
    return this.#options.ceiling?.weight ?? Infinity;
  }

  #weigh(object: T): number {
    return this.#options.ceiling?.weigh?.(object) ?? 1;
  }

  #setCut(isCut: boolean): void {
    this.#relistBelow = this.#weight * (1 - ROOM);
    if (isCut === this.#isCut) return;
    this.#isCut = isCut;
    this.#options.ceiling?.onChange?.();
  }

  #report(change: Change<T>): void {
    for (const handler of this.#handlers) handler(change);
  }
}
