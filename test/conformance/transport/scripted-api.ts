import { failure, StatusError } from '../../../src/kube/status.ts';
import type { WatchEvent } from '../../../src/kube/watch-event.ts';
import type { InMemoryHandler, TransportRequest, TransportResponse } from '../../../src/client/transport.ts';

const JSON_HEADERS = { 'content-type': 'application/json' };

/** A server with just enough behind each path to see how a transport carries it. */
export class ScriptedApi {
  /** Requests under way on /hang; a transport must end them when the caller gives up. */
  hanging = 0;
  watches: ScriptedWatch[] = [];

  readonly handler: InMemoryHandler = async (request) => {
    if (request.path === '/watch') return this.#watch(request);
    if (request.path === '/watch-expired') return answer(410, failure('Expired', 'too old resource version: 1 (9)').status);
    if (request.path === '/echo') return answer(200, echo(request));
    if (request.path.startsWith('/status/')) return statusAnswer(Number(request.path.slice('/status/'.length)));
    if (request.path === '/hang') return this.#hang(request);
    if (request.path === '/empty') return { status: 200, headers: { 'content-type': 'text/plain' }, body: '' };
    return answer(200, { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'x', resourceVersion: '7' }, data: { key: 'ünï' } });
  };

  #watch(request: TransportRequest): Awaited<ReturnType<InMemoryHandler>> {
    const watch = new ScriptedWatch(request.signal);
    this.watches.push(watch);
    return { status: 200, headers: JSON_HEADERS, events: watch };
  }

  #hang(request: TransportRequest): Promise<TransportResponse> {
    this.hanging++;
    return new Promise((_resolve, reject) => {
      request.signal?.addEventListener('abort', () => {
        this.hanging--;
        reject(new Error('caller left'));
      });
    });
  }
}

function answer(status: number, body: unknown, headers: Record<string, string> = {}): TransportResponse {
  return { status, headers: { ...JSON_HEADERS, ...headers }, body };
}

function echo(request: TransportRequest): unknown {
  const { method, path, query = {}, headers = {}, body, contentType } = request;
  return {
    method,
    path,
    query,
    test: headers['x-test'] ?? null,
    accept: headers.accept ?? null,
    body: body ?? null,
    contentType: contentType ?? null,
  };
}

function statusAnswer(code: number): TransportResponse {
  const error: StatusError = failure('', `scripted ${code}`, undefined, code);
  return answer(code, error.status, code === 429 ? { 'retry-after': '3', warning: '299 - "one", 299 - "two \\"quoted\\""' } : {});
}

/** Events that a test pushes, one at a time or in bulk. */
export class ScriptedWatch implements AsyncIterable<WatchEvent> {
  ended = false;
  #queue: WatchEvent[] = [];
  #finished = false;
  #wake: () => void = () => {};

  constructor(signal: AbortSignal | undefined) {
    signal?.addEventListener('abort', () => this.finish());
  }

  push(...events: WatchEvent[]): void {
    this.#queue.push(...events);
    this.#wake();
  }

  finish(): void {
    this.#finished = true;
    this.#wake();
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<WatchEvent, void, void> {
    try {
      for (;;) {
        while (this.#queue.length > 0) yield this.#queue.shift()!;
        if (this.#finished) return;
        await new Promise<void>((resolve) => (this.#wake = resolve));
      }
    } finally {
      this.ended = true;
    }
  }
}

export function modified(resourceVersion: number, data: Record<string, string> = {}): WatchEvent {
  return {
    type: 'MODIFIED',
    object: { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'x', resourceVersion: String(resourceVersion) }, data },
  };
}
