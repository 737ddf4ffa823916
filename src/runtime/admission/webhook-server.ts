import { createServer, type Server } from 'node:https';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import type { Clock } from '../../lib/clock.ts';
import { errorText, type Log } from '../../lib/log.ts';
import { answerReview, NotAReview, type AdmissionHandler } from './review.ts';

export interface WebhookServerOptions {
  /** Handlers by path: `/validate-tenants`. */
  handlers: Record<string, AdmissionHandler>;
  /** What is read with GET, by path, for the host that was asked. */
  documents?: Record<string, (host: string) => { contentType: string; text: string }>;
  /** Read at start and again every minute; a pair that cannot be read leaves the one in use. */
  certificate(): Promise<{ cert: string; key: string }>;
  host?: string;
  port: number;
  clock: Clock;
  log: Log;
}

export interface WebhookServer {
  readonly port: number;
  /** Lets reviews under way finish. */
  stop(): Promise<void>;
}

/** The API server sends objects of up to 3 MiB, old and new, with some overhead. */
const MAX_BODY = 8 * 1024 * 1024;
const RELOAD_MS = 60_000;
/** Longer than API servers keep idle connections (90 s): one that is closed as it is used again is a refused request of somebody. */
const KEEP_ALIVE_MS = 180_000;

export async function startWebhookServer(options: WebhookServerOptions): Promise<WebhookServer> {
  let pair = await options.certificate();
  const underWay = new Set<Promise<void>>();
  const server = createServer({ ...pair, minVersion: 'TLSv1.2', keepAliveTimeout: KEEP_ALIVE_MS }, (request, response) => {
    const answered = new Promise<void>((resolve) => void response.once('close', () => resolve())).then(
      () => void underWay.delete(answered),
    );
    underWay.add(answered);
    void serve(options, request, response);
  });
  const sockets = new Set<Socket>();
  server.on('connection', (socket: Socket) => {
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
  });
  await listen(server, options.port, options.host);

  let reload = options.clock.setTimer(RELOAD_MS, onReload);
  // A timer, because mounted secrets are replaced through links that file watches do not follow.
  function onReload(): void {
    options
      .certificate()
      .then((next) => {
        if (next.cert !== pair.cert || next.key !== pair.key) server.setSecureContext(next);
        pair = next;
      })
      .catch((error: unknown) => options.log.warn('cannot reload the certificate of the admission webhooks', { error }));
    reload = options.clock.setTimer(RELOAD_MS, onReload);
  }

  return {
    port: (server.address() as AddressInfo).port,
    async stop() {
      reload.cancel();
      const closed = new Promise<void>((resolve) => void server.close(() => resolve()));
      server.closeIdleConnections();
      await Promise.all(underWay);
      // Connections that were opened ahead of a request are not idle to Node, and API servers keep them for minutes.
      for (const socket of sockets) socket.destroy();
      await closed;
    },
  };
}

function listen(server: Server, port: number, host: string | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, host, () => {
      server.removeListener('error', reject);
      resolve();
    });
  });
}

async function serve(options: WebhookServerOptions, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const answer = (status: number, body: string, type = 'text/plain'): void => {
    response.writeHead(status, { 'content-type': type, 'content-length': Buffer.byteLength(body) });
    response.end(body);
  };
  const path = (request.url ?? '').split('?')[0];
  if (path === '/healthz') return answer(200, 'ok');
  const document = Object.hasOwn(options.documents ?? {}, path) ? options.documents![path](request.headers.host ?? '') : undefined;
  if (document) return answer(200, document.text, document.contentType);
  const handler = Object.hasOwn(options.handlers, path) ? options.handlers[path] : undefined;
  if (!handler) return answer(404, `no admission webhook at ${path}`);
  if (request.method !== 'POST') return answer(405, 'admission reviews are sent with POST');
  const left = new AbortController();
  response.once('close', () => left.abort());
  try {
    const body = await readBody(request);
    if (body === undefined) return answer(413, `the review is larger than ${MAX_BODY} bytes`);
    const review = await answerReview(handler, JSON.parse(body), left.signal);
    return answer(200, JSON.stringify(review), 'application/json');
  } catch (error) {
    if (left.signal.aborted) return undefined;
    if (error instanceof NotAReview || error instanceof SyntaxError) return answer(400, errorText(error));
    options.log.error('cannot answer an admission review', { path, error });
    return answer(500, 'cannot answer the review');
  }
}

/** Undefined when it is too large. */
async function readBody(request: IncomingMessage): Promise<string | undefined> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of request) {
    size += (chunk as Buffer).length;
    if (size > MAX_BODY) return undefined;
    chunks.push(chunk as Buffer);
  }
  return Buffer.concat(chunks).toString('utf8');
}
