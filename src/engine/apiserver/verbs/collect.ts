import { turns } from '../../../lib/turn-queue.ts';
import type { Entry, Store } from '../../store/store.ts';
import type { ObjectFilter } from '../watch/filter.ts';

export interface Collected {
  entries: Entry[];
  revision: number;
  /** Set when the limit cut the result: where to go on. */
  lastKey?: string;
}

const PAGE = 2000;
const SLICE_MS = 2;

/**
 * The entries a filter selects at one revision, in slices: matching may have to parse objects, and no request may hold the event
 * loop. Later pages are read at the revision of the first.
 */
export async function collect(
  store: Store,
  filter: ObjectFilter,
  options: { revision?: number; after?: string; limit: number },
): Promise<Collected> {
  if (filter.exact) return collectOne(store, filter, options);
  const { limit } = options;
  const { matches } = filter;
  const entries: Entry[] = [];
  let after = options.after;
  let revision = options.revision;
  let sliceStart = performance.now();
  for (;;) {
    const wanted = limit > 0 && matches === undefined ? Math.min(PAGE, limit - entries.length) : PAGE;
    const page = store.range(filter.keyPrefix, { revision, after, limit: wanted });
    revision = page.revision;
    for (let i = 0; i < page.entries.length; i++) {
      const entry = page.entries[i];
      after = entry.key;
      if (matches === undefined || matches(entry)) {
        entries.push(entry);
        if (limit > 0 && entries.length === limit) {
          const more = page.more || i < page.entries.length - 1;
          return more ? { entries, revision, lastKey: entry.key } : { entries, revision };
        }
      }
      if ((i & 63) === 63 && performance.now() - sliceStart > SLICE_MS) {
        await turns.pause();
        sliceStart = performance.now();
      }
    }
    if (!page.more) return { entries, revision };
  }
}

function collectOne(store: Store, filter: ObjectFilter, options: { revision?: number }): Collected {
  const revision = options.revision ?? store.revision;
  let entry = store.get(filter.keyPrefix);
  if (options.revision !== undefined && options.revision !== store.revision) {
    const { entries } = store.range(filter.keyPrefix, { revision, limit: 1 });
    entry = entries[0]?.key === filter.keyPrefix ? entries[0] : undefined;
  }
  if (entry === undefined || (filter.matches !== undefined && !filter.matches(entry))) return { entries: [], revision };
  return { entries: [entry], revision };
}
