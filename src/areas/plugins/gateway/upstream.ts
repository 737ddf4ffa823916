import { Agent, request as sendRequest, type ClientRequest, type IncomingMessage, type RequestOptions } from 'node:http';
import type { Duplex, Readable } from 'node:stream';
import type { Clock } from '../../../lib/clock.ts';
import type { PlacedConnections, PlacedPod } from './placed-connections.ts';
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
  /** From the end of the body until the head of the answer is, and before that between two pieces of the body. */
  answerMs: number;
}

export type Answer =
  | { type: 'response'; response: IncomingMessage }
  | { type: 'upgrade'; response: IncomingMessage; socket: Duplex; head: Buffer };

/** A request that failed; with `isUnsent`, the Pod has seen nothing of it. */
export class UpstreamFailure extends Error {
  readonly isUnsent: boolean;
  readonly isTimeout: boolean;
  /** The caller did not go on with its body. */
  readonly isCallersFault: boolean;

  constructor(cause: Error, given: { isUnsent: boolean; isTimeout: boolean; isCallersFault: boolean }) {
    super(cause.message, { cause });
    this.name = 'UpstreamFailure';
    this.isUnsent = given.isUnsent;
    this.isTimeout = given.isTimeout;
    this.isCallersFault = given.isCallersFault;
  }
}

/** Asking twice is the same as asking once. */
const REPEATABLE = new Set(['GET', 'HEAD', 'OPTIONS', 'TRACE']);

/** Sends requests to Pods. */
export class Upstream {
  readonly #clock: Clock;
  readonly #kept = new Agent({ keepAlive: true, maxFreeSockets: 64 });
  readonly #fresh = new Agent({ keepAlive: false });

  readonly #placed: Pick<PlacedConnections, 'open' | 'close'>;

  constructor(clock: Clock, placed: Pick<PlacedConnections, 'open' | 'close'>) {
    this.#clock = clock;
    this.#placed = placed;
  }

  close(): void {
    this.#placed.close();
    this.#kept.destroy();
    this.#fresh.destroy();
  }

  /**
   * A request on a connection that is used again may meet a Pod that is just closing it, and then nobody knows whether it was seen. So only
   * what can be asked twice goes that way. Nothing of a body is read before the connection is there.
   * @throws UpstreamFailure
   */
  send({ host, port, placed }: Endpoint, outgoing: Outgoing, { connectMs, answerMs }: Timeouts, signal: AbortSignal): Promise<Answer> {
    const isRepeatable = REPEATABLE.has(outgoing.method) && outgoing.body === undefined;
    return new Promise((resolve, reject) => {
      const upstream = sendRequest({
        host,
        port,
        method: outgoing.method,
        path: outgoing.path,
        headers: outgoing.headers,
        setHost: false,
        ...(placed ? this.#through(placed, port, signal) : { agent: isRepeatable ? this.#kept : this.#fresh }),
        signal,
      });
      let isSent = false;
      let isTimeout = false;
      let isCallersFault = false;
      const { body } = outgoing;
      const within = (ms: number) =>
        this.#clock.setTimer(ms, () => {
          isTimeout = true;
          // A Pod that takes nothing makes the caller wait; else it is the caller that has sent nothing.
          isCallersFault = isSent && body !== undefined && !body.readableEnded && !upstream.writableNeedDrain;
          upstream.destroy(new Error(isCallersFault ? `no more of the body within ${ms} ms` : `no answer within ${ms} ms`));
        });
      let timer = within(connectMs);
      whenConnected(upstream, () => {
        isSent = true;
        again();
        if (!body) return void upstream.end();
        body.on('data', again).once('end', again);
        body.pipe(upstream);
      });
      const again = (): void => {
        timer.cancel();
        timer = within(answerMs);
      };
      const settled = (answer: Answer): void => {
        body?.off('data', again).off('end', again);
        timer.cancel();
        resolve(answer);
      };
      upstream.once('response', (response) => settled({ type: 'response', response }));
      upstream.once('upgrade', (response, socket, head) => settled({ type: 'upgrade', response, socket, head }));
      upstream.on('error', (error) => {
        body?.off('data', again).off('end', again);
        timer.cancel();
        const isUnsent = !isSent || (isRepeatable && upstream.reusedSocket && !isTimeout);
        reject(new UpstreamFailure(error, { isUnsent, isTimeout, isCallersFault }));
      });
    });
  }

  /** A connection of its own for each request: what costs is the tunnel, which stays. */
  #through(pod: PlacedPod, port: number, signal: AbortSignal): Pick<RequestOptions, 'createConnection'> {
    return {
      // And no agent: one would make connections of its own.
      createConnection: (_, created) => {
        this.#placed.open(pod, port, signal).then(
          (connection) => created(null, connection),
          (error: Error) => created(error, undefined as never),
        );
        return undefined;
      },
    };
  }
}

function whenConnected(upstream: ClientRequest, go: () => void): void {
  upstream.once('socket', (socket) => {
    if (socket.connecting) socket.once('connect', go);
    else go();
  });
}
