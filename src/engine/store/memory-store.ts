import type { Journal } from './journal.ts';
import { StagedStore } from './staged-store.ts';
import type { Store } from './store.ts';
import { DEFAULT_HISTORY_LIMIT, DurableView, type HistoryLimit } from './versions/durable-view.ts';

export interface MemoryStoreOptions {
  historyLimit?: Partial<HistoryLimit>;
  /** How large live data may become; absent: as large as it likes. */
  maxLiveBytes?: number;
}

/** The same store without files: what it holds is gone with the process. */
export function createMemoryStore(options: MemoryStoreOptions = {}): Store {
  const view = new DurableView({ ...DEFAULT_HISTORY_LIMIT, ...options.historyLimit });
  const store = new StagedStore(view, new NoJournal());
  store.limitLiveBytes(options.maxLiveBytes ?? Number.POSITIVE_INFINITY);
  return store;
}

class NoJournal implements Journal {
  prepare(_key: string, bytes: Uint8Array): Uint8Array {
    return bytes;
  }

  /** Waits for the next turn of the event loop, so that a commit is as little in the same turn as its write as on a disk. */
  commit(): Promise<void> {
    return new Promise((resolve) => setImmediate(resolve));
  }

  async close(): Promise<void> {}
}
