import type { IncomingMessage } from 'node:http';
import {
  createSecureServer,
  type Http2SecureServer,
  type Http2ServerRequest,
  type Http2ServerResponse,
  type SecureServerOptions,
  type ServerHttp2Session,
  type ServerHttp2Stream,
} from 'node:http2';
import type { AddressInfo, Server, Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { DEFAULT_CIPHERS } from 'node:tls';
import { failure, StatusError } from '../../../kube/status.ts';
import { realClock } from '../../../lib/clock.ts';
import { turns } from '../../../lib/turn-queue.ts';
import { CONNECT_PATH } from '../../../lib/tunnel/packet-stream.ts';
import { distinctIdentityHeaders } from '../auth/authentication/identity-headers.ts';
import type { Credentials } from '../auth/user.ts';
import type { Incoming, Outcome } from '../chain/chain.ts';
import { objectResponse } from '../chain/request.ts';
import { discardRest, readBytes, type NodeRequest } from './body-reader.ts';
import { credentialsOf, type ClientAuthorities } from './credentials.ts';
import { Handshakes } from './handshakes.ts';
import { isGone, respond, type NodeResponse } from './responder.ts';

export interface ListenerOptions {
  address: string;
  port: number;
  certificate: string;
  key: string;
  authorities: ClientAuthorities;
  handle(incoming: Incoming): Promise<Outcome>;
  /** Takes a connection that leaves HTTP (WebSocket, SPDY). What it rejects with is written to the client. */
  upgrade?(incoming: Incoming, request: IncomingMessage, socket: Duplex, head: Buffer): Promise<void>;
  /** Takes the tunnel of a node: a request that stays open in both directions. */
  tunnel?(credentials: Credentials, stream: ServerHttp2Stream): Promise<void>;
  onError(error: unknown): void;
}

const TCP_KEEP_ALIVE_MS = 60_000;
/** As kube-apiserver: the server's order counts, and AES with 128 bits comes first. It costs a fifth less per byte than 256 bits. */
const CIPHERS = `TLS_AES_128_GCM_SHA256:${DEFAULT_CIPHERS}`;
const FLUSH_MS = 50;
const SHUTTING_DOWN = objectResponse(503, failure('ServiceUnavailable', 'the server is shutting down, please try again later', {}).status);

/** The TLS port: HTTP/2 and HTTP/1.1 on one socket, client certificates asked for and never required. */
export class Listener {
  readonly #server: Http2SecureServer;
  readonly #options: ListenerOptions;
  readonly #sockets = new Set<Socket>();
  readonly #sessions = new Set<ServerHttp2Session>();
  readonly #entrances = new Set<Server>();
  #answering = 0;
  #stopping: { answered(): void } | undefined;

  constructor(options: ListenerOptions) {
    this.#options = options;
    this.#server = createSecureServer({
      allowHTTP1: true,
      cert: options.certificate,
      key: options.key,
      ca: [options.authorities.client, options.authorities.frontProxy],
      requestCert: true,
      rejectUnauthorized: false,
      minVersion: 'TLSv1.2',
      ciphers: CIPHERS,
      // As many streams as kube-apiserver allows: all that arrive in one packet, or end with their connection, do so in one turn.
      settings: { maxConcurrentStreams: 100, initialWindowSize: 1024 * 1024 },
      maxSessionMemory: 64,
      pauseOnConnect: true,
    } as SecureServerOptions);
    // Idle connections of kubectl and client-go live for minutes, and Node's own idle timer is set anew with every request: TCP
    // keep-alive finds the dead ones instead.
    Object.assign(this.#server, { keepAliveTimeout: 0, headersTimeout: 60_000, requestTimeout: 300_000 });
    this.#server.setTimeout(0);
    this.#server.on('request', (request: Http2ServerRequest, response: Http2ServerResponse) => this.#onRequest(request, response));
    const [beginTls] = this.#server.listeners('connection') as ((socket: Socket) => void)[];
    const handshakes = new Handshakes(realClock, (socket) => {
      if (socket.destroyed) handshakes.ended();
      else beginTls.call(this.#server, socket);
    });
    this.#server.on('secureConnection', () => handshakes.ended());
    this.#server.on('tlsClientError', () => handshakes.ended());
    this.#server.off('connection', beginTls);
    this.#server.on('connection', (socket: Socket) => {
      handshakes.add(socket);
      this.#sockets.add(socket);
      socket.setNoDelay(true);
      socket.setKeepAlive(true, TCP_KEEP_ALIVE_MS);
      socket.once('close', () => this.#sockets.delete(socket));
    });
    this.#server.on('session', (session: ServerHttp2Session) => {
      this.#sessions.add(session);
      session.once('close', () => this.#sessions.delete(session));
    });
    this.#server.on('sessionError', () => {});
    this.#server.on('upgrade', (request: IncomingMessage, socket: Duplex, head: Buffer) => this.#onUpgrade(request, socket, head));
  }

  async listen(): Promise<number> {
    const { address, port } = this.#options;
    await new Promise<void>((resolve, reject) => {
      this.#server.once('error', reject);
      this.#server.listen(port, address, () => {
        this.#server.off('error', reject);
        this.#server.on('error', (error) => this.#options.onError(error));
        resolve();
      });
    });
    return (this.#server.address() as AddressInfo).port;
  }

  /** Serves what comes in at another listening socket too. @returns what closes it; connections stay. */
  enterBy(entrance: Server): () => void {
    Object.assign(entrance, { pauseOnConnect: true });
    entrance.on('connection', (socket) => this.#server.emit('connection', socket));
    entrance.on('error', (error) => this.#options.onError(error));
    const close = () => {
      if (this.#entrances.delete(entrance)) entrance.close();
    };
    this.#entrances.add(entrance);
    if (this.#stopping !== undefined) close();
    return close;
  }

  /** For connections that come from now on. */
  replaceCertificate(certificate: string, key: string): void {
    this.#server.setSecureContext({
      cert: certificate,
      key,
      ca: [this.#options.authorities.client, this.#options.authorities.frontProxy],
      minVersion: 'TLSv1.2',
      ciphers: CIPHERS,
    });
  }

  /** Takes no new connections, gives running requests a moment, then closes what is left. Watches are to be ended before. */
  async close(graceMs = 2000): Promise<void> {
    const closed = new Promise<void>((resolve) => this.#server.close(() => resolve()));
    for (const entrance of this.#entrances) entrance.close();
    this.#entrances.clear();
    await new Promise<void>((resolve) => {
      this.#stopping = { answered: resolve };
      if (this.#answering === 0) resolve();
      else setTimeout(resolve, graceMs).unref();
    });
    // The last answers may still be on their way through TLS.
    for (const session of this.#sessions) session.close();
    const timer = setTimeout(() => {
      for (const socket of this.#sockets) socket.destroy();
    }, FLUSH_MS);
    // Those that came by an entrance are not counted by the server.
    await Promise.all([...this.#sockets].map((socket) => new Promise<void>((resolve) => socket.once('close', () => resolve()))));
    await closed;
    clearTimeout(timer);
  }

  #onRequest(request: NodeRequest, response: NodeResponse): void {
    const { tunnel, authorities } = this.#options;
    if (tunnel !== undefined && request.url === CONNECT_PATH && 'stream' in request) {
      const headers = distinctIdentityHeaders(request.headers, request.rawHeaders);
      tunnel(credentialsOf(request, headers, authorities), request.stream).catch((error: unknown) => this.#options.onError(error));
      return;
    }
    this.#answering++;
    const done = () => {
      if (--this.#answering === 0) this.#stopping?.answered();
    };
    this.#serve(request, response).then(done, (error: unknown) => {
      this.#options.onError(error);
      response.destroy();
      done();
    });
  }

  #onUpgrade(request: IncomingMessage, socket: Duplex, head: Buffer): void {
    socket.on('error', () => {});
    const refuse = (error: unknown) => {
      const { status } = error instanceof StatusError ? error : failure('InternalError', 'Internal error occurred', {});
      const body = JSON.stringify(status);
      const head = `HTTP/1.1 ${status.code} ${status.reason ?? ''}\r\nContent-Type: application/json\r\nContent-Length: ${Buffer.byteLength(body)}\r\nConnection: close\r\n\r\n`;
      socket.end(head + body);
    };
    if (this.#options.upgrade === undefined) {
      refuse(failure('BadRequest', 'Upgrade request required'));
      return;
    }
    // The client goes away with its socket.
    const closed = new AbortController();
    socket.once('close', () => closed.abort());
    this.#options
      .upgrade(
        this.#incomingOf(request, () => closed.signal),
        request,
        socket,
        head,
      )
      .catch(refuse);
  }

  async #serve(request: NodeRequest, response: NodeResponse): Promise<void> {
    // One packet can begin hundreds of requests, and one commit can be the end of as many.
    const arrival = turns.share();
    if (arrival !== undefined) await arrival;
    if (this.#stopping !== undefined) return respond(response, SHUTTING_DOWN, closing(response));
    const { response: answer, auditID, warnings } = await this.#options.handle(this.#incoming(request, response));
    const turn = turns.share();
    if (turn !== undefined) await turn;
    if (isGone(response)) return;
    const headers: Record<string, string | number | string[]> = { 'audit-id': auditID, 'cache-control': 'no-cache, private' };
    if (warnings.length > 0) headers.warning = warnings.slice(0, 20).map(warningHeader);
    if (this.#stopping !== undefined) Object.assign(headers, closing(response));
    if (answer.status === 413) discardRest(request);
    await respond(response, answer, headers);
  }

  #incoming(request: NodeRequest, response: NodeResponse): Incoming {
    let controller: AbortController | undefined;
    const incoming = this.#incomingOf(request, () => {
      if (controller === undefined) {
        const made = new AbortController();
        controller = made;
        response.once('close', () => made.abort(failure('', 'the client closed the connection', undefined, 499)));
      }
      return controller.signal;
    });
    incoming.raw = { request, response };
    return incoming;
  }

  #incomingOf(request: NodeRequest, signal: () => AbortSignal): Incoming {
    const headers = distinctIdentityHeaders(request.headers, request.rawHeaders);
    return {
      method: request.method ?? 'GET',
      url: request.url ?? '/',
      headers,
      identity: { credentials: credentialsOf(request, headers, this.#options.authorities) },
      body: {
        contentType: request.headers['content-type'] ?? '',
        read: () => readInTurn(request),
      },
      signal,
      sourceAddress: request.socket.remoteAddress ?? '',
    };
  }
}

/** A body that has come begins the real work of its request, and many may come at once. */
async function readInTurn(request: NodeRequest): Promise<{ bytes: Uint8Array }> {
  const bytes = await readBytes(request);
  const turn = turns.share();
  if (turn !== undefined) await turn;
  return { bytes };
}

/** HTTP/2 has no header for it: there the session says so. */
function closing(response: NodeResponse): Record<string, string> {
  return 'stream' in response ? {} : { connection: 'close' };
}

/** RFC 7234 form; quotes and control characters would break the header. */
function warningHeader(text: string): string {
  const safe = text
    .replaceAll('\\', '\\\\')
    .replaceAll('"', '\\"')
    // oxlint-disable-next-line no-control-regex
    .replace(/[\u0000-\u001f\u007f-\uffff]/g, ' ');
  return `299 - "${safe.slice(0, 4096)}"`;
}
