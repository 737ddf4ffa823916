import { createSecureServer, type Http2ServerRequest, type Http2ServerResponse, type ServerHttp2Session } from 'node:http2';
import { createServer, type Server } from 'node:https';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import type { TLSSocket } from 'node:tls';
import type { InMemoryHandler, TransportRequest } from '../../../src/client/transport.ts';
import type { TestPki } from './certificates.ts';

type Incoming = IncomingMessage | Http2ServerRequest;
type Outgoing = ServerResponse | Http2ServerResponse;

export interface TestServer {
  url: URL;
  connections: Set<Socket>;
  sessions: Set<ServerHttp2Session>;
  /** What each request came with. */
  seen: { authorization?: string; commonName?: string; httpVersion: string }[];
  stop(): Promise<void>;
}

/** A real TLS server on loopback that translates HTTP to a handler and back. */
export async function startHttpsServer(
  handler: InMemoryHandler,
  pki: TestPki,
  options: { http2: boolean; port?: number },
): Promise<TestServer> {
  const seen: TestServer['seen'] = [];
  const onRequest = (incoming: Incoming, outgoing: Outgoing): void => {
    const peer = (incoming.socket as TLSSocket).getPeerCertificate?.();
    seen.push({
      authorization: incoming.headers.authorization,
      commonName: peer?.subject?.CN as string | undefined,
      httpVersion: incoming.httpVersion,
    });
    void serve(handler, incoming, outgoing as ServerResponse);
  };
  const tls = { ...pki.server, ca: pki.caPem, requestCert: true, rejectUnauthorized: false };
  const server = options.http2 ? createSecureServer({ ...tls, allowHTTP1: true }, onRequest) : createServer(tls, onRequest);
  const connections = new Set<Socket>();
  const sessions = new Set<ServerHttp2Session>();
  server.on('session', (session: ServerHttp2Session) => sessions.add(session));
  server.on('secureConnection', (socket: Socket) => {
    connections.add(socket);
    socket.on('error', () => {});
    socket.once('close', () => connections.delete(socket));
  });
  await new Promise<void>((resolve) => server.listen(options.port ?? 0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: new URL(`https://127.0.0.1:${port}`),
    connections,
    sessions,
    seen,
    stop: () =>
      new Promise((resolve) => {
        (server as Server).close(() => resolve());
        for (const socket of connections) socket.destroy();
      }),
  };
}

async function serve(handler: InMemoryHandler, incoming: Incoming, outgoing: ServerResponse): Promise<void> {
  const left = new AbortController();
  outgoing.once('close', () => left.abort());
  try {
    const answer = await handler(await decode(incoming, left.signal));
    outgoing.writeHead(answer.status, answer.headers);
    if ('stream' in answer) {
      answer.stream.pipe(outgoing);
      return;
    }
    if (!('events' in answer)) {
      outgoing.end(answer.headers['content-type']?.includes('json') ? JSON.stringify(answer.body) : String(answer.body));
      return;
    }
    // Without this the headers of a watch would wait for its first event.
    outgoing.flushHeaders();
    for await (const event of answer.events) outgoing.write(`${JSON.stringify(event)}\n`);
    outgoing.end();
  } catch {
    outgoing.destroy();
  }
}

async function decode(incoming: Incoming, signal: AbortSignal): Promise<TransportRequest> {
  const chunks: Buffer[] = [];
  for await (const chunk of incoming) chunks.push(chunk as Buffer);
  const url = new URL(incoming.url!, 'https://server');
  const query: Record<string, string | string[]> = {};
  for (const name of new Set(url.searchParams.keys())) {
    const values = url.searchParams.getAll(name);
    query[name] = values.length === 1 ? values[0] : values;
  }
  return {
    method: incoming.method as TransportRequest['method'],
    path: url.pathname,
    query,
    headers: incoming.headers as Record<string, string>,
    contentType: incoming.headers['content-type'],
    body: chunks.length === 0 ? undefined : JSON.parse(Buffer.concat(chunks).toString('utf8')),
    signal,
  };
}
