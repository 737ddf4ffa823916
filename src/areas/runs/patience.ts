import { isTransportError } from '../../client/transport-error.ts';
import { StatusError } from '../../kube/status.ts';
import { sleep } from '../../lib/abort.ts';
import { Backoff } from '../../lib/backoff.ts';
import type { Clock } from '../../lib/clock.ts';

/** How often an API server that is away is asked again. */
export const AWAY = { initialMs: 100, maxMs: 5000 };

/** Whether the API server may answer otherwise in a while: it is away, just starting, has too much to do, or a token is being renewed. */
export function isPassing(error: unknown): boolean {
  if (isTransportError(error)) return error.code !== 'Aborted' && error.code !== 'Closed' && error.code !== 'BadConfig';
  const code = error instanceof StatusError ? error.code : 0;
  return code === 401 || code === 429 || code >= 500;
}

/** Asks until there is an answer: somebody's work is done, and only has to be told. */
export async function patiently<T>(clock: Clock, signal: AbortSignal, ask: () => Promise<T>): Promise<T> {
  const backoff = new Backoff(AWAY);
  for (;;) {
    try {
      return await ask();
    } catch (error) {
      if (!isPassing(error)) throw error;
    }
    await sleep(clock, backoff.next(), signal);
  }
}
