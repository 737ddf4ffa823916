import { createServer, STATUS_CODES, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { pipeline, type Duplex } from 'node:stream';
import type { Clock } from '../../../lib/clock.ts';
import type { Log } from '../../../lib/log.ts';
import type { Admitted, Answered, Calls } from './calls.ts';
import type { GatewayMetrics } from './gateway-metrics.ts';
import { idFrom, responseHeaders, WEBSOCKET_HEADERS } from './model/forwarded-headers.ts';
import { pluginPath } from './model/plugin-path.ts';
import { isWebSocketRequest, WEBSOCKET } from './model/protocol-switch.ts';
import { Refusal, refusalBody, refusalHeaders } from './model/refusal.ts';
import { serveWithoutUpgrade } from './serve-without-upgrade.ts';

export interface GatewayServerOptions {
  calls: Calls;
  metrics: GatewayMetrics;
  /** Whether there is such an installation: only then its name is counted. */
  isKnown(tenant: string, plugin: string): boolean;
  /** Somebody was not let in. */
  onRefused(refusal: Refusal, request: IncomingMessage): void;
  clock: Clock;
  log: Log;
  /** Nothing passes for so long, and a connection is given up. */
  idleMs: number;
}

/** HTTP/1.1 in, HTTP/1.1 out. Bodies are never held: they pass as they come, as fast as the slower side takes them. */
export class GatewayServer {
  readonly #options: GatewayServerOptions;
  readonly #servers: Server[] = [];
  /** Connections that have switched to another protocol: no server of Node counts them. */
  readonly #switched = new Set<Duplex>();
  /** Connections with requests that are not answered yet, and how many. */
  readonly #answering = new Map<Duplex, number>();

  constructor(options: GatewayServerOptions) {
    this.#options = options;
  }

  /** One more address where it answers. @returns the port */
  listen(host: string | undefined, port: number): Promise<number> {
    const server = createServer(SERVER_OPTIONS);
    server.on('request', (request, response) => void this.#serve(request, response));
    server.on('upgrade', (request, socket, head) => {
      // Its answer would get among those before it, which are not through yet.
      if (this.#answering.has(socket)) socket.destroy();
      else if (isWebSocketRequest(request)) void this.#switch(request, socket, head);
      else serveWithoutUpgrade(server, request, socket, head);
    });
    server.on('clientError', (error: NodeJS.ErrnoException, socket) => {
      if (!socket.writable) return void socket.destroy(error);
      const status = error.code === 'ERR_HTTP_REQUEST_TIMEOUT' ? 408 : 400;
      socket.end(`${statusLine(status)}Connection: close\r\n\r\n`);
    });
    return new Promise((resolve, reject) => {
      server.once('error', reject);
      server.listen({ port, host, backlog: BACKLOG }, () => {
        this.#servers.push(server);
        resolve((server.address() as AddressInfo).port);
      });
    });
  }

  /** Takes no new requests, and lets those under way end for so long. */
  async stop(graceMs: number): Promise<void> {
    const closed = this.#servers.map((server) => new Promise<void>((resolve) => server.close(() => resolve())));
    for (const server of this.#servers) server.closeIdleConnections();
    const timer = this.#options.clock.setTimer(graceMs, () => this.#cut());
    timer.hold?.();
    for (const socket of this.#switched) socket.end();
    await Promise.all(closed);
    timer.cancel();
  }

  #cut(): void {
    for (const server of this.#servers) server.closeAllConnections();
    for (const socket of this.#switched) socket.destroy();
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const gone = new AbortController();
    response.once('close', () => gone.abort());
    this.#countAnswer(request.socket, response);
    try {
      const admitted = await this.#options.calls.admit(request);
      const answered = await this.#options.calls.send(request, admitted, gone.signal);
      passBack(answered, response, admitted, this.#options.idleMs);
    } catch (error) {
      this.#refuse(error, request, (refusal, headers, body) => {
        if (response.destroyed || response.headersSent) return void response.destroy();
        // What is left of a body that nobody reads would be taken for the next request.
        if (!request.complete) response.setHeader('connection', 'close');
        response
          .writeHead(refusal.status, { ...headers, 'content-length': Buffer.byteLength(body) })
          .end(request.method === 'HEAD' ? '' : body);
      });
    }
  }

  #countAnswer(socket: Duplex, response: ServerResponse): void {
    this.#answering.set(socket, (this.#answering.get(socket) ?? 0) + 1);
    response.once('close', () => {
      const left = this.#answering.get(socket)! - 1;
      if (left === 0) this.#answering.delete(socket);
      else this.#answering.set(socket, left);
    });
  }

  async #switch(request: IncomingMessage, socket: Duplex, head: Buffer): Promise<void> {
    const gone = new AbortController();
    socket.once('close', () => gone.abort());
    socket.on('error', () => socket.destroy());
    this.#switched.add(socket);
    socket.once('close', () => this.#switched.delete(socket));
    try {
      const admitted = await this.#options.calls.admit(request);
      const answered = await this.#options.calls.send(request, admitted, gone.signal);
      joinSockets(answered, socket, head, admitted);
    } catch (error) {
      this.#refuse(error, request, (refusal, headers, body) => {
        const lines = Object.entries({ ...headers, 'content-length': Buffer.byteLength(body), connection: 'close' });
        socket.end(`${statusLine(refusal.status)}${lines.map(([name, value]) => `${name}: ${value}\r\n`).join('')}\r\n${body}`);
      });
    }
  }

  #refuse(
    error: unknown,
    request: IncomingMessage,
    answer: (refusal: Refusal, headers: Record<string, string>, body: string) => void,
  ): void {
    const { clock, log, metrics, isKnown, onRefused } = this.#options;
    const refusal =
      error instanceof Refusal ? error : new Refusal('PLUGIN_FAILED', 'Cannot pass this request on: the gateway made a mistake');
    if (refusal !== error) log.error('a request failed unexpectedly', { error });
    const at = pluginPath(request.url ?? '');
    const known = at !== undefined && isKnown(at.tenant, at.plugin);
    metrics.refused(known ? at.tenant : '', known ? at.plugin : '', refusal.code);
    onRefused(refusal, request);
    const now = clock.now();
    const requestId = idFrom(undefined, now);
    const path = (request.url ?? '').split('?')[0].slice(0, 512);
    answer(refusal, { ...refusalHeaders(refusal), 'x-response-id': requestId }, refusalBody(refusal, { path, requestId, now }));
  }
}

// A body may take as long as it takes; heads may not. Later versions of Node ask before they give a connection up.
const SERVER_OPTIONS = {
  requestTimeout: 0,
  headersTimeout: 60_000,
  keepAliveTimeout: 65_000,
  shouldUpgradeCallback: isWebSocketRequest,
};

/** Callers that come faster than a busy machine takes them wait; with a short queue their connections would break. */
const BACKLOG = 4096;

function statusLine(status: number): string {
  return `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ''}\r\n`;
}

function passBack({ answer, ended }: Answered, response: ServerResponse, { facts }: Admitted, idleMs: number): void {
  const { response: from } = answer;
  if (answer.type === 'upgrade') {
    // Nobody asked to switch.
    answer.socket.destroy();
    ended(false);
    response.destroy();
    return;
  }
  response.writeHead(from.statusCode!, from.statusMessage, responseHeaders(from.rawHeaders, facts));
  // An event stream has a head long before its first event.
  response.flushHeaders();
  from.setTimeout(idleMs, () => from.destroy(new Error('nothing came for too long')));
  // A caller that hangs up before the end has not met a failure of the plugin.
  let isCallerGone = false;
  response.once('close', () => (isCallerGone = !from.destroyed));
  pipeline(from, response, (error) => ended(!error || isCallerGone));
}

/** @throws Refusal when the plugin switches to what nobody asked for */
function joinSockets({ answer, ended }: Answered, socket: Duplex, head: Buffer, { facts }: Admitted): void {
  const { response: from } = answer;
  const isSwitched = answer.type === 'upgrade';
  if (isSwitched && from.headers.upgrade?.toLowerCase() !== WEBSOCKET) {
    answer.socket.destroy();
    ended(false);
    throw new Refusal('PLUGIN_FAILED', 'Cannot pass the answer back: the plugin switched to another protocol than WebSocket');
  }
  const headers = [...responseHeaders(from.rawHeaders, facts), ...(isSwitched ? WEBSOCKET_HEADERS : ['Connection', 'close'])];
  let text = statusLine(from.statusCode!);
  for (let i = 0; i < headers.length; i += 2) text += `${headers[i]}: ${headers[i + 1]}\r\n`;
  socket.write(`${text}\r\n`);
  if (!isSwitched) {
    pipeline(from, socket, (error) => ended(!error));
    return;
  }
  const { socket: to, head: first } = answer;
  to.on('error', () => socket.destroy());
  if (first.length > 0) socket.write(first);
  if (head.length > 0) to.write(head);
  to.pipe(socket);
  socket.pipe(to);
  to.once('close', () => socket.destroy());
  socket.once('close', () => {
    to.destroy();
    ended(true);
  });
}
