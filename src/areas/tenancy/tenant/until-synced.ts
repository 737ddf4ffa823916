import type { Clock } from '../../../lib/clock.ts';
import { timeoutSignal } from '../../../lib/abort.ts';
import type { Informer } from '../../../runtime/informer/informer.ts';

/** Long for a first list; a resource that is not served at all must not hold a worker for ever. */
const PATIENCE_MS = 10_000;

/** @returns the informer with its first list. @throws when that does not come; the caller is tried again later */
export async function untilSynced<I extends Pick<Informer, 'synced' | 'whenSynced'>>(informer: I, clock: Clock): Promise<I> {
  if (informer.synced) return informer;
  const patience = timeoutSignal(clock, PATIENCE_MS);
  try {
    await informer.whenSynced(patience.signal);
    return informer;
  } finally {
    patience.dispose();
  }
}
