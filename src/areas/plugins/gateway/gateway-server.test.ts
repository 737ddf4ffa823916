import { once } from 'node:events';
import { createServer, type RequestListener, type ServerResponse } from 'node:http';
import { connect, createServer as createSocketServer, type AddressInfo, type Server } from 'node:net';
import { text } from 'node:stream/consumers';
import { afterEach, expect, test, vi } from 'vitest';
import { FakeClock } from '../../../lib/clock-fake.ts';
import { silentLog } from '../../../lib/log.ts';
import { MetricsRegistry } from '../../../lib/metrics.ts';
import type { Callers } from './callers.ts';
import { Calls } from './calls.ts';
import { gatewayMetrics } from './gateway-metrics.ts';
import { GatewayServer } from './gateway-server.ts';
import type { Endpoint, RouteTable } from './route-table.ts';
import { Traffic } from './traffic.ts';
import { Upstream } from './upstream.ts';

const ends: (() => unknown)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0).toReversed()) await end();
});

async function listening(server: Server): Promise<Endpoint> {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  ends.push(() => server.close());
  return { host: '127.0.0.1', port: (server.address() as AddressInfo).port };
}

/** A Pod that tells all bytes that it gets. */
async function rawPod(answer: string) {
  const seen: string[] = [];
  const server = createSocketServer((socket) => {
    ends.push(() => socket.destroy());
    socket.on('error', () => {});
    socket.on('data', (data) => seen.push(data.toString('latin1')));
    socket.once('data', () => socket.write(answer));
  });
  return { seen, endpoint: await listening(server) };
}

async function pod(serve: RequestListener): Promise<Endpoint> {
  const server = createServer(serve);
  ends.push(() => server.closeAllConnections());
  return listening(server);
}

/** A gateway before Pods of the version 2, else of 1; its caller may `get` alone. */
async function gatewayTo(second: Endpoint[], first: Endpoint[] = [], requestRate = {}) {
  const clock = new FakeClock();
  const routes = [
    { version: '2', workload: 'w2', weight: 100 },
    { version: '1', workload: 'w1', weight: 1 },
  ];
  const installation = {
    metadata: { namespace: 'school', name: 'hello' },
    spec: { plugin: 'hello' },
    status: { gateway: { routes, requestRate } },
  };
  const table = {
    find: () => installation,
    isSuspended: () => false,
    endpoints: (_: unknown, { version }: { version: string }) => (version === '2' ? second : first),
    onceChanged: () => () => {},
  } as unknown as RouteTable;
  const callers: Pick<Callers, 'identify' | 'authorize'> = {
    identify: () => Promise.resolve({ type: 'user', name: 'viewer', groups: [] }),
    authorize: () => Promise.resolve(),
  };
  const traffic = new Traffic();
  const registry = new MetricsRegistry();
  const metrics = gatewayMetrics(registry);
  const upstream = new Upstream(clock, { open: () => Promise.reject(new Error('there is no cluster')), close() {} });
  const timeouts = { connectMs: 2_000, answerMs: 60_000 };
  const calls = new Calls({ table, callers, upstream, traffic, metrics, clock, random: () => 0, timeouts, patienceMs: 300 });
  const server = new GatewayServer({ calls, metrics, isKnown: () => true, onRefused: () => {}, clock, log: silentLog, idleMs: 10_000 });
  const port = await server.listen('127.0.0.1', 0);
  ends.push(async () => {
    const stopped = server.stop(0);
    await clock.advance(1);
    await stopped;
    upstream.close();
  });
  const raw = (head: string) => {
    const socket = connect(port, '127.0.0.1');
    ends.push(() => socket.destroy());
    socket.on('error', () => {});
    socket.write(head);
    return socket;
  };
  const versions = () => traffic.of('school/hello').versions;
  return { clock, port, raw, traffic, metrics, registry, versions };
}

const OFFER = 'Host: x\r\nConnection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABkAAQAAP__\r\n';
const until = (condition: () => boolean) => vi.waitUntil(condition, { timeout: 10_000, interval: 5 });

test('a connection is not handed over for h2c, even when the Pod would take it', async () => {
  const { seen, endpoint } = await rawPod('HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: h2c\r\n\r\n');
  const { raw } = await gatewayTo([endpoint]);
  const socket = raw(`GET /school/hello/ HTTP/1.1\r\n${OFFER}\r\n`);
  const answer = text(socket);
  await until(() => seen.length > 0);
  socket.write('POST /admin HTTP/1.1\r\nX-User-Id: root\r\nContent-Length: 0\r\n\r\n');
  expect(await answer.catch(() => '')).not.toContain('101');
  expect(seen.join('')).not.toMatch(/h2c|HTTP2-Settings|root|admin/i);
});

test.each([
  ['a WebSocket and switches to h2c', 'Upgrade: h2c', '502 Bad Gateway'],
  ['a WebSocket and takes it', 'Upgrade: WebSocket', '101 Switching Protocols'],
])('a Pod that was asked for %s', async (_, upgrade, expected) => {
  const { endpoint } = await rawPod(`HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\n${upgrade}\r\n\r\n`);
  const { raw } = await gatewayTo([endpoint]);
  const socket = raw('GET /school/hello/ HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n');
  const [answer] = (await once(socket, 'data')) as [Buffer];
  expect(String(answer)).toContain(expected);
});

test('a request that offers h2c is served without, its body and the connection’s next request, too', async () => {
  const endpoint = await pod((request, response) => {
    void text(request).then((body) => response.end(`${request.method} ${request.url} ${request.headers.upgrade} <${body}>\n`));
  });
  const { raw } = await gatewayTo([endpoint]);
  const body = 'x'.repeat(100_000);
  const socket = raw(`POST /school/hello/a HTTP/1.1\r\n${OFFER}Content-Length: ${body.length}\r\n\r\n${body.slice(0, 10)}`);
  socket.write(body.slice(10));
  let answers = '';
  socket.on('data', (data) => (answers += String(data)));
  await until(() => answers.includes('>'));
  expect(answers).toContain(`POST /a undefined <${body}>`);
  for (let i = 0; i < 20; i++) {
    socket.write(`GET /school/hello/${i} HTTP/1.1\r\n${OFFER}\r\n`);
    await until(() => answers.includes(`GET /${i} undefined <>`));
  }
});

test('an offer of websocket before the request before it is answered ends the connection', async () => {
  let isAsked = false;
  const { raw } = await gatewayTo([await pod(() => (isAsked = true))]);
  const socket = raw('GET /school/hello/ HTTP/1.1\r\nHost: x\r\n\r\n');
  await until(() => isAsked);
  socket.write('GET /school/hello/ HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n');
  expect(await text(socket).catch(() => '')).toBe('');
});

test('an offer of h2c before the request before it is answered ends the connection, or waits for its turn', async () => {
  const asked: ServerResponse[] = [];
  const { raw } = await gatewayTo([await pod((_, response) => void asked.push(response))]);
  const socket = raw('GET /school/hello/ HTTP/1.1\r\nHost: x\r\n\r\n');
  let said = '';
  socket.on('data', (chunk: Buffer) => (said += chunk.toString())).on('error', () => {});
  await until(() => asked.length === 1);
  socket.write('GET /school/hello/ HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: h2c\r\n\r\n');
  await until(() => asked.length === 2 || socket.closed);
  for (const [index, response] of [...asked.entries()].toReversed()) response.end(`answer ${index}`);
  await until(() => said.includes('answer 1') || socket.closed);
  expect(['', 'answer 0answer 1']).toContain((said.match(/answer \d/g) ?? []).join(''));
});

const get = (port: number, signal?: AbortSignal) => fetch(`http://127.0.0.1:${port}/school/hello/`, { signal });

test('a Pod that refuses connections has had no request', async () => {
  const gone = await pod(() => {});
  await ends.pop()!();
  const { port, versions, registry } = await gatewayTo([gone], [await pod((_, response) => response.end('ok'))]);
  expect(await (await get(port)).text()).toBe('ok');
  await until(() => versions()['1']?.requests === 1);
  expect(versions()).toMatchObject({ '1': { inFlight: 0, requests: 1, errors: 0 } });
  expect(versions()['2']).toBeUndefined();
  expect(registry.expose()).not.toMatch(/requests_total\{[^}]*version="2"/);
});

test.each([
  ['soon', 1_000, 0],
  ['after long', 6_000, 1],
])('a caller that gives up %s', async (_, waitedMs, errors) => {
  let isAsked = false;
  const { port, versions, clock } = await gatewayTo([await pod(() => (isAsked = true))]);
  const abort = new AbortController();
  const answer = get(port, abort.signal).catch(() => 'gone');
  await until(() => isAsked);
  await clock.advance(waitedMs);
  abort.abort();
  expect(await answer).toBe('gone');
  await until(() => versions()['2'].inFlight === 0);
  expect(versions()['2']).toMatchObject({ requests: 1, errors });
});

test('a request that outlives its version leaves no numbers of it', async () => {
  let release!: () => void;
  const { port, metrics, registry, versions } = await gatewayTo([await pod((_, response) => (release = () => response.end('late')))]);
  const answer = get(port);
  await until(() => registry.expose().includes('requests_in_flight{tenant="school",plugin="hello",version="2"} 1'));
  metrics.refused('school', 'hello', 'FORBIDDEN');
  metrics.retried('school', 'hello');
  await until(() => release !== undefined);
  metrics.forget('school', 'hello', '2');
  metrics.forgetInstallation('school', 'hello');
  release();
  expect(await (await answer).text()).toBe('late');
  await until(() => versions()['2'].inFlight === 0);
  expect(registry.expose()).not.toContain('school');
});

test('a body may take longer than an answer, and the answer is waited for from its end', async () => {
  let seen = '';
  const endpoint = await pod((request) => request.on('data', (data) => (seen += String(data))));
  const { raw, clock, versions } = await gatewayTo([endpoint]);
  const socket = raw('POST /school/hello/ HTTP/1.1\r\nHost: x\r\nContent-Length: 4\r\n\r\n1');
  const answer = text(socket);
  for (const [i, piece] of ['2', '3', '4'].entries()) {
    await until(() => seen.length === i + 1);
    await clock.advance(50_000);
    socket.write(piece);
  }
  await until(() => seen === '1234');
  await clock.advance(59_000);
  expect(versions()['2']).toMatchObject({ inFlight: 1 });
  await clock.advance(2_000);
  socket.end();
  expect(await answer).toContain('504 Gateway Timeout');
  expect(versions()['2']).toMatchObject({ inFlight: 0, requests: 1, errors: 1 });
});

test('a caller that does not go on with its body is no failure of the plugin', async () => {
  let seen = '';
  const endpoint = await pod((request) => request.on('data', (data) => (seen += String(data))));
  const { raw, clock, versions } = await gatewayTo([endpoint]);
  const answer = text(raw('POST /school/hello/ HTTP/1.1\r\nHost: x\r\nContent-Length: 4\r\n\r\n1'));
  await until(() => seen === '1');
  await clock.advance(61_000);
  expect(await answer).toContain('408 Request Timeout');
  expect(versions()['2']).toMatchObject({ requests: 1, errors: 0 });
});

test('what the limit of the tenant refuses is not counted against the user', async () => {
  const serving = await pod((_, response) => response.end('ok'));
  const { port } = await gatewayTo([serving], [], { perUser: '2/minute', perTenant: '1/minute' });
  expect((await get(port)).status).toBe(200);
  for (let i = 0; i < 3; i++) expect(await (await get(port)).text()).toContain('it takes 1/minute');
});
