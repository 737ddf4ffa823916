import { Agent, request as sendRequest, type ClientRequest, type IncomingMessage } from 'node:http';
import type { Duplex, Readable } from 'node:stream';
import type { Clock } from '../../../lib/clock.ts';
import type { Endpoint } from './route-table.ts';

export interface Outgoing {
  method: string;
  path: string;
  headers: readonly string[];
  /** Absent: it has none. */
  body?: Readable;
}

export interface Timeouts {
  /** Until a connection is there. */
  connectMs: number;
  /** From then until the head of the answer is. */
  answerMs: number;
}

export type Answer =
  | { type: 'response'; response: IncomingMessage }
  | { type: 'upgrade'; response: IncomingMessage; socket: Duplex; head: Buffer };

/** A request that failed; with `isUnsent`, the Pod has seen nothing of it. */
export class UpstreamFailure extends Error {
  readonly isUnsent: boolean;
  readonly isTimeout: boolean;

  constructor(cause: Error, given: { isUnsent: boolean; isTimeout: boolean }) {
    super(cause.message, { cause });
    this.name = 'UpstreamFailure';
    this.isUnsent = given.isUnsent;
    this.isTimeout = given.isTimeout;
  }
}

/** Asking twice is the same as asking once. */
const REPEATABLE = new Set(['GET', 'HEAD', 'OPTIONS', 'TRACE']);

/** Sends requests to Pods. */
export class Upstream {
  readonly #clock: Clock;
  readonly #kept = new Agent({ keepAlive: true, maxFreeSockets: 64 });
  readonly #fresh = new Agent({ keepAlive: false });

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  close(): void {
    this.#kept.destroy();
    this.#fresh.destroy();
  }

  /**
   * A request on a connection that is used again may meet a Pod that is just closing it, and then nobody knows whether it was seen. So only
   * what can be asked twice goes that way. Nothing of a body is read before the connection is there.
   * @throws UpstreamFailure
   */
  send({ host, port }: Endpoint, outgoing: Outgoing, { connectMs, answerMs }: Timeouts, signal: AbortSignal): Promise<Answer> {
    const isRepeatable = REPEATABLE.has(outgoing.method) && outgoing.body === undefined;
    return new Promise((resolve, reject) => {
      const upstream = sendRequest({
        host,
        port,
        method: outgoing.method,
        path: outgoing.path,
        headers: outgoing.headers,
        setHost: false,
        agent: isRepeatable ? this.#kept : this.#fresh,
        signal,
      });
      let isSent = false;
      let isTimeout = false;
      const within = (ms: number) =>
        this.#clock.setTimer(ms, () => {
          isTimeout = true;
          upstream.destroy(new Error(`no answer within ${ms} ms`));
        });
      let timer = within(connectMs);
      whenConnected(upstream, () => {
        timer.cancel();
        timer = within(answerMs);
        isSent = true;
        if (outgoing.body) outgoing.body.pipe(upstream);
        else upstream.end();
      });
      const settled = (answer: Answer): void => {
        timer.cancel();
        resolve(answer);
      };
      upstream.once('response', (response) => settled({ type: 'response', response }));
      upstream.once('upgrade', (response, socket, head) => settled({ type: 'upgrade', response, socket, head }));
      upstream.on('error', (error) => {
        timer.cancel();
        const isUnsent = !isSent || (isRepeatable && upstream.reusedSocket && !isTimeout);
        reject(new UpstreamFailure(error, { isUnsent, isTimeout }));
      });
    });
  }
}

function whenConnected(upstream: ClientRequest, go: () => void): void {
  upstream.once('socket', (socket) => {
    if (socket.connecting) socket.once('connect', go);
    else go();
  });
}
