import { StatusError, type Status } from '../kube/status.ts';
import type { WatchEvent } from '../kube/watch-event.ts';
import { linkSignals, longLivedController, sleep, timeoutSignal } from '../lib/abort.ts';
import type { Random } from '../lib/backoff.ts';
import { realClock, type Clock } from '../lib/clock.ts';
import { DEFAULT_RETRY, retryAfterAnswer, retryAfterFailure, type RetryPolicy } from './retry.ts';
import { abortedError, closedError } from './transport-error.ts';
import type { Transport, TransportRequest, TransportResponse } from './transport.ts';
import { parseWarnings } from './warnings.ts';

export interface RequestOptions {
  clock?: Clock;
  random?: Random;
  retry?: Partial<RetryPolicy>;
  /** For one attempt, watches excepted; 60 s by default. */
  timeoutMs?: number;
  /** Sent with every request: User-Agent, Impersonate-*. */
  headers?: Record<string, string>;
  /** Called for each Warning header of an answer. */
  onWarning?: (text: string, request: TransportRequest) => void;
}

/** Sends requests with time limits, back-off and the caller's headers, and turns refusals into StatusError. */
export class Requests {
  readonly transport: Transport;
  readonly clock: Clock;
  readonly random: Random | undefined;
  #policy: RetryPolicy;
  #timeoutMs: number;
  #headers: Record<string, string>;
  #onWarning: RequestOptions['onWarning'];
  readonly #closing = longLivedController();

  constructor(transport: Transport, options: RequestOptions) {
    this.transport = transport;
    this.clock = options.clock ?? realClock;
    this.random = options.random;
    this.#policy = { ...DEFAULT_RETRY, ...options.retry };
    this.#timeoutMs = options.timeoutMs ?? 60_000;
    this.#headers = options.headers ?? {};
    this.#onWarning = options.onWarning;
  }

  /** @returns the body of a successful answer. @throws StatusError, TransportError */
  async send<T = unknown>(request: TransportRequest): Promise<T> {
    const complete = { ...request, headers: { ...this.#headers, ...request.headers } };
    for (let failures = 1; ; failures++) {
      let wait: number | undefined;
      try {
        const response = await this.#attempt(complete);
        if (this.#onWarning) for (const text of parseWarnings(response.headers.warning)) this.#onWarning(text, request);
        if (response.status < 400) return response.body as T;
        wait = retryAfterAnswer(complete, response, failures, this.#policy, this.random);
        if (wait === undefined) throw refusal(response);
      } catch (error) {
        if (error instanceof StatusError) throw error;
        wait = retryAfterFailure(complete, error, failures, this.#policy, this.random);
        if (wait === undefined) throw error;
      }
      await this.#pause(wait, request.signal);
    }
  }

  /** One watch connection; resuming is the caller's (see watch.ts). */
  async openWatch(request: TransportRequest): Promise<AsyncIterable<WatchEvent>> {
    return this.transport.watch({ ...request, headers: { ...this.#headers, ...request.headers } });
  }

  /** What is under way ends with it, also the pause before another try. */
  async close(): Promise<void> {
    this.#closing.abort();
    await this.transport.close();
  }

  async #attempt(request: TransportRequest): Promise<TransportResponse> {
    if (request.signal?.aborted) throw abortedError(request.signal);
    const timeout = timeoutSignal(this.clock, this.#timeoutMs, request.signal);
    try {
      return await this.transport.request({ ...request, signal: timeout.signal });
    } finally {
      timeout.dispose();
    }
  }

  async #pause(ms: number, signal: AbortSignal | undefined): Promise<void> {
    const either = linkSignals(signal, this.#closing.signal);
    try {
      await sleep(this.clock, ms, either.signal);
    } catch {
      throw signal?.aborted ? abortedError(signal) : closedError();
    } finally {
      either.dispose();
    }
  }
}

export function isStatusBody(body: unknown): body is Status {
  return typeof body === 'object' && body !== null && (body as Status).kind === 'Status' && (body as Status).apiVersion === 'v1';
}

/** The error for an answer of 400 and above; a proxy's plain page or an empty body still tells the code. */
export function refusal(response: TransportResponse): StatusError {
  if (isStatusBody(response.body)) return new StatusError(response.body);
  const text = typeof response.body === 'string' ? response.body.trim().slice(0, 200) : '';
  return new StatusError({
    kind: 'Status',
    apiVersion: 'v1',
    metadata: {},
    status: 'Failure',
    message: text === '' ? `the server answered ${response.status} without a reason` : text,
    reason: REASONS[response.status],
    code: response.status,
  });
}

const REASONS: Record<number, string> = {
  400: 'BadRequest',
  401: 'Unauthorized',
  403: 'Forbidden',
  404: 'NotFound',
  405: 'MethodNotAllowed',
  406: 'NotAcceptable',
  409: 'Conflict',
  410: 'Gone',
  413: 'RequestEntityTooLarge',
  415: 'UnsupportedMediaType',
  422: 'Invalid',
  429: 'TooManyRequests',
  500: 'InternalError',
  503: 'ServiceUnavailable',
  504: 'Timeout',
};
