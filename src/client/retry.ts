import { backoffDelay, type BackoffOptions, type Random } from '../lib/backoff.ts';
import { isTransportError } from './transport-error.ts';
import type { TransportRequest, TransportResponse } from './transport.ts';

export interface RetryPolicy {
  /** How often a request is repeated at most; 0 switches retries off. */
  maxRetries: number;
  backoff: BackoffOptions;
  /** A server that asks for a longer pause than this gets its refusal handed to the caller instead. */
  maxRetryAfterMs: number;
}

export const DEFAULT_RETRY: RetryPolicy = {
  maxRetries: 5,
  backoff: { initialMs: 100, maxMs: 10_000 },
  maxRetryAfterMs: 60_000,
};

export const APPLY_CONTENT_TYPE = 'application/apply-patch+yaml';

/**
 * Repeating is harmless when the first attempt may have been carried out: reads, and server-side apply, which only states a wish.
 * PUT and DELETE are left out: a repeat would answer Conflict or NotFound for what in truth succeeded.
 */
export function isRepeatable(request: TransportRequest): boolean {
  return request.method === 'GET' || request.contentType === APPLY_CONTENT_TYPE;
}

/** Milliseconds to wait before the next attempt, or undefined when the answer stands. */
export function retryAfterAnswer(
  request: TransportRequest,
  response: TransportResponse,
  failures: number,
  policy: RetryPolicy,
  random?: Random,
): number | undefined {
  if (request.once || failures > policy.maxRetries) return undefined;
  const refused = response.status === 429;
  if (!refused && response.status < 500) return undefined;
  const asked = retryAfterMs(response);
  if (asked !== undefined) return asked <= policy.maxRetryAfterMs ? Math.max(asked, 1) : undefined;
  // A 429 was turned away before anything happened, so any request may come again.
  if (!refused && !isRepeatable(request)) return undefined;
  return backoffDelay(failures, { ...policy.backoff, random });
}

export function retryAfterFailure(
  request: TransportRequest,
  error: unknown,
  failures: number,
  policy: RetryPolicy,
  random?: Random,
): number | undefined {
  if (request.once || failures > policy.maxRetries) return undefined;
  // Unreachable means that nothing was sent, so any request may come again; a broken connection leaves that open.
  const harmless = isTransportError(error, 'Unreachable') || (isTransportError(error, 'ConnectionLost') && isRepeatable(request));
  return harmless ? backoffDelay(failures, { ...policy.backoff, random }) : undefined;
}

/** The server's wish in milliseconds. Kubernetes sends whole seconds, never a date. */
function retryAfterMs(response: TransportResponse): number | undefined {
  const header = response.headers['retry-after'];
  if (header === undefined || !/^\d+$/.test(header)) return undefined;
  return Number(header) * 1000;
}
