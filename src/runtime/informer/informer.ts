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
  /** What to keep of each object, for caches that need only a part. */
  transform?: (object: T) => T;
  /** For servers that may never answer: who waits for the first list gives up then. */
  patience?: { ms: number; signal: AbortSignal };
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
    let listed = new Map<string, T>();
    const reflector = new Reflector<T>(this.#options, {
      listBegins: () => (listed = new Map()),
      listed: (object) => listed.set(keyOf(object), object),
      unlisted: (object) => listed.delete(keyOf(object)),
      listEnds: async () => {
        const complete = listed;
        listed = new Map();
        await this.#replace(complete);
      },
      changed: (type, object) => {
        if (type === 'DELETED') this.#remove(keyOf(object), object);
        else this.#put(keyOf(object), object);
      },
    });
    return reflector.run(signal);
  }

  /** Takes over a whole list, reporting only what differs from what is known. */
  async #replace(listed: Map<string, T>): Promise<void> {
    let handled = 0;
    for (const key of this.#cache.keys()) {
      if (!listed.has(key)) this.#remove(key, undefined);
      if (++handled % OBJECTS_PER_STEP === 0) await turns.share();
    }
    for (const [key, object] of listed) {
      this.#put(key, object);
      if (++handled % OBJECTS_PER_STEP === 0) await turns.share();
    }
    if (this.#synced) return;
    this.#synced = true;
    for (const resolve of this.#syncWaiters) resolve();
  }

  #put(key: string, received: T): void {
    const previous = this.#cache.get(key);
    if (previous && previous.metadata.uid === received.metadata.uid) {
      if (previous.metadata.resourceVersion === received.metadata.resourceVersion) return;
      const object = this.#keep(received);
      this.#cache.set(key, object);
      this.#report({ type: 'modified', object, previous });
      return;
    }
    // Another object of the same name: its predecessor went while we did not look.
    if (previous) this.#remove(key, undefined);
    const object = this.#keep(received);
    this.#cache.set(key, object);
    this.#report({ type: 'added', object });
  }

  #remove(key: string, last: T | undefined): void {
    const previous = this.#cache.get(key);
    if (!previous) return;
    this.#cache.delete(key);
    this.#report({ type: 'deleted', object: last ? this.#keep(last) : previous });
  }

  #keep(object: T): T {
    return deepFreeze(this.#options.transform ? this.#options.transform(object) : object);
  }

  #report(change: Change<T>): void {
    for (const handler of this.#handlers) handler(change);
  }
}
