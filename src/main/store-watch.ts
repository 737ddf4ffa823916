import type { DurableStore } from '../engine/store/durable-store.ts';
import type { Entry, StoreError } from '../engine/store/store.ts';
import type { Clock } from '../lib/clock.ts';
import { News } from './tenant-control-socket.ts';

/** Whoever fills a store and makes room in turns is not told of each time. */
const LOOK_AGAIN_MS = 5000;
/** With so much of it free, writes would be taken again. */
const ROOM = 0.1;

type Watched = Pick<DurableStore, 'put' | 'remove' | 'latest' | 'stats'>;

/** Whether the store can be written to, as its writes tell: the disk may be full, or the store may have reached its limit. */
export class StoreWatch extends News {
  readonly #maxBytes: number;
  readonly #clock: Clock;
  readonly #full = { disk: false, store: false };
  /** A new key was taken; those that are there already may grow a little in a store that is full. */
  #tookNew = false;

  constructor(maxBytes: number, clock: Clock) {
    super();
    this.#maxBytes = maxBytes;
    this.#clock = clock;
  }

  observe(store: Watched): void {
    const { put, remove } = store;
    store.put = (key, ...rest) => {
      const isNew = store.latest(key) === undefined;
      return this.#seen(store, put.call(store, key, ...rest), isNew);
    };
    store.remove = (...args) => this.#seen(store, remove.apply(store, args), false);
  }

  #seen(store: Watched, write: Promise<Entry>, isNew: boolean): Promise<Entry> {
    write.then(
      () => {
        this.#set('disk', false);
        this.#tookNew ||= isNew;
      },
      ({ code }: StoreError) => {
        if (code === 'DiskFull') this.#set('disk', true);
        if (code === 'StoreFull') this.#becameFull(store);
      },
    );
    return write;
  }

  #becameFull(store: Watched): void {
    if (this.#full.store) return;
    this.#set('store', true);
    this.#lookAgain(store);
  }

  #lookAgain(store: Watched): void {
    this.#tookNew = false;
    this.#clock.setTimer(LOOK_AGAIN_MS, () => {
      const hasRoom = store.stats().liveBytes < this.#maxBytes * (1 - ROOM);
      if (this.#tookNew || hasRoom) this.#set('store', false);
      else this.#lookAgain(store);
    });
  }

  #set(what: 'disk' | 'store', full: boolean): void {
    if (this.#full[what] === full) return;
    this.#full[what] = full;
    this.tell({ type: what, full });
  }
}
