import { RunKind, type Run } from '../api/kruntimes.io/v1alpha1/run.ts';
import { isUnfinishedCopy } from '../areas/clusters/placement/model/unfinished-copy.ts';
import { openStore, type OpenStoreOptions } from '../engine/store/durable-store.ts';
import { turns } from '../lib/turn-queue.ts';

const PREFIX = `${RunKind.group}/${RunKind.plural}/`;
const PAGE = 100;

/** Takes out of a store that nobody serves yet what must not be executed again. */
export async function removeRunCopies(directory: string, options: Pick<OpenStoreOptions, 'sealing'>): Promise<number> {
  const store = await openStore(directory, options);
  try {
    let removed = 0;
    let after: string | undefined;
    for (;;) {
      const { entries, more } = store.range(PREFIX, { after, limit: PAGE });
      const copies = entries.filter(({ bytes }) => isUnfinishedCopy(JSON.parse(Buffer.from(bytes).toString('utf8')) as Run));
      await Promise.all(copies.map(({ key, bytes, revision }) => store.remove(key, revision, () => ({ bytes }))));
      removed += copies.length;
      if (!more) return removed;
      after = entries.at(-1)!.key;
      await turns.share();
    }
  } finally {
    await store.close();
  }
}
