import type { Socket } from 'node:net';
import type { TLSSocket } from 'node:tls';
import { isStatusError } from '../../kube/status.ts';
import { longLivedController, orAborted } from '../../lib/abort.ts';
import { realClock, type Clock } from '../../lib/clock.ts';
import type { Credentials } from '../config/credentials.ts';
import { queryText } from '../query.ts';
import { refusal } from '../requests.ts';
import { abortedError, closedError } from '../transport-error.ts';
import type { ConnectedSocket, Transport, TransportRequest } from '../transport.ts';
import { dial, type ServerEndpoint } from './connector.ts';
import type { HttpAnswer, HttpConnections, HttpRequest } from './exchange.ts';
import { Http1Connections } from './http1-connections.ts';
import { Http2Connections } from './http2-connections.ts';
import { openWebSocket } from './open-web-socket.ts';
import { bodyStream, readBody, readEvents } from './read-body.ts';

export interface HttpTransportOptions {
  endpoint: ServerEndpoint;
  /** Read for each new connection, so that a rotated CA is taken up. Absent: the system's CAs. */
  ca?: () => Promise<string | undefined>;
  credentials: Credentials;
  /** Impersonate-*, User-Agent. */
  headers?: Record<string, string | string[]>;
  clock?: Clock;
}

/**
 * Requests over TLS, HTTP/2 when the server offers it. Built on node:http2 and node:https: undici 7 sends requests that were under way
 * again when an HTTP/2 server says GOAWAY, writes included.
 */
export function createHttpTransport(options: HttpTransportOptions): Transport {
  const { endpoint, credentials, clock = realClock } = options;
  const basePath = endpoint.url.pathname.replace(/\/$/, '');
  let connections: Promise<HttpConnections> | undefined;
  let connected: HttpConnections | undefined;
  let certificate: string | undefined;
  const closing = longLivedController();

  const open = async (alpn: string[]): Promise<Socket | TLSSocket> => {
    const [ca, pair] = await Promise.all([options.ca?.(), credentials.certificate()]);
    certificate = pair?.cert;
    return dial(endpoint, { ca, cert: pair?.cert, key: pair?.key }, alpn, closing.signal);
  };

  const connect = (): Promise<HttpConnections> =>
    (connections ??= chooseProtocol(endpoint, clock, open).then(
      (pool) => (connected = pool),
      (error: unknown) => {
        connections = undefined;
        throw error;
      },
    ));

  const attempt = async (request: TransportRequest): Promise<HttpAnswer> => {
    if (closing.signal.aborted) throw closedError();
    if (request.signal?.aborted) throw abortedError(request.signal);
    const pool = connected ?? (await waitFor(connect(), request.signal));
    const [headers, pair] = await Promise.all([credentials.headers(), credentials.certificate()]);
    if (pair?.cert !== certificate) pool.renew();
    return pool.send(encode(request, basePath, { ...options.headers, ...headers }));
  };

  const send = async (request: TransportRequest): Promise<HttpAnswer> => {
    const answer = await attempt(request);
    if (answer.status !== 401 || !credentials.refresh()) return answer;
    answer.body.destroy();
    return attempt(request);
  };

  return {
    async request(request) {
      const answer = await send(request);
      return { status: answer.status, headers: answer.headers, body: await readBody(answer, request.signal) };
    },
    async watch(request) {
      const answer = await send(request);
      if (answer.status >= 400) {
        throw refusal({ status: answer.status, headers: answer.headers, body: await readBody(answer, request.signal) });
      }
      return readEvents(answer, request.signal);
    },
    async stream(request) {
      const answer = await send(request);
      return { status: answer.status, headers: answer.headers, body: bodyStream(answer, request.signal) };
    },
    async connect(request, protocols) {
      const attemptOne = async (): Promise<ConnectedSocket> => {
        if (closing.signal.aborted) throw closedError();
        const [headers, socket] = await waitFor(Promise.all([credentials.headers(), open(['http/1.1'])]), request.signal);
        return openWebSocket(socket, endpoint.url.host, encode(request, basePath, { ...options.headers, ...headers }), protocols);
      };
      try {
        return await attemptOne();
      } catch (error) {
        if (!isStatusError(error, 'Unauthorized') || !credentials.refresh()) throw error;
        return attemptOne();
      }
    },
    async close() {
      // Also what is being dialled: an address that nobody answers at would be waited for.
      closing.abort();
      await connections?.then(
        (pool) => pool.close(),
        () => {},
      );
    },
  };
}

/** The first connection tells which HTTP the server speaks, and serves the first request. */
async function chooseProtocol(
  endpoint: ServerEndpoint,
  clock: Clock,
  open: (alpn: string[]) => Promise<Socket | TLSSocket>,
): Promise<HttpConnections> {
  const secure = endpoint.url.protocol === 'https:';
  let first: Socket | undefined = await open(['h2', 'http/1.1']);
  const takeFirst = (): Socket | undefined => {
    const socket = first?.destroyed ? undefined : first;
    first = undefined;
    return socket;
  };
  if (secure && (first as TLSSocket).alpnProtocol === 'h2') {
    return new Http2Connections({ url: endpoint.url, clock, dial: async () => takeFirst() ?? (await open(['h2'])) });
  }
  return new Http1Connections({ host: endpoint.url.host, secure, dial: async () => takeFirst() ?? (await open(['http/1.1'])) });
}

async function waitFor<T>(promise: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  try {
    return await orAborted(promise, signal);
  } catch (error) {
    throw signal?.aborted ? abortedError(signal) : error;
  }
}

function encode(request: TransportRequest, basePath: string, headers: HttpRequest['headers']): HttpRequest {
  const all: HttpRequest['headers'] = { Accept: 'application/json', ...headers, ...request.headers };
  let body: Buffer | undefined;
  if (request.body !== undefined) {
    body = Buffer.from(typeof request.body === 'string' ? request.body : JSON.stringify(request.body));
    all['Content-Type'] = request.contentType ?? 'application/json';
    all['Content-Length'] = String(body.length);
  }
  return {
    method: request.method,
    path: `${basePath}${request.path}${queryText(request.query)}`,
    headers: all,
    body,
    signal: request.signal,
  };
}
