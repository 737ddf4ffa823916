import { connect, constants, type ClientHttp2Session, type ClientHttp2Stream } from 'node:http2';
import type { Socket } from 'node:net';
import type { Clock } from '../../lib/clock.ts';
import { errorText } from '../../lib/log.ts';
import { abortedError, TransportError } from '../transport-error.ts';
import { plainHeaders, type HttpAnswer, type HttpConnections, type HttpRequest } from './exchange.ts';

export interface Http2Options {
  url: URL;
  clock: Clock;
  /** The socket on which HTTP/2 was negotiated first, then new ones. */
  dial(): Promise<Socket>;
}

/** Above this, or the server's own limit, another connection is opened. */
const MAX_STREAMS = 100;
/** The default of 64 KiB makes every list wait for round trips. */
const STREAM_WINDOW = 4 * 1024 * 1024;
const CONNECTION_WINDOW = 16 * 1024 * 1024;
const PING_EVERY_MS = 30_000;
const PING_TIMEOUT_MS = 15_000;

interface Session {
  session: ClientHttp2Session;
  streams: number;
  usable: boolean;
}

/** HTTP/2: many requests share a connection, watches included. */
export class Http2Connections implements HttpConnections {
  #options: Http2Options;
  #sessions = new Set<Session>();
  #opening: Promise<Session> | undefined;
  #closed = false;

  constructor(options: Http2Options) {
    this.#options = options;
  }

  async send(request: HttpRequest): Promise<HttpAnswer> {
    const session = this.#free() ?? (await (this.#opening ??= this.#open()));
    if (request.signal?.aborted) throw abortedError(request.signal);
    return this.#exchange(session.usable ? session : await this.#open(), request);
  }

  renew(): void {
    for (const session of this.#sessions) this.#retire(session);
  }

  close(): void {
    this.#closed = true;
    for (const { session } of this.#sessions) session.destroy();
    this.#sessions.clear();
  }

  #free(): Session | undefined {
    for (const session of this.#sessions) {
      const limit = Math.min(MAX_STREAMS, session.session.remoteSettings?.maxConcurrentStreams ?? MAX_STREAMS);
      if (session.usable && session.streams < limit) return session;
    }
    return undefined;
  }

  async #open(): Promise<Session> {
    try {
      const socket = await this.#options.dial();
      if (this.#closed) {
        socket.destroy();
        throw new TransportError('Closed', 'the transport was closed');
      }
      const session = connect(this.#options.url.origin, {
        createConnection: () => socket,
        settings: { enablePush: false, initialWindowSize: STREAM_WINDOW },
        maxSessionMemory: 100,
      });
      session.setLocalWindowSize(CONNECTION_WINDOW);
      const entry: Session = { session, streams: 0, usable: true };
      // A GOAWAY lets requests under way finish; new ones need another connection.
      session.once('goaway', () => this.#retire(entry));
      session.on('error', () => this.#forget(entry));
      session.once('close', () => this.#forget(entry));
      session.unref();
      this.#sessions.add(entry);
      this.#pingWhileUsed(entry);
      return entry;
    } finally {
      this.#opening = undefined;
    }
  }

  #retire(entry: Session): void {
    entry.usable = false;
    this.#sessions.delete(entry);
    if (entry.streams === 0) entry.session.close();
  }

  #forget(entry: Session): void {
    entry.usable = false;
    this.#sessions.delete(entry);
  }

  /** A connection that silently died would leave its watches waiting forever: TCP itself notices only after many minutes. */
  #pingWhileUsed(entry: Session): void {
    this.#options.clock.setTimer(PING_EVERY_MS, () => {
      if (entry.session.destroyed || entry.session.closed) return;
      if (entry.streams > 0) {
        const deadline = this.#options.clock.setTimer(PING_TIMEOUT_MS, () => entry.session.destroy(new Error('no answer to a ping')));
        entry.session.ping(() => deadline.cancel());
      }
      this.#pingWhileUsed(entry);
    });
  }

  #exchange(entry: Session, request: HttpRequest): Promise<HttpAnswer> {
    return new Promise((resolve, reject) => {
      let stream: ClientHttp2Stream;
      try {
        stream = entry.session.request(
          { ...lowerCase(request.headers), ':method': request.method, ':path': request.path },
          { endStream: request.body === undefined },
        );
      } catch (error) {
        reject(new TransportError('Unreachable', `Cannot send on a closed connection: ${errorText(error)}`, { cause: error }));
        return;
      }
      if (entry.streams++ === 0) entry.session.ref();
      const { signal } = request;
      const onAbort = (): void => stream.close(constants.NGHTTP2_CANCEL);
      signal?.addEventListener('abort', onAbort, { once: true });
      let failure: Error | undefined;
      let answered = false;
      stream.on('error', (error) => (failure = error));
      stream.once('close', () => {
        signal?.removeEventListener('abort', onAbort);
        if (--entry.streams === 0) entry.session.unref();
        if (entry.streams === 0 && !entry.usable) entry.session.close();
        // Errors are costly to make, and most streams end well.
        if (!answered) reject(signal?.aborted ? abortedError(signal) : streamError(stream, failure));
      });
      stream.once('response', (headers) => {
        answered = true;
        resolve({
          status: Number(headers[':status']),
          headers: plainHeaders(headers),
          body: stream,
          complete: () => !stream.aborted && stream.rstCode === constants.NGHTTP2_NO_ERROR,
        });
      });
      if (request.body !== undefined) stream.end(request.body);
    });
  }
}

/** A refused stream was not looked at by the server, so it counts as never sent. */
function streamError(stream: ClientHttp2Stream, failure: Error | undefined): TransportError {
  const refused = stream.rstCode === constants.NGHTTP2_REFUSED_STREAM;
  const text = failure ? errorText(failure) : `stream closed with code ${stream.rstCode}`;
  return new TransportError(refused ? 'Unreachable' : 'ConnectionLost', `the connection broke before the answer: ${text}`, {
    cause: failure,
  });
}

function lowerCase(headers: HttpRequest['headers']): HttpRequest['headers'] {
  const lower: HttpRequest['headers'] = {};
  for (const name of Object.keys(headers)) lower[name.toLowerCase()] = headers[name];
  return lower;
}
