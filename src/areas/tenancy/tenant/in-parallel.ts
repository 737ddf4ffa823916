import { nextTurn } from '../../../runtime/informer/reflector.ts';

/** Writes under way at once for one tenant: enough to fill a connection, too few to crowd others out. */
const AT_ONCE = 32;
const ITEMS_PER_TURN = 200;

/** Does all of it, a bounded number at a time; the first failure ends it and is thrown. */
export async function inParallel<T>(items: Iterable<T>, work: (item: T) => Promise<unknown>): Promise<void> {
  const iterator = items[Symbol.iterator]();
  let failed = false;
  let handled = 0;
  let turn: Promise<void> | undefined;
  const worker = async (): Promise<void> => {
    for (let next = iterator.next(); !next.done && !failed; next = iterator.next()) {
      try {
        await work(next.value);
        // Most items need no write: then nothing here waits for the outside, and all workers pause for others.
        if (++handled % ITEMS_PER_TURN === 0) turn = nextTurn().then(() => (turn = undefined));
        if (turn) await turn;
      } catch (error) {
        failed = true;
        throw error;
      }
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, worker));
}
