import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer, type Server } from 'node:https';
import type { AddressInfo, Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { TLSSocket } from 'node:tls';
import { failure, isStatusError } from '../../../kube/status.ts';
import { realClock, type Clock } from '../../../lib/clock.ts';
import { KUBELET_CLIENT_COMMON_NAME } from '../../../lib/pki/ensure-pki.ts';
import { parseLogQuery } from './log-query.ts';
import { parseNodePath, type NodeRoute } from './node-path.ts';
import type { ContainerTarget, PodAccess } from './pod-access.ts';
import { refuse, refuseUpgrade } from './refusal.ts';
import { serveAttach, serveExec, servePortForwarding, type StreamContext, type UpgradeRequest } from './streams-handler.ts';
import { resourceMetrics, summaryOf } from './usage-report.ts';

export interface NodeServerOptions {
  nodeName: string;
  access: PodAccess;
  tls: ServingPair;
  /** PEM of the authority that signs the API server's client certificate. */
  clientAuthority: string;
  /** Common names that are let in: everybody's certificate is signed by that authority. */
  clientNames?: readonly string[];
  address: string;
  /** A free one when absent. */
  port?: number;
  clock?: Clock;
  onError?: (error: unknown) => void;
}

export interface ServingPair {
  /** PEM. */
  certificate: string;
  key: string;
}

export interface NodeServer {
  /** @returns the port. */
  listen(): Promise<number>;
  /** For new connections. */
  renew(tls: ServingPair, clientAuthority: string): void;
  /** Ends all connections, streams included. */
  close(): Promise<void>;
}

const TCP_KEEP_ALIVE_MS = 30_000;
/** As the kubelet's streamingConnectionIdleTimeout. */
const STREAM_IDLE_MS = 4 * 3600 * 1000;

/** The kubelet's HTTP API: what the API server asks a node for on behalf of kubectl. */
export function createNodeServer(options: NodeServerOptions): NodeServer {
  const onError = options.onError ?? (() => {});
  const context: StreamContext = { access: options.access, clock: options.clock ?? realClock };
  const names = new Set(options.clientNames ?? [KUBELET_CLIENT_COMMON_NAME]);
  const sockets = new Set<Socket>();
  const server = tlsServer(options, sockets);

  server.on('request', (request: IncomingMessage, response: ServerResponse) => {
    const serve = async (): Promise<void> => {
      const { route, query } = routeOf(request, names);
      if (request.method !== 'GET') throw failure('MethodNotAllowed', '405: Method Not Allowed');
      await answer(options, route, query, response);
    };
    serve().catch((error: unknown) => {
      if (!isStatusError(error)) onError(error);
      refuse(response, error);
    });
  });

  server.on('upgrade', (request: IncomingMessage, socket: Duplex, head: Buffer) => {
    socket.on('error', () => {});
    (socket as TLSSocket).setTimeout(STREAM_IDLE_MS, () => socket.destroy());
    const serve = async (): Promise<void> => {
      const { route, query } = routeOf(request, names);
      await upgrade(context, route, { request, socket, head, query });
    };
    serve().catch((error: unknown) => {
      if (isStatusError(error)) return refuseUpgrade(socket, error);
      onError(error);
      socket.destroy();
    });
  });

  return {
    listen: () => listen(server, options),
    renew: ({ certificate, key }, ca) => server.setSecureContext({ cert: certificate, key, ca, minVersion: 'TLSv1.2' }),
    async close() {
      const closed = new Promise<void>((resolve) => void server.close(() => resolve()));
      for (const socket of sockets) socket.destroy();
      await closed;
    },
  };
}

function tlsServer({ tls, clientAuthority }: NodeServerOptions, sockets: Set<Socket>): Server {
  const server = createServer({
    cert: tls.certificate,
    key: tls.key,
    ca: clientAuthority,
    requestCert: true,
    rejectUnauthorized: true,
    minVersion: 'TLSv1.2',
  });
  server.on('connection', (socket: Socket) => {
    sockets.add(socket);
    socket.setNoDelay(true);
    socket.setKeepAlive(true, TCP_KEEP_ALIVE_MS);
    socket.once('close', () => sockets.delete(socket));
  });
  server.on('tlsClientError', () => {});
  return server;
}

async function listen(server: Server, { port = 0, address, onError = () => {} }: NodeServerOptions): Promise<number> {
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, address, () => {
      server.off('error', reject);
      server.on('error', onError);
      resolve();
    });
  });
  return (server.address() as AddressInfo).port;
}

/** What is asked for, if whoever asks may. @throws StatusError */
function routeOf(request: IncomingMessage, names: ReadonlySet<string>): { route: NodeRoute; query: URLSearchParams } {
  const { CN } = (request.socket as TLSSocket).getPeerCertificate().subject ?? {};
  if (typeof CN !== 'string' || !names.has(CN)) throw failure('Forbidden', 'Forbidden');
  const [path, query] = (request.url ?? '/').split('?', 2);
  const route = parseNodePath(path);
  if (route === undefined) throw failure('NotFound', '404 page not found');
  return { route, query: new URLSearchParams(query) };
}

function upgrade(context: StreamContext, route: NodeRoute, request: UpgradeRequest): Promise<void> {
  switch (route.kind) {
    case 'exec':
      return serveExec(context, request, route.target);
    case 'attach':
      return serveAttach(context, request, route.target);
    case 'portForward':
      return servePortForwarding(context, request, route.target);
    case 'logs':
    case 'summary':
    case 'resourceMetrics':
    case 'pods':
    case 'healthz':
      throw failure('BadRequest', 'this path does not speak another protocol than HTTP');
  }
}

async function answer(
  { access, nodeName }: NodeServerOptions,
  route: NodeRoute,
  query: URLSearchParams,
  response: ServerResponse,
): Promise<void> {
  switch (route.kind) {
    case 'logs':
      return answerLogs(access, route.target, query, response);
    case 'summary':
      return send(response, 'application/json', JSON.stringify(summaryOf(nodeName, await access.usage())));
    case 'resourceMetrics':
      return send(response, 'text/plain; version=0.0.4; charset=utf-8', resourceMetrics(await access.usage()));
    case 'pods':
      return send(
        response,
        'application/json',
        JSON.stringify({ kind: 'PodList', apiVersion: 'v1', metadata: {}, items: await access.pods() }),
      );
    case 'healthz':
      return send(response, 'text/plain; charset=utf-8', 'ok');
    case 'exec':
    case 'attach':
    case 'portForward':
      throw failure('BadRequest', 'Upgrade request required');
  }
}

async function answerLogs(access: PodAccess, target: ContainerTarget, query: URLSearchParams, response: ServerResponse): Promise<void> {
  const gone = new AbortController();
  response.once('close', () => gone.abort());
  const log = await access.logs(target, parseLogQuery(query), gone.signal);
  response.writeHead(200, { 'content-type': 'text/plain' });
  // A log that is followed may have nothing to say for long.
  response.flushHeaders();
  try {
    await pipeline(log, response);
  } catch (error) {
    // The client left, or the log broke: then it must not look complete.
    response.destroy();
    if (!gone.signal.aborted) throw error;
  }
}

function send(response: ServerResponse, contentType: string, body: string): void {
  response.writeHead(200, { 'content-type': contentType, 'content-length': Buffer.byteLength(body) });
  response.end(body);
}
