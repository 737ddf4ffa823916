import { once } from 'node:events';
import { createServer, request as httpRequest, type IncomingMessage, type Server } from 'node:http';
import { connect, createServer as createHttp2Server } from 'node:http2';
import type { AddressInfo } from 'node:net';
import { afterEach, describe, expect, it, vi } from 'vitest';
import type { Json, KubeObject } from '../../../kube/object.ts';
import { FakeClock } from '../../../lib/clock-fake.ts';
import { CLIENT_CERTIFICATE, CLIENT_KEY } from '../admission/testing/certificates.ts';
import { ObjectsInMemory } from '../admission/testing/objects-in-memory.ts';
import { Aggregator } from './aggregator.ts';
import { API_SERVICES } from './api-service.ts';
import { anApiService, aService, aSlice, SERVICES, SLICES } from './testing/cluster-objects.ts';
import { startExtensionServer, type ExtensionServer } from './testing/extension-server.ts';

const PATH = '/apis/metrics.k8s.io/v1beta1/pods';
const RESOURCES = [{ name: 'pods', kind: 'PodMetrics', namespaced: true, verbs: ['get'] }];
const AVAILABLE = { conditions: [{ type: 'Available', status: 'True' }] };
const JANE = { name: 'jane', groups: ['dev'] };

const closers: (() => Promise<void> | void)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

function aggregatorOver(objects: ObjectsInMemory, clock = new FakeClock()): Aggregator {
  const aggregator = new Aggregator({
    writer: objects,
    clock,
    identity: () => ({ certificate: CLIENT_CERTIFICATE, key: CLIENT_KEY }),
    random: () => 0,
  });
  closers.push(() => aggregator.stop());
  return aggregator;
}

async function extension(answer: Parameters<typeof startExtensionServer>[0]): Promise<ExtensionServer> {
  const server = await startExtensionServer(answer);
  closers.push(() => server.close());
  return server;
}

function clusterWith(port: number, apiService: KubeObject): ObjectsInMemory {
  const objects = new ObjectsInMemory();
  objects.put(SERVICES, aService());
  objects.put(SLICES, aSlice(port));
  objects.put(API_SERVICES, apiService);
  return objects;
}

/** A plain server that passes everything to the aggregator as jane. */
async function front(aggregator: Aggregator): Promise<number> {
  const server: Server = createServer((req, res) => void aggregator.proxy(req, res, JANE, aggregator.targetFor(PATH)!));
  server.on('upgrade', (req, socket, head) => void aggregator.upgrade(req, socket, head, JANE, aggregator.targetFor(PATH)!));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  closers.push(() => {
    server.closeAllConnections();
    server.close();
  });
  return (server.address() as AddressInfo).port;
}

async function call(port: number, options: { path?: string; method?: string; headers?: Record<string, string>; body?: string } = {}) {
  const outgoing = httpRequest({ host: '127.0.0.1', port, path: options.path ?? PATH, method: options.method, headers: options.headers });
  outgoing.end(options.body);
  const [answer] = (await once(outgoing, 'response')) as [IncomingMessage];
  return answer;
}

async function text(answer: IncomingMessage): Promise<string> {
  let body = '';
  for await (const chunk of answer) body += String(chunk);
  return body;
}

describe('Aggregator.targetFor', () => {
  it('finds the server for paths of its version only', () => {
    const objects = new ObjectsInMemory();
    const aggregator = aggregatorOver(objects);
    expect(aggregator.targetFor(PATH)).toBeUndefined();
    objects.put(API_SERVICES, anApiService());
    for (const path of [PATH, '/apis/metrics.k8s.io/v1beta1', '/apis/metrics.k8s.io/v1beta1/']) {
      expect(aggregator.targetFor(path)?.name).toBe('v1beta1.metrics.k8s.io');
    }
    for (const path of ['/apis/metrics.k8s.io', '/apis/metrics.k8s.io/v1beta10/pods', '/apis/apps/v1', '/api/v1/pods']) {
      expect(aggregator.targetFor(path)).toBeUndefined();
    }
    objects.put(API_SERVICES, anApiService({ service: undefined }));
    expect(aggregator.targetFor(PATH)).toBeUndefined();
  });
});

describe('Aggregator.proxy', () => {
  it('passes request and answer on, with the user in headers and our certificate on the connection', async () => {
    const server = await extension((request, response) => {
      response.writeHead(201, { 'content-type': 'application/json', 'x-own': 'yes' }).end(request.body);
    });
    const port = await front(aggregatorOver(clusterWith(server.port, anApiService({}, AVAILABLE))));
    const headers = { authorization: 'Bearer secret', 'x-remote-user': 'root', 'content-type': 'application/json' };
    const answer = await call(port, { path: `${PATH}?limit=1`, method: 'POST', headers, body: '{"a":1}' });
    expect(answer.statusCode).toBe(201);
    expect(answer.headers['x-own']).toBe('yes');
    expect(await text(answer)).toBe('{"a":1}');
    const seen = server.seen[0];
    expect(seen).toMatchObject({ method: 'POST', url: `${PATH}?limit=1`, client: 'front-proxy-client' });
    expect(seen.headers).toMatchObject({ 'x-remote-user': 'jane', 'x-remote-group': 'dev', 'content-type': 'application/json' });
    expect(seen.headers.authorization).toBeUndefined();
  });

  it('streams a watch as it comes and tells the server when the client leaves', async () => {
    let tell: (text: string) => void = () => {};
    let left = false;
    const server = await extension((_request, response) => {
      response.writeHead(200, { 'content-type': 'application/json' });
      response.flushHeaders();
      tell = (line) => void response.write(line);
      response.on('close', () => (left = true));
    });
    const port = await front(aggregatorOver(clusterWith(server.port, anApiService({}, AVAILABLE))));
    const answer = await call(port, { path: `${PATH}?watch=1` });
    tell('one');
    expect(String((await once(answer, 'data'))[0])).toBe('one');
    tell('two');
    expect(String((await once(answer, 'data'))[0])).toBe('two');
    answer.destroy();
    await vi.waitFor(() => expect(left).toBe(true));
  });

  it.each<[string, Json, Json, number, string]>([
    ['it is not available', {}, {}, 503, 'service unavailable\n'],
    ['its service is gone', { service: { namespace: 'system', name: 'gone' } }, AVAILABLE, 503, 'service unavailable\n'],
    [
      'its certificate is for another name',
      { service: { namespace: 'system', name: 'metrics2', port: 443 } },
      AVAILABLE,
      503,
      'error trying to reach service: tls: failed to verify certificate: x509: certificate is valid for hook.team.svc, metrics.system.svc, localhost, not metrics2.system.svc\n',
    ],
    [
      'its certificate is signed by another CA',
      { caBundle: undefined },
      AVAILABLE,
      503,
      'error trying to reach service: tls: failed to verify certificate: x509: certificate signed by unknown authority\n',
    ],
  ])('refuses when %s', async (_name, spec, status, code, message) => {
    const server = await extension((_request, response) => void response.end('reached'));
    const objects = clusterWith(server.port, anApiService(spec, status));
    objects.put(SERVICES, { ...aService(), metadata: { name: 'metrics2', namespace: 'system' } });
    const other = aSlice(server.port);
    objects.put(SLICES, { ...other, metadata: { ...other.metadata, name: 'm2', labels: { 'kubernetes.io/service-name': 'metrics2' } } });
    const answer = await call(await front(aggregatorOver(objects)));
    expect(answer.statusCode).toBe(code);
    expect(await text(answer)).toBe(message);
  });

  it('accepts any certificate with insecureSkipTLSVerify', async () => {
    const server = await extension((_request, response) => void response.end('reached'));
    const apiService = anApiService({ caBundle: undefined, insecureSkipTLSVerify: true }, AVAILABLE);
    expect(await text(await call(await front(aggregatorOver(clusterWith(server.port, apiService)))))).toBe('reached');
  });

  it('refuses to be sent elsewhere', async () => {
    const server = await extension((_request, response) => void response.writeHead(302, { location: 'https://evil.example' }).end());
    const answer = await call(await front(aggregatorOver(clusterWith(server.port, anApiService({}, AVAILABLE)))));
    expect(answer.statusCode).toBe(502);
    expect(await text(answer)).toBe('the backend attempted to redirect this request, which is not permitted\n');
  });
});

describe('Aggregator.proxy over HTTP/2', () => {
  it('serves clients that speak it, although the server behind speaks HTTP/1.1', async () => {
    const server = await extension((request, response) => {
      response.writeHead(200, { 'content-type': 'application/json', connection: 'keep-alive' }).end(request.body);
    });
    const aggregator = aggregatorOver(clusterWith(server.port, anApiService({}, AVAILABLE)));
    const h2 = createHttp2Server((req, res) => void aggregator.proxy(req, res, JANE, aggregator.targetFor(PATH)!));
    h2.listen(0, '127.0.0.1');
    await once(h2, 'listening');
    const session = connect(`http://127.0.0.1:${(h2.address() as AddressInfo).port}`);
    closers.push(() => {
      session.destroy();
      h2.close();
    });
    const stream = session.request({ ':path': PATH, ':method': 'POST', 'content-type': 'application/json' });
    stream.end('{"a":1}');
    const [headers] = await once(stream, 'response');
    expect(headers[':status']).toBe(200);
    let body = '';
    for await (const chunk of stream) body += String(chunk);
    expect(body).toBe('{"a":1}');
    expect(server.seen[0].headers).toMatchObject({ 'x-remote-user': 'jane' });
  });
});

describe('Aggregator.upgrade', () => {
  it('connects both sides after the protocol switch', async () => {
    const server = await extension(() => {});
    const port = await front(aggregatorOver(clusterWith(server.port, anApiService({}, AVAILABLE))));
    const outgoing = httpRequest({ host: '127.0.0.1', port, path: PATH, headers: { connection: 'Upgrade', upgrade: 'SPDY/3.1' } });
    outgoing.end();
    const [answer, socket] = await once(outgoing, 'upgrade');
    expect(answer.statusCode).toBe(101);
    expect(answer.headers.upgrade).toBe('SPDY/3.1');
    socket.write('ping');
    expect(String((await once(socket, 'data'))[0])).toBe('ping');
    expect(server.seen[0].headers['x-remote-user']).toBe('jane');
    socket.destroy();
  });

  it('passes on the refusal of the server', async () => {
    const server = await extension(() => {});
    const port = await front(aggregatorOver(clusterWith(server.port, anApiService({}, AVAILABLE))));
    const answer = await call(port, { path: '/refuse', headers: { connection: 'Upgrade', upgrade: 'websocket' } });
    expect(answer.statusCode).toBe(403);
    expect(await text(answer)).toBe('no');
  });
});

describe('Aggregator availability', () => {
  const condition = (objects: ObjectsInMemory, name = 'v1beta1.metrics.k8s.io') =>
    objects.get(API_SERVICES, '', name)?.status?.conditions?.[0];

  function metricsServer() {
    return extension((request, response) => {
      response.setHeader('content-type', 'application/json');
      if (request.url === '/apis/metrics.k8s.io/v1beta1') response.end(JSON.stringify({ kind: 'APIResourceList', resources: RESOURCES }));
      else if (request.url === '/openapi/v3') {
        const url = '/openapi/v3/apis/metrics.k8s.io/v1beta1?hash=1';
        response.end(JSON.stringify({ paths: { 'apis/metrics.k8s.io/v1beta1': { serverRelativeURL: url } } }));
      } else if (request.url.startsWith('/openapi/v3/')) response.end('{"openapi":"3.0.0"}');
      else response.writeHead(404).end();
    });
  }

  it('becomes True, and discovery and OpenAPI of the server are known, once it answers', async () => {
    const server = await metricsServer();
    const objects = clusterWith(server.port, anApiService());
    const aggregator = aggregatorOver(objects);
    aggregator.start();
    await vi.waitFor(() => expect(condition(objects)).toMatchObject({ status: 'True', reason: 'Passed', message: 'all checks passed' }));
    expect(aggregator.foreignVersions()).toEqual([{ group: 'metrics.k8s.io', version: 'v1beta1', resources: RESOURCES, current: true }]);
    expect(aggregator.foreignVersions()).toBe(aggregator.foreignVersions());
    await vi.waitFor(() => expect(aggregator.foreignDocuments()).toHaveLength(1));
    expect(aggregator.foreignDocuments()[0].path).toBe('apis/metrics.k8s.io/v1beta1');
    expect(server.seen[0].headers).toMatchObject({ 'x-remote-user': 'system:kube-aggregator', 'x-remote-group': 'system:masters' });
  });

  it('is Local for APIServices without a service', async () => {
    const objects = new ObjectsInMemory();
    const aggregator = aggregatorOver(objects);
    await aggregator.registerLocal([{ group: 'apps', version: 'v1' }], []);
    aggregator.start();
    await vi.waitFor(() =>
      expect(condition(objects, 'v1.apps')).toMatchObject({
        status: 'True',
        reason: 'Local',
        message: 'Local APIServices are always available',
      }),
    );
  });

  it('follows the service, and tries again when the server does not answer', async () => {
    const clock = new FakeClock();
    const objects = new ObjectsInMemory();
    objects.put(API_SERVICES, anApiService());
    const aggregator = aggregatorOver(objects, clock);
    aggregator.start();
    await vi.waitFor(() => expect(condition(objects)).toMatchObject({ status: 'False', reason: 'ServiceNotFound' }));
    objects.put(SERVICES, aService());
    await vi.waitFor(() => expect(condition(objects)).toMatchObject({ reason: 'EndpointsNotFound' }));
    objects.put(SLICES, aSlice(1));
    await vi.waitFor(() => expect(condition(objects)).toMatchObject({ reason: 'FailedDiscoveryCheck' }));
    expect(condition(objects).message).toContain('dial tcp 127.0.0.1:1: connect: connection refused');
    const server = await metricsServer();
    // Behind the loop's back: only the retry finds it.
    vi.spyOn(objects, 'list').mockImplementation(() => [aSlice(server.port)]);
    await clock.advance(1000);
    await vi.waitFor(() => expect(condition(objects)).toMatchObject({ reason: 'Passed' }));
  });

  it('keeps what it knew of a server that went away, as not current', async () => {
    const server = await metricsServer();
    const objects = clusterWith(server.port, anApiService());
    const aggregator = aggregatorOver(objects);
    aggregator.start();
    await vi.waitFor(() => expect(condition(objects)?.status).toBe('True'));
    objects.put(SLICES, aSlice(1));
    await vi.waitFor(() => expect(condition(objects).status).toBe('False'));
    expect(aggregator.foreignVersions()).toMatchObject([{ resources: RESOURCES, current: false }]);
    await objects.delete(API_SERVICES, '', 'v1beta1.metrics.k8s.io');
    expect(aggregator.foreignVersions()).toEqual([]);
  });
});
