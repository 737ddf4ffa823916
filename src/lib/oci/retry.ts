import { sleep } from '../abort.ts';
import { backoffDelay } from '../backoff.ts';
import type { Clock } from '../clock.ts';
import { RegistryError } from './registry-error.ts';

export interface RetryPolicy {
  /** In a row, without progress between them. */
  attempts: number;
  initialMs: number;
  maxMs: number;
  /** A registry that wants us to wait longer is not waited for: the Pod's own back-off does that better. */
  longestWaitMs: number;
}

export const DEFAULT_RETRIES: RetryPolicy = { attempts: 4, initialMs: 250, maxMs: 5000, longestWaitMs: 30_000 };
/** However much progress each makes. */
const MOST_ATTEMPTS = 30;

/**
 * Does something until it succeeds, or fails for a reason that will not go away.
 * @param once tells with `true` from `progress()` whether the last attempt got anywhere: that is a fresh start
 */
export async function retrying<T>(
  once: () => Promise<T>,
  progress: () => boolean,
  policy: RetryPolicy,
  clock: Clock,
  signal: AbortSignal,
): Promise<T> {
  let failures = 0;
  for (let attempt = 1; ; attempt++) {
    try {
      return await once();
    } catch (error) {
      const moved = progress();
      const worthIt = error instanceof RegistryError && (error.retry === 'yes' || (error.retry === 'after-progress' && moved));
      failures = moved ? 1 : failures + 1;
      if (!worthIt || signal.aborted || failures >= policy.attempts || attempt >= MOST_ATTEMPTS) throw error;
      const wait = error.retryAfterMs ?? backoffDelay(failures, policy);
      if (wait > policy.longestWaitMs) throw error;
      await sleep(clock, wait, signal);
    }
  }
}
