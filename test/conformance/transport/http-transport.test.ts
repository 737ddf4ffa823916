import { connect } from 'node:net';
import { createServer as createHttpServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeAll, expect, test, vi } from 'vitest';
import { certificateCredentials, noCredentials, type Credentials } from '../../../src/client/config/credentials.ts';
import { createHttpTransport, type HttpTransportOptions } from '../../../src/client/http/http-transport.ts';
import type { Transport } from '../../../src/client/transport.ts';
import { failure } from '../../../src/kube/status.ts';
import { makeTestPki, type TestPki } from './certificates.ts';
import { startHttpsServer, type TestServer } from './https-server.ts';
import { modified, ScriptedApi } from './scripted-api.ts';

let pki: TestPki;
beforeAll(async () => {
  pki = await makeTestPki();
});

const cleanup: (() => Promise<void> | void)[] = [];
afterEach(async () => {
  for (const undo of cleanup.splice(0).reverse()) await undo();
});

async function serve(api = new ScriptedApi(), http2 = true): Promise<TestServer> {
  const server = await startHttpsServer(api.handler, pki, { http2 });
  cleanup.push(() => server.stop());
  return server;
}

function transportTo(url: URL, options: Partial<HttpTransportOptions> = {}): Transport {
  const transport = createHttpTransport({
    endpoint: { url },
    ca: () => Promise.resolve(pki.caPem),
    credentials: noCredentials,
    ...options,
  });
  cleanup.push(() => transport.close());
  return transport;
}

const object = { method: 'GET', path: '/object' } as const;

test('a server with an unknown CA is refused with TlsFailed', async () => {
  const { url } = await serve();
  const other = await makeTestPki();
  await expect(transportTo(url, { ca: () => Promise.resolve(other.caPem) }).request(object)).rejects.toMatchObject({ code: 'TlsFailed' });
});

test('a certificate for another name is refused, and accepted under tls-server-name or without verification', async () => {
  const { url } = await serve();
  await expect(transportTo(url, { endpoint: { url, tlsServerName: 'elsewhere' } }).request(object)).rejects.toMatchObject({
    code: 'TlsFailed',
  });
  expect((await transportTo(url, { endpoint: { url, tlsServerName: 'localhost' } }).request(object)).status).toBe(200);
  const insecure = transportTo(url, { endpoint: { url, insecureSkipTlsVerify: true }, ca: undefined });
  expect((await insecure.request(object)).status).toBe(200);
});

test('a port that nobody listens on is Unreachable', async () => {
  const server = await serve();
  await server.stop();
  await expect(transportTo(server.url).request(object)).rejects.toMatchObject({ code: 'Unreachable' });
});

test.each([true, false])('a client certificate reaches the server (http2: %s)', async (http2) => {
  const server = await serve(new ScriptedApi(), http2);
  const credentials = certificateCredentials(() => Promise.resolve(pki.client));
  await transportTo(server.url, { credentials }).request(object);
  expect(server.seen[0]).toMatchObject({ commonName: 'alice', httpVersion: http2 ? '2.0' : '1.1' });
});

test('a refused token is replaced once', async () => {
  const api = new ScriptedApi();
  const tokens = ['old', 'new'];
  const server = await startHttpsServer(
    (request) =>
      request.headers?.authorization === 'Bearer new'
        ? api.handler(request)
        : Promise.resolve({
            status: 401,
            headers: { 'content-type': 'application/json' },
            body: failure('Unauthorized', 'Unauthorized').status,
          }),
    pki,
    { http2: true },
  );
  cleanup.push(() => server.stop());
  const credentials: Credentials = {
    ...noCredentials,
    headers: () => Promise.resolve({ Authorization: `Bearer ${tokens[0]}` }),
    refresh: () => tokens.length > 1 && tokens.shift() !== undefined,
  };
  expect((await transportTo(server.url, { credentials }).request(object)).status).toBe(200);
  tokens[0] = 'worse';
  expect((await transportTo(server.url, { credentials }).request(object)).status).toBe(401);
});

test('a rotated client certificate is used for new requests', async () => {
  const server = await serve();
  let pair: TestPki['client'] | undefined;
  const credentials: Credentials = { ...noCredentials, certificate: () => Promise.resolve(pair) };
  const transport = transportTo(server.url, { credentials });
  await transport.request(object);
  pair = pki.client;
  await transport.request(object);
  expect(server.seen.map((seen) => seen.commonName)).toEqual([undefined, 'alice']);
});

test.each([true, false])('a watch throws ConnectionLost when the connection breaks (http2: %s)', async (http2) => {
  const api = new ScriptedApi();
  const server = await serve(api, http2);
  const events = await transportTo(server.url).watch({ method: 'GET', path: '/watch' });
  api.watches[0].push(modified(1));
  const seen: string[] = [];
  const reading = (async () => {
    for await (const event of events) {
      seen.push(event.type);
      for (const socket of server.connections) socket.destroy();
    }
  })();
  await expect(reading).rejects.toMatchObject({ code: 'ConnectionLost' });
  expect(seen).toEqual(['MODIFIED']);
});

test('GOAWAY lets a watch go on while new requests take another connection', async () => {
  const api = new ScriptedApi();
  const server = await serve(api);
  const transport = transportTo(server.url);
  const events = (await transport.watch({ method: 'GET', path: '/watch' }))[Symbol.asyncIterator]();
  for (const session of server.sessions) session.goaway(0, 2 ** 31 - 1);
  await vi.waitFor(async () => {
    await transport.request(object);
    expect(server.sessions.size).toBe(2);
  });
  api.watches[0].push(modified(1));
  expect((await events.next()).value).toMatchObject({ type: 'MODIFIED' });
  await events.return?.();
});

test('requests work again after the server restarted on the same port', async () => {
  const first = await serve();
  const transport = transportTo(first.url);
  await transport.request(object);
  await first.stop();
  const second = await startHttpsServer(new ScriptedApi().handler, pki, { http2: true, port: Number(first.url.port) });
  cleanup.push(() => second.stop());
  // The first request may still find the old connection before its end was noticed.
  await vi.waitFor(async () => expect((await transport.request(object)).status).toBe(200));
});

test('requests travel through a proxy, with its login, and a refusal of it is told', async () => {
  const server = await serve();
  const logins: (string | undefined)[] = [];
  const proxy = createHttpServer();
  proxy.on('connect', (request, socket) => {
    logins.push(request.headers['proxy-authorization']);
    if (!request.headers['proxy-authorization']) {
      socket.end('HTTP/1.1 407 Proxy Authentication Required\r\n\r\n');
      return;
    }
    const [host, port] = request.url!.split(':');
    const upstream = connect(Number(port), host, () => {
      socket.write('HTTP/1.1 200 OK\r\n\r\n');
      upstream.pipe(socket).pipe(upstream);
    });
    upstream.on('error', () => socket.destroy());
    socket.on('error', () => upstream.destroy());
  });
  await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve));
  cleanup.push(
    () => proxy.closeAllConnections(),
    () => void proxy.close(),
  );
  const { port } = proxy.address() as AddressInfo;
  const through = (login: string): Transport =>
    transportTo(server.url, { endpoint: { url: server.url, proxyUrl: `http://${login}127.0.0.1:${port}` } });
  expect((await through('user:p%40ss@').request(object)).status).toBe(200);
  expect(logins[0]).toBe(`Basic ${Buffer.from('user:p@ss').toString('base64')}`);
  await expect(through('').request(object)).rejects.toMatchObject({
    code: 'Unreachable',
    message: expect.stringContaining('it answered 407'),
  });
});
