import { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { deepFreeze } from '../../kube/json-value.ts';
import type { WatchEvent } from '../../kube/watch-event.ts';
import { longLivedController, orAborted } from '../../lib/abort.ts';
import { turns } from '../../lib/turn-queue.ts';
import { refusal } from '../requests.ts';
import { abortedError, TransportError } from '../transport-error.ts';
import type { InMemoryHandler, Transport, TransportRequest, TransportResponse } from '../transport.ts';
import { wireCopy } from './wire-copy.ts';

/**
 * Calls a server in the same process. Requests pass the same handler chain as those from the network; only TLS and encoding are left out.
 * Answers are frozen, because the server and all its other clients share them. So are the objects of watch events shared, but they are not frozen
 * here: most are looked at and dropped, and freezing would cost more than delivering them. Informers freeze what they keep.
 */
export function createInMemoryTransport(handler: InMemoryHandler): Transport {
  const closing = longLivedController();

  const call = async (request: TransportRequest): ReturnType<InMemoryHandler> => {
    if (closing.signal.aborted) throw new TransportError('Closed', 'the transport was closed');
    if (request.signal?.aborted) throw abortedError(request.signal);
    const body = request.body === undefined ? undefined : wireCopy(request.body);
    try {
      return await orAborted(handler({ ...request, headers: lowerCase(request.headers), body }), request.signal);
    } catch (error) {
      if (request.signal?.aborted) throw abortedError(request.signal);
      throw error;
    }
  };

  return {
    async request(request) {
      const answer = await call(request);
      if ('events' in answer) throw new TransportError('BadResponse', `Cannot read "${request.path}": the server answered with a watch`);
      if ('stream' in answer) return { status: answer.status, headers: answer.headers, body: await text(answer.stream) };
      return { status: answer.status, headers: answer.headers, body: await frozen(valueOf(answer)) };
    },
    async watch(request) {
      const answer = await call(request);
      if ('stream' in answer) throw refusal({ ...answer, body: await text(answer.stream) });
      if (!('events' in answer)) throw refusal(answer);
      return untilAborted(answer.events, request.signal, closing.signal);
    },
    async stream(request) {
      const answer = await call(request);
      const { status, headers } = answer;
      if ('stream' in answer) return { status, headers, body: answer.stream };
      if ('events' in answer) throw new TransportError('BadResponse', `Cannot read "${request.path}": the server answered with a watch`);
      const body = typeof answer.body === 'string' ? answer.body : JSON.stringify(answer.body);
      return { status, headers, body: Readable.from([Buffer.from(body)], { objectMode: false }) };
    },
    close() {
      closing.abort();
      return Promise.resolve();
    },
  };
}

/** Items of a list between two looks at the time. */
const STEP = 16;

/** Freezes an answer. A list is frozen item by item, because there may be a hundred thousand. */
async function frozen<T>(value: T): Promise<T> {
  const items: unknown = (value as { items?: unknown } | undefined)?.items;
  if (!Array.isArray(items) || items.length <= STEP) return deepFreeze(value);
  for (let i = 0; i < items.length; i++) {
    deepFreeze(items[i]);
    if (i % STEP === STEP - 1) await turns.share();
  }
  return deepFreeze(value);
}

/** Documents that the server keeps as text, such as discovery, are values here too. */
function valueOf({ headers, body }: TransportResponse): unknown {
  return typeof body === 'string' && headers['content-type']?.includes('json') ? JSON.parse(body) : body;
}

/** As on the wire, where header names have no case. */
function lowerCase(headers: Record<string, string> | undefined): Record<string, string> {
  const lower: Record<string, string> = {};
  if (headers) for (const name of Object.keys(headers)) lower[name.toLowerCase()] = headers[name];
  return lower;
}

/** The server's events, ending at once when a signal fires, whether or not the server notices. */
function untilAborted(
  events: AsyncIterable<WatchEvent>,
  caller: AbortSignal | undefined,
  closing: AbortSignal,
): AsyncIterableIterator<WatchEvent> {
  const inner = events[Symbol.asyncIterator]();
  let ended = false;
  let wake: ((result: IteratorResult<WatchEvent>) => void) | undefined;
  const end = (): void => {
    if (ended) return;
    ended = true;
    caller?.removeEventListener('abort', end);
    closing.removeEventListener('abort', end);
    wake?.({ done: true, value: undefined });
    // A generator that is waiting does not return before it is woken, so its answer is not awaited.
    inner.return?.().then(undefined, () => {});
  };
  caller?.addEventListener('abort', end, { once: true });
  closing.addEventListener('abort', end, { once: true });
  if (caller?.aborted || closing.aborted) end();

  const iterator: AsyncIterableIterator<WatchEvent> = {
    next: () =>
      new Promise((resolve, reject) => {
        if (ended) {
          resolve({ done: true, value: undefined });
          return;
        }
        wake = resolve;
        inner.next().then(
          (result) => {
            if (result.done) end();
            resolve(result);
          },
          (error) => {
            if (ended) return;
            end();
            reject(error);
          },
        );
      }),
    return: () => {
      end();
      return Promise.resolve({ done: true, value: undefined });
    },
    [Symbol.asyncIterator]: () => iterator,
  };
  return iterator;
}
