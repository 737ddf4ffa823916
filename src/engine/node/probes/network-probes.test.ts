import { createServer as createHttpServer, type Server } from 'node:http';
import { createServer as createHttp2Server, type ServerHttp2Stream } from 'node:http2';
import { createServer as createHttpsServer } from 'node:https';
import { createServer as createTcpServer, type AddressInfo } from 'node:net';
import { createPublicKey } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { issueSelfSigned } from '../../../lib/pki/certificate.ts';
import { generateKeys } from '../../../lib/pki/key-files.ts';
import { aContainer } from '../pods/testing/a-pod.ts';
import { probeGrpc } from './grpc-probe.ts';
import { hookRequest, probeHttp } from './http-probe.ts';
import { probeTcp } from './tcp-probe.ts';

const closers: (() => void)[] = [];
const ports: Record<string, number> = {};
const never = new AbortController().signal;
const container = aContainer('c');

async function listen(
  name: string,
  server: { listen(port: number, host: string, done: () => void): unknown; address(): unknown; close(): unknown },
) {
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
  ports[name] = (server.address() as AddressInfo).port;
  closers.push(() => void server.close());
}

beforeAll(async () => {
  const site: Server = createHttpServer((request, response) => {
    const { url = '' } = request;
    if (url === '/ok') response.end('fine');
    else if (url === '/agent') response.end(`${request.headers['user-agent']} ${request.headers.host} ${String(request.headers['x-a'])}`);
    else if (url === '/broken') response.writeHead(503).end('secret');
    else if (url === '/here') response.writeHead(302, { location: '/ok' }).end();
    else if (url === '/away') response.writeHead(302, { location: 'http://elsewhere.example/' }).end('moved');
    else if (url === '/round') response.writeHead(302, { location: '/round' }).end();
    else if (url === '/long') response.end('x'.repeat(50_000));
    else if (url === '/rude') request.socket.destroy();
  });
  await listen('http', site);
  closers.push(() => site.closeAllConnections());
  const keys = generateKeys();
  const cert = issueSelfSigned(
    {
      subject: { commonName: 'nobody knows', organizations: [] },
      publicKey: createPublicKey(keys.privateKey),
      usages: ['digital signature', 'server auth'],
      notBefore: new Date(Date.now() - 1000),
      notAfter: new Date(Date.now() + 3_600_000),
    },
    keys.privateKey,
  );
  const key = keys.privateKey.export({ type: 'pkcs8', format: 'pem' });
  await listen(
    'https',
    createHttpsServer({ cert, key }, (_request, response) => response.end('fine')),
  );
  await listen(
    'tcp',
    createTcpServer((socket) => socket.on('error', () => {})),
  );
  const closed = createTcpServer();
  await listen('closed', closed);
  closed.close();
  const grpc = createHttp2Server();
  grpc.on('stream', (stream: ServerHttp2Stream, headers) => {
    const chunks: Buffer[] = [];
    stream.on('data', (chunk: Buffer) => chunks.push(chunk));
    stream.on('end', () => answerGrpc(stream, String(headers[':path']), Buffer.concat(chunks)));
  });
  await listen('grpc', grpc);
});

afterAll(() => {
  for (const close of closers) close();
});

function answerGrpc(stream: ServerHttp2Stream, path: string, body: Buffer): void {
  const service = body.subarray(7).toString('utf8');
  const finish = (status: string, message: string, health?: number) => {
    stream.respond({ ':status': 200, 'content-type': 'application/grpc' }, { waitForTrailers: true });
    stream.on('wantTrailers', () => stream.sendTrailers({ 'grpc-status': status, 'grpc-message': message }));
    stream.end(health === undefined ? Buffer.alloc(0) : Buffer.from([0, 0, 0, 0, 2, 0x08, health]));
  };
  if (path !== '/grpc.health.v1.Health/Check') finish('12', 'unknown path');
  else if (service === '') finish('0', '', 1);
  else if (service === 'sick') finish('0', '', 2);
  else if (service === 'foreign') finish('12', 'unknown%20service');
  else if (service === 'gone') finish('5', 'unknown service');
}

describe('probeHttp', () => {
  const get = (path: string, more: object = {}, signal = never) =>
    probeHttp({ path, port: ports.http, ...more }, container, '127.0.0.1', signal);

  test.each<[string, string, string, string]>([
    ['a good answer', '/ok', 'success', 'fine'],
    ['a bad answer, without its body', '/broken', 'failure', 'HTTP probe failed with statuscode: 503'],
    ['a redirect on the same host is followed', '/here', 'success', 'fine'],
    ['a redirect elsewhere is not', '/away', 'warning', 'Probe terminated redirects, Response body: moved'],
  ])('%s', async (_name, path, result, output) => {
    expect(await get(path)).toEqual({ result, output });
  });

  test('a redirect without end', async () => {
    expect((await get('/round')).output).toMatch(/stopped after 10 redirects$/);
  });

  test('a long answer is cut', async () => {
    expect((await get('/long')).output).toHaveLength(10 * 1024);
  });

  test('headers, host and a port by name', async () => {
    const named = aContainer('c', { ports: [{ name: 'web', containerPort: ports.http }] });
    const httpHeaders = [
      { name: 'X-A', value: 'b' },
      { name: 'Host', value: 'shop.example' },
    ];
    expect(await probeHttp({ path: '/agent', port: 'web', httpHeaders }, named, '127.0.0.1', never)).toEqual({
      result: 'success',
      output: 'kube-probe/1.35 shop.example b',
    });
  });

  test('a certificate that nobody trusts is fine', async () => {
    expect(await probeHttp({ port: ports.https, scheme: 'HTTPS' }, container, '127.0.0.1', never)).toEqual({
      result: 'success',
      output: 'fine',
    });
  });

  test('nobody listens', async () => {
    const url = `http://127.0.0.1:${ports.closed}/x`;
    expect(await get('/x', { port: ports.closed })).toEqual({
      result: 'failure',
      output: `Get "${url}": dial tcp 127.0.0.1:${ports.closed}: connect: connection refused`,
    });
  });

  test('a connection that is cut', async () => {
    expect((await get('/rude')).output).toMatch(/: EOF$/);
  });

  test('no answer in time', async () => {
    const slow = AbortSignal.timeout(50);
    expect((await get('/never', {}, slow)).output).toMatch(/context deadline exceeded/);
  });

  test('a port that the container does not have', async () => {
    await expect(probeHttp({ port: 'nope' }, container, '127.0.0.1', never)).rejects.toThrow(`couldn't find port: "nope"`);
  });

  test('a hook is content with any answer', async () => {
    await hookRequest({ path: '/broken', port: ports.http }, container, '127.0.0.1', never);
    await expect(hookRequest({ port: ports.closed }, container, '127.0.0.1', never)).rejects.toThrow('connection refused');
  });
});

describe('probeTcp', () => {
  test('somebody listens', async () => {
    expect(await probeTcp('127.0.0.1', ports.tcp, never)).toEqual({ result: 'success', output: '' });
  });

  test('nobody listens', async () => {
    expect(await probeTcp('127.0.0.1', ports.closed, never)).toEqual({
      result: 'failure',
      output: `dial tcp 127.0.0.1:${ports.closed}: connect: connection refused`,
    });
  });
});

describe('probeGrpc', () => {
  const ask = (service: string, port = ports.grpc, signal = never) => probeGrpc('127.0.0.1', port, service, 1000, signal);

  test.each<[string, string, string, string]>([
    ['the server is well', '', 'success', 'service healthy'],
    ['a service is not', 'sick', 'failure', 'service unhealthy (responded with "NOT_SERVING")'],
    [
      'the protocol is foreign to it',
      'foreign',
      'failure',
      'error: this server does not implement the grpc health protocol (grpc.health.v1.Health): unknown service',
    ],
    ['a service is unknown', 'gone', 'failure', 'error: health rpc probe failed: rpc error: code = NotFound desc = unknown service'],
  ])('%s', async (_name, service, result, output) => {
    expect(await ask(service)).toEqual({ result, output });
  });

  test('nobody listens', async () => {
    expect((await ask('', ports.closed)).output).toBe(
      `error: failed to connect service at "127.0.0.1:${ports.closed}": dial tcp 127.0.0.1:${ports.closed}: connect: connection refused`,
    );
  });

  test('no answer in time', async () => {
    expect(await ask('silent', ports.grpc, AbortSignal.timeout(50))).toEqual({
      result: 'failure',
      output: 'timeout: health rpc did not complete within 1s',
    });
  });
});
