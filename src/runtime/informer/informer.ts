import type { ResourceClient } from '../../client/resource-client.ts';
import type { WatchOptions, WatchUpdate } from '../../client/watch.ts';
import { deepFreeze } from '../../kube/json-value.ts';
import type { KubeObject } from '../../kube/object.ts';
import { isStatusError } from '../../kube/status.ts';
import { orAborted, sleep } from '../../lib/abort.ts';
import { Backoff } from '../../lib/backoff.ts';
import type { Clock } from '../../lib/clock.ts';
import type { Log } from '../../lib/log.ts';
import { keyOf, ObjectCache, toKey, type IndexValues } from './object-cache.ts';

export type Change<T extends KubeObject> =
  | { type: 'added'; object: T }
  | { type: 'modified'; object: T; previous: T }
  /** `object` is the last state that was seen. */
  | { type: 'deleted'; object: T };

/** Called synchronously, in the order of the changes; the cache already shows them. Handlers put keys on queues and do not throw. */
export type ChangeHandler<T extends KubeObject> = (change: Change<T>) => void;

export interface InformerOptions<T extends KubeObject> {
  resource: ResourceClient<T>;
  clock: Clock;
  log: Log;
  labelSelector?: string;
  fieldSelector?: string;
  /** What to keep of each object, for caches that need only a part. */
  transform?: (object: T) => T;
}

/** After so many updates in one go other work gets its turn: a long list must not hold the event loop. */
const UPDATES_PER_TURN = 200;
const RELIST_BACKOFF = { initialMs: 500, maxMs: 30_000 };

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
  #syncWaiters: (() => void)[] = [];
  /** False once a server refused to send initial events. */
  #streams = true;
  #updates = 0;

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

  whenSynced(signal?: AbortSignal): Promise<void> {
    if (this.#synced) return Promise.resolve();
    return orAborted(new Promise((resolve) => this.#syncWaiters.push(resolve)), signal);
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

  /** Objects that are already here are reported as added before this returns. @returns the way to stop. */
  onChange(handler: ChangeHandler<T>): () => void {
    for (const object of this.#cache.values()) handler({ type: 'added', object });
    this.#handlers.add(handler);
    return () => this.#handlers.delete(handler);
  }

  /** Lists and watches until the signal fires. Never rejects. */
  async run(signal: AbortSignal): Promise<void> {
    const { clock, log, resource } = this.#options;
    const backoff = new Backoff(RELIST_BACKOFF);
    while (!signal.aborted) {
      try {
        await this.#listAndWatch(signal, () => backoff.reset());
      } catch (error) {
        if (signal.aborted) return;
        if (this.#streams && refusesStreaming(error)) {
          this.#streams = false;
          continue;
        }
        log.warn('cannot watch, will list again', { resource: resource.kind.plural, group: resource.kind.group, error });
        await sleep(clock, backoff.next(), signal).catch(() => {});
      }
    }
  }

  async #listAndWatch(signal: AbortSignal, onProgress: () => void): Promise<void> {
    const { resource, labelSelector, fieldSelector } = this.#options;
    const selection: WatchOptions = { labelSelector, fieldSelector, signal };
    if (this.#streams) {
      await this.#follow(resource.watch({ ...selection, sendInitialEvents: true }), onProgress);
      return;
    }
    const list = await resource.listAll({ labelSelector, fieldSelector, signal });
    const listed = new Map<string, T>();
    for (const item of list.items) listed.set(keyOf(item), typed(item, list));
    await this.#replace(listed);
    onProgress();
    await this.#follow(resource.watch({ ...selection, resourceVersion: list.metadata.resourceVersion }), onProgress);
  }

  async #follow(updates: AsyncIterable<WatchUpdate<T>>, onProgress: () => void): Promise<void> {
    let initial: Map<string, T> | undefined = this.#streams ? new Map() : undefined;
    for await (const update of updates) {
      switch (update.type) {
        case 'SYNCED':
          await this.#replace(initial ?? new Map());
          initial = undefined;
          onProgress();
          break;
        case 'EXPIRED':
          return;
        case 'BOOKMARK':
          break;
        case 'ADDED':
        case 'MODIFIED':
        case 'DELETED':
          if (initial) initial.set(keyOf(update.object), update.object);
          else this.#apply(update.type, update.object);
      }
      if (++this.#updates % UPDATES_PER_TURN === 0) await nextTurn();
    }
  }

  #apply(type: 'ADDED' | 'MODIFIED' | 'DELETED', object: T): void {
    if (type === 'DELETED') this.#remove(keyOf(object), object);
    else this.#put(keyOf(object), object);
  }

  /** Takes over a whole list, reporting only what differs from what is known. */
  async #replace(listed: Map<string, T>): Promise<void> {
    let handled = 0;
    for (const key of this.#cache.keys()) {
      if (!listed.has(key)) this.#remove(key, undefined);
      if (++handled % UPDATES_PER_TURN === 0) await nextTurn();
    }
    for (const [key, object] of listed) {
      this.#put(key, object);
      if (++handled % UPDATES_PER_TURN === 0) await nextTurn();
    }
    if (this.#synced) return;
    this.#synced = true;
    for (const resolve of this.#syncWaiters.splice(0)) resolve();
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

/** Items of a list do not repeat the apiVersion and kind that their list implies. */
function typed<T extends KubeObject>(item: T, list: { apiVersion: string; kind: string }): T {
  return item.kind ? item : { ...item, apiVersion: list.apiVersion, kind: list.kind.replace(/List$/, '') };
}

/** Invalid or BadRequest: the server does not know initial events, or has them switched off. */
function refusesStreaming(error: unknown): boolean {
  return isStatusError(error) && (error.code === 422 || error.code === 400);
}

function nextTurn(): Promise<void> {
  return new Promise((resolve) => void setImmediate(resolve));
}
