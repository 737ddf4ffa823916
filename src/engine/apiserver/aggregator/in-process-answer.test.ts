import { EventEmitter, once } from 'node:events';
import { afterEach, expect, test } from 'vitest';
import { createClient, type Client } from '../../../client/client.ts';
import { createInMemoryTransport } from '../../../client/in-memory/in-memory-transport.ts';
import type { Kind } from '../../../kube/kind.ts';
import { FakeClock } from '../../../lib/clock-fake.ts';
import { silentLog } from '../../../lib/log.ts';
import { createMemoryStore } from '../../store/memory-store.ts';
import { CLIENT_CERTIFICATE, CLIENT_KEY } from '../admission/testing/certificates.ts';
import { createAdmission } from '../admission/chain.ts';
import { ObjectsInMemory } from '../admission/testing/objects-in-memory.ts';
import { inProcessHandler } from '../in-process.ts';
import { ApiServer, createFoundation } from '../server.ts';
import { Aggregator } from './aggregator.ts';
import { API_SERVICES } from './api-service.ts';
import { foreignServers } from './foreign-servers.ts';
import { anApiService, aService, aSlice, SERVICES, SLICES } from './testing/cluster-objects.ts';
import { startExtensionServer, type ExtensionServer } from './testing/extension-server.ts';

const AVAILABLE = { conditions: [{ type: 'Available', status: 'True' }] };
const PodMetrics: Kind = { group: 'metrics.k8s.io', version: 'v1beta1', kind: 'PodMetrics', plural: 'pods', namespaced: true };
const JANE = { name: 'jane', uid: '7', groups: ['dev', 'system:authenticated'], extra: { 'example.org/team': ['a'] } };

const closers: (() => Promise<void> | void)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

/** A client inside the process, as jane, of a server that has only an aggregator. */
function clientOf(port: number, status = AVAILABLE): Client {
  const objects = new ObjectsInMemory();
  objects.put(SERVICES, aService());
  objects.put(SLICES, aSlice(port));
  objects.put(API_SERVICES, anApiService({}, status));
  const identity = () => ({ certificate: CLIENT_CERTIFICATE, key: CLIENT_KEY });
  const aggregator = new Aggregator({ writer: objects, clock: new FakeClock(), identity, random: () => 0 });
  closers.push(() => aggregator.stop());
  const server = new ApiServer({
    foundation: createFoundation(createMemoryStore(), []),
    authenticate: () => undefined,
    impersonate: () => undefined,
    authorizer: { authorize: () => ({ allowed: true, reason: '' }), rulesFor: () => [] },
    admission: createAdmission({ plugins: [] }),
    foreign: foreignServers(aggregator),
    health: [],
    version: {},
    log: silentLog,
  });
  return createClient(createInMemoryTransport(inProcessHandler(server, JANE)), { retry: { maxRetries: 0 } });
}

async function extension(answer: Parameters<typeof startExtensionServer>[0]): Promise<ExtensionServer> {
  const server = await startExtensionServer(answer);
  closers.push(() => server.close());
  return server;
}

test('a caller inside the process gets the decoded answer, and the server sees who asks', async () => {
  const server = await extension((_request, response) => {
    response.setHeader('content-type', 'application/json');
    response.end(JSON.stringify({ kind: 'PodMetricsList', items: [{ metadata: { name: 'a' } }] }));
  });
  const list = await clientOf(server.port).resource(PodMetrics, 'shop').list({ labelSelector: 'app=web' });
  expect(list.items).toEqual([{ metadata: { name: 'a' } }]);
  expect(Object.isFrozen(list.items[0])).toBe(true);
  const [{ url, headers, client }] = server.seen;
  expect(url).toBe('/apis/metrics.k8s.io/v1beta1/namespaces/shop/pods?labelSelector=app%3Dweb');
  expect(client).toBeDefined();
  expect(headers).toMatchObject({
    accept: 'application/json',
    'x-remote-user': 'jane',
    'x-remote-uid': '7',
    'x-remote-group': 'dev, system:authenticated',
    'x-remote-extra-example.org%2fteam': 'a',
  });
});

test('a body is sent as JSON of its content type', async () => {
  const server = await extension((_request, response) =>
    response.writeHead(201, { 'content-type': 'application/json' }).end('{"ok":true}'),
  );
  const client = clientOf(server.port);
  const answer = await client.resource(PodMetrics, 'shop').patch('a', { type: 'merge', patch: { note: 'hi' } });
  expect(answer).toEqual({ ok: true });
  expect(server.seen[0]).toMatchObject({ method: 'PATCH', body: '{"note":"hi"}' });
  expect(server.seen[0].headers).toMatchObject({ 'content-type': 'application/merge-patch+json', 'content-length': '13' });
});

test('refusals of the server are refusals to the caller', async () => {
  const status = { kind: 'Status', apiVersion: 'v1', status: 'Failure', reason: 'NotFound', code: 404, message: 'no such metric' };
  const server = await extension((_request, response) => {
    response.writeHead(404, { 'content-type': 'application/json' }).end(JSON.stringify(status));
  });
  await expect(clientOf(server.port).resource(PodMetrics, 'shop').get('a')).rejects.toMatchObject({ code: 404, message: 'no such metric' });
});

test('a watch of an aggregated server is a watch, until the caller ends it', async () => {
  const server = await extension((_request, response) => {
    response.writeHead(200, { 'content-type': 'application/json' });
    response.write('{"type":"ADDED","object":{"metadata":{"name":"a","resourceVersion":"5"}}}\n');
  });
  const stop = new AbortController();
  for await (const update of clientOf(server.port).resource(PodMetrics, 'shop').watch({ resourceVersion: '1', signal: stop.signal })) {
    expect(update).toMatchObject({ type: 'ADDED', object: { metadata: { name: 'a' } } });
    stop.abort();
  }
  expect(server.seen).toHaveLength(1);
});

test.each([
  ['is not available', { conditions: [{ type: 'Available', status: 'False' }] }, 'service unavailable'],
  ['does not listen', AVAILABLE, 'error trying to reach service: dial tcp 127.0.0.1:1: connect: connection refused'],
])('a server that %s is told as on a socket', async (_name, status, message) => {
  await expect(clientOf(1, status).resource(PodMetrics, 'shop').get('a')).rejects.toMatchObject({ code: 503, message });
});

test('a redirect is not followed', async () => {
  const server = await extension((_request, response) => response.writeHead(302, { location: 'https://example.org/' }).end());
  await expect(clientOf(server.port).resource(PodMetrics, 'shop').get('a')).rejects.toMatchObject({
    code: 502,
    message: 'the backend attempted to redirect this request, which is not permitted',
  });
});

test('a caller that gives up ends the request', async () => {
  const calls = new EventEmitter();
  const server = await extension((_request, response) => calls.emit('call', once(response, 'close')));
  const stop = new AbortController();
  const answer = clientOf(server.port).resource(PodMetrics, 'shop').get('a', { signal: stop.signal });
  const [closed] = (await once(calls, 'call')) as [Promise<unknown>];
  stop.abort();
  await expect(answer).rejects.toMatchObject({ code: 'Aborted' });
  await closed;
});
