import {
  Agent,
  createServer,
  request as httpRequest,
  type ClientRequest,
  type IncomingMessage,
  type Server,
  type ServerResponse,
} from 'node:http';
import { createServer as createSecureServer } from 'node:https';
import { connect, type Socket } from 'node:net';
import type { SecureContext, TLSSocket } from 'node:tls';
import type { Endpoint } from './model/endpoints.ts';
import { decide, type Routing, type Target } from './model/routes.ts';
import { forwarded, passedOn } from './proxy-headers.ts';

export interface IngressPorts {
  routing(): Routing;
  /** Undefined: there is no such Service. */
  endpoints(target: Target): Endpoint[] | undefined;
  certificateFor(name: string): SecureContext | undefined;
}

const CONNECT_MS = 5000;
/** A connection on which nothing moves for so long is closed, whoever is the silent one. */
const SILENCE_MS = 120_000;
const HEADERS_MS = 30_000;
/** How many Pods are tried for one request. */
const ATTEMPTS = 3;

/** The way of requests from outside to Pods. What it knows changes under it; connections stay. */
export class IngressProxy {
  readonly #ports: IngressPorts;
  readonly #agent = new Agent({ keepAlive: true, maxFreeSockets: 64, timeout: SILENCE_MS });
  readonly plain: Server;
  readonly secure: Server;
  #turn = 0;

  constructor(ports: IngressPorts) {
    this.#ports = ports;
    this.plain = createServer(this.#listener(false));
    this.secure = createSecureServer(
      {
        SNICallback: (name, done) => {
          const context = ports.certificateFor(name.toLowerCase());
          if (context === undefined) done(new Error(`no certificate for "${name}"`));
          else done(null, context);
        },
      },
      this.#listener(true),
    );
    for (const [server, isSecure] of [
      [this.plain, false],
      [this.secure, true],
    ] as const) {
      server.headersTimeout = HEADERS_MS;
      // Bodies take as long as they take, as long as something moves.
      server.requestTimeout = 0;
      server.timeout = SILENCE_MS;
      server.keepAliveTimeout = SILENCE_MS / 2;
      server.on('upgrade', (request: IncomingMessage, socket: Socket, head: Buffer) => this.#upgrade(request, socket, head, isSecure));
      server.on('clientError', (_error, socket) => {
        if ((socket as Socket).writable) (socket as Socket).end('HTTP/1.1 400 Bad Request\r\nconnection: close\r\n\r\n');
      });
    }
  }

  /** No new connections; those that are open may end what they began. */
  async close(): Promise<void> {
    await Promise.all(
      [this.plain, this.secure].map(
        (server) =>
          new Promise<void>((resolve) => {
            server.close(() => resolve());
            server.closeIdleConnections();
          }),
      ),
    );
    this.#agent.destroy();
  }

  #listener(secure: boolean) {
    return (request: IncomingMessage, response: ServerResponse): void => {
      const found = this.#find(request, secure);
      if ('refusal' in found) refuse(response, found.refusal);
      else this.#pass(request, response, this.#inTurn(found.endpoints), secure, ATTEMPTS);
    };
  }

  #find(request: IncomingMessage, secure: boolean): { endpoints: Endpoint[] } | { refusal: Refusal } {
    const host = hostOf(request);
    const path = (request.url ?? '/').split('?', 1)[0];
    const decision = decide(this.#ports.routing(), host, path, secure);
    if (decision.type === 'secure') return { refusal: { status: 308, text: 'Use HTTPS.', location: `https://${host}${request.url}` } };
    if (decision.type === 'none') return { refusal: { status: 404, text: `No Ingress is for ${host}${path}.` } };
    const endpoints = this.#ports.endpoints(decision.target);
    if (endpoints === undefined) return { refusal: { status: 503, text: 'The Service behind this address is not there.' } };
    return endpoints.length === 0 ? { refusal: { status: 503, text: 'No Pod behind this address is ready.' } } : { endpoints };
  }

  /** Each Pod in its turn; the others are behind it, should it not be there any more. */
  #inTurn(endpoints: Endpoint[]): Endpoint[] {
    const first = this.#turn++ % endpoints.length;
    return [...endpoints.slice(first), ...endpoints.slice(0, first)];
  }

  #pass(request: IncomingMessage, response: ServerResponse, [endpoint, ...others]: Endpoint[], secure: boolean, attempts: number): void {
    const upstream = this.#open(request, endpoint, secure);
    let begun = false;
    const begin = (): void => {
      begun = true;
      request.pipe(upstream);
    };
    upstream.once('socket', (socket: Socket) => {
      if (!socket.connecting) return begin();
      const timer = setTimeout(() => upstream.destroy(new Error('no answer in time')), CONNECT_MS);
      socket.once('connect', () => (clearTimeout(timer), begin()));
      socket.once('close', () => clearTimeout(timer));
    });
    upstream.setTimeout(SILENCE_MS, () => upstream.destroy(new Error('silence')));
    upstream.once('response', (answer) => {
      response.writeHead(answer.statusCode!, answer.statusMessage, passedOn(answer.headers));
      answer.pipe(response);
      answer.once('error', () => response.destroy());
      answer.once('aborted', () => response.destroy());
    });
    upstream.once('error', (error) => {
      // Nothing of the request has left yet, so that another Pod can have it.
      if (!begun && others.length > 0 && attempts > 1) this.#pass(request, response, others, secure, attempts - 1);
      else if (response.headersSent) response.destroy();
      else
        refuse(response, { status: begun && error.message === 'silence' ? 504 : 502, text: 'The Pod behind this address did not answer.' });
    });
    response.once('close', () => upstream.destroy());
  }

  #open(request: IncomingMessage, endpoint: Endpoint, secure: boolean): ClientRequest {
    return httpRequest({
      agent: this.#agent,
      host: endpoint.address,
      port: endpoint.port,
      method: request.method,
      path: request.url,
      headers: { ...passedOn(request.headers), ...forwarded(request.headers, clientOf(request), secure) },
    });
  }

  /** WebSockets and the like: once both sides agree, bytes pass as they are. */
  #upgrade(request: IncomingMessage, socket: Socket, head: Buffer, secure: boolean): void {
    const found = this.#find(request, secure);
    if ('refusal' in found) {
      const { status, text } = found.refusal;
      socket.end(`HTTP/1.1 ${status} Refused\r\nconnection: close\r\ncontent-length: ${text.length + 1}\r\n\r\n${text}\n`);
      return;
    }
    const [{ address, port }] = this.#inTurn(found.endpoints);
    const upstream = connect({ host: address, port, timeout: CONNECT_MS }, () => {
      upstream.setTimeout(0);
      socket.setTimeout(0);
      const headers = { ...request.headers, ...forwarded(request.headers, clientOf(request), secure) };
      const lines = Object.entries(headers).flatMap(([name, value]) => [value ?? []].flat().map((one) => `${name}: ${one}`));
      upstream.write(`${request.method} ${request.url} HTTP/1.1\r\n${lines.join('\r\n')}\r\n\r\n`);
      upstream.write(head);
      upstream.pipe(socket).pipe(upstream);
    });
    upstream.once('timeout', () => upstream.destroy());
    upstream.once('error', () => socket.destroy());
    upstream.once('close', () => socket.destroy());
    socket.once('error', () => upstream.destroy());
    socket.once('close', () => upstream.destroy());
  }
}

interface Refusal {
  status: number;
  text: string;
  location?: string;
}

function refuse(response: ServerResponse, { status, text, location }: Refusal): void {
  const body = `${text}\n`;
  response
    .writeHead(status, {
      'content-type': 'text/plain; charset=utf-8',
      'content-length': Buffer.byteLength(body),
      ...(location === undefined ? {} : { location }),
      ...(status === 503 ? { 'retry-after': '5' } : {}),
    })
    .end(body);
}

/** Who may be asked for by name is who the certificate was for: of the name in the header only what is before its port. */
function hostOf({ headers, socket }: IncomingMessage): string {
  const host = (headers.host ?? (socket as TLSSocket).servername ?? '').toString();
  return host.startsWith('[') ? host : host.replace(/:\d+$/, '');
}

function clientOf({ socket }: IncomingMessage): string {
  return (socket.remoteAddress ?? '').replace(/^::ffff:/, '');
}
