import { createServer, type IncomingMessage, type Server } from 'node:http';
import { connect, type AddressInfo } from 'node:net';
import type { Duplex } from 'node:stream';
import { Readable } from 'node:stream';
import { buffer, text } from 'node:stream/consumers';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { WebSocketServer } from 'ws';
import { PlacedConnections } from '../../../src/areas/plugins/gateway/placed-connections.ts';
import { Upstream, UpstreamFailure, type Outgoing } from '../../../src/areas/plugins/gateway/upstream.ts';
import { servePortForwarding } from '../../../src/engine/node/server/streams-handler.ts';
import type { KubeObject } from '../../../src/kube/object.ts';
import { FakeClock } from '../../../src/lib/clock-fake.ts';
import { realClock } from '../../../src/lib/clock.ts';
import type { Change, Informer } from '../../../src/runtime/informer/informer.ts';

/** A Pod, the API server of a tenant's cluster in front of it, and the gateway's way through. */
let pod: Server;
let api: Server;
let upstream: Upstream;
let secret: KubeObject | undefined;
let informer: Informer;
let changed: (change: Change<KubeObject>) => void;
let tunnels: string[] = [];
let open: Duplex[] = [];
const TIMEOUTS = { connectMs: 5_000, answerMs: 20_000 };
const sockets = new WebSocketServer({ noServer: true });

const portOf = (server: Server) => (server.address() as AddressInfo).port;
const encode = (value: string) => Buffer.from(value).toString('base64');
const accessWith = (token: string): KubeObject => ({
  apiVersion: 'v1',
  kind: 'Secret',
  metadata: { name: 'placed-acme', labels: { 'plugins.tenantry.dev/gateway-access': 'acme' } },
  data: { server: encode(`http://127.0.0.1:${portOf(api)}`), 'ca.crt': encode(''), token: encode(token) },
});
const endpoint = (name = 'p1', port = portOf(pod)) => ({ host: name, port, placed: { tenant: 'acme', namespace: 'plugin-acme-x', name } });
const send = (outgoing: Partial<Outgoing>, to = endpoint()) =>
  upstream.send(to, { method: 'GET', path: '/', headers: ['host', 'x'], ...outgoing }, TIMEOUTS, new AbortController().signal);
const failure = (sent: Promise<unknown>) =>
  sent.then(
    () => undefined,
    (error: unknown) => error as UpstreamFailure,
  );

function forward(request: IncomingMessage, socket: Duplex, head: Buffer): void {
  tunnels.push(`${request.url} ${request.headers.authorization}`);
  open.push(socket.on('error', () => {}));
  if (request.url!.includes('/pods/mute/')) return void socket.resume().once('end', () => socket.destroy());
  if (!request.url!.includes('/pods/p1/')) return void socket.end('HTTP/1.1 404 Not Found\r\ncontent-length: 0\r\n\r\n');
  const dial = (_: unknown, port: number) =>
    new Promise<Duplex>((resolve, reject) => {
      const dialled = connect(port, '127.0.0.1', () => resolve(dialled)).once('error', reject);
    });
  const target = { namespace: 'plugin-acme-x', name: 'p1' };
  const upgrade = { request, socket, head, query: new URLSearchParams() };
  servePortForwarding({ access: { dial } as never, clock: realClock }, upgrade, target).catch(() => {});
}

beforeEach(async () => {
  tunnels = [];
  open = [];
  pod = createServer((request, response) => void request.pipe(response.setHeader('x-asked', `${request.method} ${request.url}`)));
  pod.on('upgrade', (request, socket, head) =>
    sockets.handleUpgrade(request, socket, head, (client) => client.on('message', (message) => client.send(message))),
  );
  api = createServer((_, response) => void response.writeHead(404).end()).on('upgrade', forward);
  await Promise.all([pod, api].map((server) => new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))));
  secret = accessWith('one');
  informer = {
    list: () => [secret].filter((each) => each !== undefined).values(),
    onChange: (told: typeof changed) => void (changed = told),
  } as unknown as Informer;
  upstream = new Upstream(realClock, new PlacedConnections(informer, realClock));
});
afterEach(() => {
  upstream.close();
  for (const socket of open) socket.destroy();
  for (const server of [pod, api]) {
    server.closeAllConnections();
    server.close();
  }
});

it('a request goes to the Pod and back, megabytes both ways, and many share a few tunnels', { timeout: 60_000 }, async () => {
  const bytes = Buffer.alloc(3 * 1024 * 1024, 'some text that goes there and back ');
  const { response } = await send({ method: 'POST', path: '/a?b=c', body: Readable.from([bytes]) });
  expect(response.headers['x-asked']).toBe('POST /a?b=c');
  expect((await buffer(response)).equals(bytes)).toBe(true);
  const many = await Promise.all(Array.from({ length: 30 }, (_, i) => send({ path: `/${i}` })));
  for (const [i, { response: each }] of many.entries()) {
    expect(each.headers['x-asked']).toBe(`GET /${i}`);
    await text(each);
  }
  expect(tunnels).toEqual(Array(4).fill('/api/v1/namespaces/plugin-acme-x/pods/p1/portforward Bearer one'));
});

it('callers that read nothing hold nobody up for long, and are given up only where others wait', { timeout: 60_000 }, async () => {
  const clock = new FakeClock();
  const connections = new PlacedConnections(informer, clock);
  const large = 'x'.repeat(1024 * 1024);
  const asked = async () => {
    const connection = await connections.open(endpoint().placed, portOf(pod), new AbortController().signal);
    connection.on('error', () => {});
    connection.end(`POST / HTTP/1.1\r\nhost: x\r\nconnection: close\r\ncontent-length: ${large.length}\r\n\r\n${large}`);
    return connection;
  };
  const isBehind = (each: Duplex) => each.readableLength >= each.readableHighWaterMark;
  try {
    const slow = [await asked(), await asked(), await asked(), await asked()];
    await expect.poll(() => slow.every(isBehind), { timeout: 20_000 }).toBe(true);
    expect(tunnels).toHaveLength(4);
    // Nobody else uses theirs.
    await clock.advance(60_000);
    expect(slow.map(({ destroyed }) => destroyed)).toEqual([false, false, false, false]);
    const opening = asked();
    await expect
      .poll(async () => (await clock.advance(1_000), slow.filter(({ destroyed }) => destroyed).length), { timeout: 20_000 })
      .toBe(1);
    const answer = await text(await opening);
    expect([answer.startsWith('HTTP/1.1 200 '), answer.length > large.length]).toEqual([true, true]);
  } finally {
    connections.close();
  }
});

it('a WebSocket goes through', { timeout: 60_000 }, async () => {
  const key = 'dGhlIHNhbXBsZSBub25jZQ==';
  const headers = ['host', 'x', 'connection', 'Upgrade', 'upgrade', 'websocket', 'sec-websocket-version', '13', 'sec-websocket-key', key];
  const answer = await send({ headers });
  expect(answer).toMatchObject({ type: 'upgrade', response: { statusCode: 101 } });
  if (answer.type === 'upgrade') answer.socket.destroy();
});

it.each([
  ['there is no such Pod', () => endpoint('gone')],
  ['nobody has said how the cluster is reached', () => ({ ...endpoint(), placed: { tenant: 'other', namespace: 'n', name: 'p1' } })],
])('nothing of a request was seen when %s', async (_, to) => {
  expect(await failure(send({ method: 'POST', body: Readable.from(['x']) }, to()))).toMatchObject({ isUnsent: true });
});

it('what breaks is dug anew, with the token of now', { timeout: 60_000 }, async () => {
  await text((await send({})).response);
  secret = accessWith('two');
  changed({ type: 'modified', object: secret, previous: secret });
  for (const socket of open) socket.destroy();
  await expect.poll(async () => (await failure(send({})))?.message).toBeUndefined();
  expect(tunnels.at(-1)).toContain('Bearer two');
});

it('a way that is taken back is closed, and there is none any more', { timeout: 60_000 }, async () => {
  await text((await send({})).response);
  const before = secret!;
  secret = undefined;
  changed({ type: 'deleted', object: before });
  expect(await failure(send({}))).toMatchObject({ isUnsent: true });
  await expect.poll(() => open.every(({ destroyed }) => destroyed)).toBe(true);
});

it('a cluster that takes everything and answers nothing holds nobody, and nothing stays open', { timeout: 60_000 }, async () => {
  const clock = new FakeClock();
  const connections = new PlacedConnections(informer, clock);
  const { placed } = endpoint('mute');
  const asked = [1, 2].map(() => failure(connections.open(placed, 80, new AbortController().signal)));
  await expect.poll(() => tunnels.length).toBe(2);
  await clock.advance(10_000);
  expect((await Promise.all(asked)).every((error) => error !== undefined)).toBe(true);
  await expect.poll(() => open.every(({ destroyed }) => destroyed)).toBe(true);
  const again = failure(connections.open(placed, 80, new AbortController().signal));
  await expect.poll(() => tunnels.length).toBe(3);
  connections.close();
  await clock.advance(10_000);
  expect(await again).toBeDefined();
});
