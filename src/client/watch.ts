import type { KubeObject } from '../kube/object.ts';
import { StatusError } from '../kube/status.ts';
import { linkSignals, sleep } from '../lib/abort.ts';
import { Backoff } from '../lib/backoff.ts';
import { flag, labelSelectorText, type LabelSelector } from './query.ts';
import type { Requests } from './requests.ts';
import { abortedError, isTransportError } from './transport-error.ts';
import type { TransportRequest } from './transport.ts';

export interface WatchOptions {
  labelSelector?: LabelSelector;
  fieldSelector?: string;
  /** Events after this version; absent: the server's newest state first, as ADDED events. */
  resourceVersion?: string;
  /** Ask for the present state as ADDED events, closed by a SYNCED. Refused with Invalid by servers that do not know it. */
  sendInitialEvents?: boolean;
  signal?: AbortSignal;
}

export type WatchUpdate<T extends KubeObject = KubeObject> =
  | { type: 'ADDED' | 'MODIFIED' | 'DELETED'; object: T }
  /** Nothing changed, but this is where to resume. */
  | { type: 'BOOKMARK'; resourceVersion: string }
  /** All initial events have been given. */
  | { type: 'SYNCED'; resourceVersion: string }
  /** The server no longer has the events since the last one given: list again. The last update of a watch. */
  | { type: 'EXPIRED' };

/** Marks the bookmark that closes the initial events. */
export const INITIAL_EVENTS_END = 'k8s.io/initial-events-end';

/** How long a server may hold one connection of a watch; it ends them between this and double, so that watches do not renew together. */
const SERVER_TIMEOUT_SECONDS = 300;
const RECONNECT = { initialMs: 200, maxMs: 30_000 };
/** A connection that was served for this long was worth it; a server that ends them sooner has too much to do, or does not want them. */
const SERVED_MS = 1000;

/**
 * A watch that outlives its connections: it reconnects where it stopped, so that nothing is missed and nothing repeated, and
 * says EXPIRED when the server cannot do that. Throws StatusError when the server refuses (Forbidden, NotFound, ...), and ends when the
 * signal fires.
 */
export async function* resumableWatch<T extends KubeObject>(
  requests: Requests,
  path: string,
  headers: Record<string, string>,
  options: WatchOptions,
): AsyncGenerator<WatchUpdate<T>, void, void> {
  const position: Position = { resourceVersion: options.resourceVersion, initial: options.sendInitialEvents === true };
  const backoff = new Backoff({ ...RECONNECT, random: requests.random });
  while (!options.signal?.aborted) {
    const before = position.resourceVersion;
    let isEnded = false;
    let openedAt: number | undefined;
    // One signal per connection: whoever serves it leaves no hooks on the caller's, which outlives them all.
    const connection = linkSignals(options.signal);
    try {
      const request = watchRequest(path, headers, options, position, requests);
      const events = await requests.openWatch({ ...request, signal: connection.signal });
      openedAt = requests.clock.monotonic();
      for await (const event of events) {
        const update = advance<T>(position, event);
        if (update) yield update;
        if (update?.type === 'EXPIRED') return;
      }
      isEnded = true;
    } catch (error) {
      if (options.signal?.aborted) return;
      const verdict = afterFailure(error);
      if (verdict === 'throw') throw error;
      if (verdict === 'expired') {
        yield { type: 'EXPIRED' };
        return;
      }
    } finally {
      connection.dispose();
    }
    // Half an initial list cannot be resumed, and without a version there is no place to resume from.
    if (position.initial || position.resourceVersion === undefined) {
      if (!options.signal?.aborted) yield { type: 'EXPIRED' };
      return;
    }
    const wasServed = openedAt !== undefined && requests.clock.monotonic() - openedAt >= SERVED_MS;
    if (wasServed) backoff.reset();
    // Its time was over, or events came faster than a busy server could pass them on: whoever waits for the next one waits no longer.
    if (wasServed && isEnded && position.resourceVersion !== before) continue;
    await sleep(requests.clock, backoff.next(), options.signal).catch(() => {});
  }
}

interface Position {
  resourceVersion: string | undefined;
  /** Initial events are still to come. */
  initial: boolean;
}

type RawEvent = { type: string; object: { metadata?: { resourceVersion?: string; annotations?: Record<string, string> }; code?: number } };

/** Moves the position past an event and says what to tell the consumer. */
function advance<T extends KubeObject>(position: Position, event: RawEvent): WatchUpdate<T> | undefined {
  if (event.type === 'ERROR') {
    const error = new StatusError(event.object as StatusError['status']);
    if (error.code === 410) return { type: 'EXPIRED' };
    throw error;
  }
  const resourceVersion = event.object.metadata?.resourceVersion;
  if (event.type === 'BOOKMARK') {
    if (resourceVersion === undefined) return undefined;
    position.resourceVersion = resourceVersion;
    const ends = position.initial && event.object.metadata?.annotations?.[INITIAL_EVENTS_END] === 'true';
    if (ends) position.initial = false;
    return { type: ends ? 'SYNCED' : 'BOOKMARK', resourceVersion };
  }
  // Initial events come in the order of their keys, not of their versions: none of them is a place to resume from.
  if (!position.initial && resourceVersion !== undefined) position.resourceVersion = resourceVersion;
  return { type: event.type as 'ADDED', object: event.object as unknown as T };
}

function afterFailure(error: unknown): 'throw' | 'expired' | 'reconnect' {
  if (error instanceof StatusError) {
    if (error.code === 410) return 'expired';
    return error.code === 429 || error.code >= 500 ? 'reconnect' : 'throw';
  }
  const transient = isTransportError(error) && error.code !== 'TlsFailed' && error.code !== 'CredentialsFailed' && error.code !== 'Closed';
  return transient ? 'reconnect' : 'throw';
}

function watchRequest(
  path: string,
  headers: Record<string, string>,
  options: WatchOptions,
  position: Position,
  requests: Requests,
): TransportRequest {
  if (options.signal?.aborted) throw abortedError(options.signal);
  const random = requests.random ?? Math.random;
  return {
    method: 'GET',
    path,
    headers,
    query: {
      watch: 'true',
      allowWatchBookmarks: 'true',
      labelSelector: labelSelectorText(options.labelSelector),
      fieldSelector: options.fieldSelector,
      resourceVersion: position.resourceVersion,
      sendInitialEvents: flag(position.initial),
      resourceVersionMatch: position.initial ? 'NotOlderThan' : undefined,
      timeoutSeconds: String(Math.round(SERVER_TIMEOUT_SECONDS * (1 + random()))),
    },
  };
}
