import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { request as httpsRequest } from 'node:https';
import { createServer, type AddressInfo } from 'node:net';
import { join } from 'node:path';
import type { Duplex } from 'node:stream';
import { text } from 'node:stream/consumers';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { WebSocket, WebSocketServer } from 'ws';
import { certificateCredentials } from '../../../src/client/config/credentials.ts';
import { createHttpTransport } from '../../../src/client/http/http-transport.ts';
import { podLogs } from '../../../src/client/streams/pod-logs.ts';
import { podExec } from '../../../src/client/streams/remote-command.ts';
import type { Transport } from '../../../src/client/transport.ts';
import { realClock } from '../../../src/lib/clock.ts';
import { SpdyConnection } from '../../../src/lib/spdy/spdy-connection.ts';
import type { SpdyStream } from '../../../src/lib/spdy/spdy-stream.ts';
import { startEmbeddedTarget, type EmbeddedTarget } from '../../support/embedded-target.ts';
import { clusterOf, startProcessNode, type ProcessNode } from './node-of-processes.ts';

/** The protocols that older clients speak, and what the newest ones never do wrong. */
let target: EmbeddedTarget;
let node: ProcessNode;
beforeAll(async () => {
  target = await startEmbeddedTarget();
  node = await startProcessNode(clusterOf(target));
});
afterAll(async () => {
  await node.close();
  await target.close();
});

const BASE = '/api/v1/namespaces/default/pods/web';

function tls() {
  const pem = (name: string): string => readFileSync(join(target.data, 'pki', name), 'utf8');
  return { ca: pem('ca.crt'), cert: pem('admin.crt'), key: pem('admin.key') };
}

async function spdy(path: string, protocols: string | undefined): Promise<{ connection: SpdyConnection; protocol?: string }> {
  const headers: Record<string, string> = { connection: 'Upgrade', upgrade: 'SPDY/3.1' };
  if (protocols !== undefined) headers['x-stream-protocol-version'] = protocols;
  const outgoing = httpsRequest(new URL(`${BASE}/${path}`, target.url), { method: 'POST', headers, agent: false, ...tls() });
  outgoing.end();
  return new Promise((resolve, reject) => {
    outgoing.once('upgrade', (answer, socket: Duplex, head: Buffer) => {
      const connection = new SpdyConnection(socket, { role: 'client', clock: realClock }, head);
      resolve({ connection, protocol: answer.headers['x-stream-protocol-version'] as string });
    });
    outgoing.once('response', (answer) => {
      void text(answer).then((body) => reject(new Error(`${answer.statusCode} ${(JSON.parse(body) as { message: string }).message}`)));
    });
    outgoing.once('error', reject);
  });
}

function openStreams(connection: SpdyConnection, ...types: string[]): SpdyStream[] {
  return types.map((streamtype) => connection.open({ streamtype }).on('error', () => {}));
}

describe('exec over SPDY', () => {
  it.each([
    ['v4.channel.k8s.io, v3.channel.k8s.io', 'v4.channel.k8s.io', /"reason":"ExitCode","message":"3"/],
    ['v3.channel.k8s.io', 'v3.channel.k8s.io', /^command terminated with non-zero exit code: exit status 3$/],
    ['v9.channel.k8s.io,v2.channel.k8s.io', 'v2.channel.k8s.io', /^command terminated with non-zero exit code: exit status 3$/],
    ['channel.k8s.io', 'channel.k8s.io', /^command terminated with non-zero exit code: exit status 3$/],
  ])('a client of %s', async (offered, chosen, told) => {
    const { connection, protocol } = await spdy('exec?stdout=1&stderr=1&command=sh&command=-c&command=echo%20out;exit%203', offered);
    expect(protocol).toBe(chosen);
    const [error, stdout] = openStreams(connection, 'error', 'stdout', 'stderr');
    expect(await Promise.all([text(stdout), text(error)])).toEqual(['out\n', expect.stringMatching(told)]);
    expect(await connection.closed).toBeUndefined();
  });

  it.each([
    ['no protocol', undefined, '400 unable to upgrade: header X-Stream-Protocol-Version does not exist in request with'],
    [
      'an unknown one',
      'v9.x',
      '403 unable to upgrade: unable to negotiate protocol: client supports [v9.x], server accepts [v4.channel.k8s.io',
    ],
  ])('with %s it is refused', async (_, protocols, message) => {
    await expect(spdy('exec?stdout=1&command=true', protocols)).rejects.toThrow(message);
  });

  it('without any stream it is refused', async () => {
    await expect(spdy('exec?command=true', 'v4.channel.k8s.io')).rejects.toThrow(
      '400 you must specify at least 1 of stdin, stdout, stderr',
    );
  });

  it('streams that were not announced are refused, the others go on', async () => {
    const { connection } = await spdy('exec?stdout=1&command=echo&command=hi', 'v4.channel.k8s.io');
    const [wrong] = openStreams(connection, 'stdin');
    await expect(wrong.accepted).rejects.toThrow('gave the stream up');
    const [, stdout] = openStreams(connection, 'error', 'stdout');
    expect(await text(stdout)).toBe('hi\n');
  });

  it('a program whose client never makes its streams does not stay', async () => {
    const { connection } = await spdy('exec?stdout=1&command=sleep&command=1000', 'v4.channel.k8s.io');
    const [sleeping] = node.running;
    const ended = once(sleeping, 'exit');
    connection.close();
    await ended;
  });
});

function socketTo(path: string, protocols: string[]): WebSocket {
  return new WebSocket(`${target.url.replace('https', 'wss')}${BASE}/${path}`, protocols, { ...tls(), perMessageDeflate: false });
}

async function messages(socket: WebSocket): Promise<Buffer[]> {
  const heard: Buffer[] = [];
  socket.on('message', (data) => void heard.push(data as Buffer));
  await once(socket, 'close');
  return heard;
}

describe('exec over WebSocket', () => {
  it('v4 in base64, for clients that have only text', async () => {
    const socket = socketTo('exec?stdout=1&command=echo&command=hi', ['v4.base64.channel.k8s.io']);
    const heard = (await messages(socket)).map(String);
    expect(heard[0]).toBe('1');
    expect(
      heard
        .filter((message) => message.startsWith('1'))
        .map((message) => Buffer.from(message.slice(1), 'base64').toString())
        .join(''),
    ).toBe('hi\n');
    const status = heard.find((message) => message.startsWith('3'))!;
    expect(JSON.parse(Buffer.from(status.slice(1), 'base64').toString())).toEqual({ metadata: {}, status: 'Success' });
  });

  it('without a protocol, as the oldest clients ask', async () => {
    const socket = socketTo('exec?stdout=1&command=sh&command=-c&command=echo%20hi;exit%202', []);
    const heard = await messages(socket);
    const on = (channel: number): string =>
      heard
        .filter((message) => message[0] === channel)
        .map((message) => message.toString('utf8', 1))
        .join('');
    expect([on(1), on(3)]).toEqual(['hi\n', 'command terminated with non-zero exit code: exit status 2']);
  });

  it('a browser, which can say who it is only among the protocols', async () => {
    const { body } = await target.request('POST', '/api/v1/namespaces/default/serviceaccounts/default/token', { spec: {} });
    const rbac = '/apis/rbac.authorization.k8s.io/v1/namespaces/default/rolebindings';
    await target.request('POST', rbac, {
      metadata: { name: 'admin' },
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'admin' },
      subjects: [{ kind: 'ServiceAccount', name: 'default', namespace: 'default' }],
    });
    const token = `base64url.bearer.authorization.k8s.io.${Buffer.from(body.status.token as string).toString('base64url')}`;
    const url = `${target.url.replace('https', 'wss')}${BASE}/exec?stdout=1&command=echo&command=hi`;
    const socket = new WebSocket(url, [token, 'v4.channel.k8s.io'], { ca: tls().ca, perMessageDeflate: false });
    const heard = await messages(socket);
    expect(heard.map(String).join('')).toContain('hi\n');
    expect(socket.protocol).toBe('v4.channel.k8s.io');
  });

  it('a protocol that is not spoken is refused before anything is started', async () => {
    const socket = socketTo('exec?stdout=1&command=true', ['v7.channel.k8s.io']);
    const [error] = (await once(socket, 'error')) as [Error];
    expect(error.message).toContain('400');
    expect(node.running.size).toBe(0);
  });
});

describe('port-forward over WebSocket channels', () => {
  it('each port has two channels, begun with its number', async () => {
    const server = createServer((socket) => socket.end('from the port'));
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    const heard = await messages(socketTo(`portforward?ports=${port}`, ['v4.channel.k8s.io']));
    server.close();
    const number = Buffer.from([port & 0xff, port >> 8]);
    expect(heard.map((message) => [message[0], message.subarray(1).toString('latin1')])).toEqual(
      expect.arrayContaining([
        [0, number.toString('latin1')],
        [1, number.toString('latin1')],
        [0, 'from the port'],
      ]),
    );
  });

  it.each([
    ['portforward', 'query parameter "port" is required'],
    ['portforward?ports=0', 'port "0" must be > 0'],
    ['portforward?ports=70000', 'unable to parse "70000" as a port'],
  ])('%s is refused', async (path, message) => {
    const socket = socketTo(path, ['v4.channel.k8s.io']);
    socket.on('error', () => {});
    const [, answer] = (await once(socket, 'unexpected-response')) as [unknown, NodeJS.ReadableStream & { statusCode: number }];
    expect(answer.statusCode).toBe(400);
    expect(JSON.parse(await text(answer))).toMatchObject({ message });
    socket.terminate();
  });
});

describe('proxy', () => {
  it('a WebSocket reaches a Pod, and what it says comes back', async () => {
    const server = new WebSocketServer({ host: '127.0.0.1', port: 0 });
    await once(server, 'listening');
    server.on('connection', (socket, request) => {
      socket.on('message', (data) => socket.send(`${request.url} ${(data as Buffer).toString()}`));
    });
    const socket = new WebSocket(
      `${target.url.replace('https', 'wss')}/api/v1/namespaces/default/pods/web:${(server.address() as AddressInfo).port}/proxy/chat?x=1`,
      { ...tls(), perMessageDeflate: false },
    );
    await once(socket, 'open');
    socket.send('hello');
    const [heard] = (await once(socket, 'message')) as [Buffer];
    expect(String(heard)).toBe('/chat?x=1 hello');
    socket.terminate();
    server.close();
    for (const client of server.clients) client.terminate();
  });
});

describe('bytes that are no SPDY', () => {
  it('end the connection and the program, and nothing else', async () => {
    const headers = { connection: 'Upgrade', upgrade: 'SPDY/3.1', 'x-stream-protocol-version': 'v4.channel.k8s.io' };
    const url = new URL(`${BASE}/exec?stdout=1&command=sleep&command=1000`, target.url);
    const outgoing = httpsRequest(url, { method: 'POST', headers, agent: false, ...tls() });
    outgoing.end();
    const [, socket] = (await once(outgoing, 'upgrade')) as [unknown, Duplex];
    const [sleeping] = node.running;
    const ended = once(sleeping, 'exit');
    socket.on('error', () => {}).resume();
    socket.write(Buffer.from('GET / HTTP/1.1\r\nHost: x\r\n\r\n'.repeat(100)));
    socket.write(Buffer.alloc(100, 0xff));
    await Promise.all([ended, once(socket, 'close')]);
    const { connection } = await spdy('exec?stdout=1&command=echo&command=fine', 'v4.channel.k8s.io');
    const [, stdout] = openStreams(connection, 'error', 'stdout');
    expect(await text(stdout)).toBe('fine\n');
  });
});

describe('an end that was not asked for', () => {
  let other: EmbeddedTarget;
  let itsNode: ProcessNode;
  let transport: Transport;
  beforeEach(async () => {
    other = await startEmbeddedTarget();
    itsNode = await startProcessNode(clusterOf(other));
    const pem = (name: string): string => readFileSync(join(other.data, 'pki', name), 'utf8');
    transport = createHttpTransport({
      endpoint: { url: new URL(other.url) },
      ca: () => Promise.resolve(pem('ca.crt')),
      credentials: certificateCredentials(() => Promise.resolve({ cert: pem('admin.crt'), key: pem('admin.key') })),
    });
  });
  afterEach(() => transport.close());
  const web = { namespace: 'default', name: 'web' };

  it('a node that goes away cuts logs and programs, which do not look complete', async () => {
    const log = await podLogs(transport, web, { follow: true });
    const command = await podExec(transport, web, { command: ['sleep', '1000'] });
    const broken = once(log.resume(), 'error');
    await itsNode.close();
    expect((await broken)[0]).toMatchObject({ code: 'ConnectionLost' });
    await expect(command.exit).rejects.toMatchObject({ code: 'ConnectionLost' });
    await other.close();
  });

  it('a server that stops does not wait for those who follow logs or sit in a shell', async () => {
    const log = await podLogs(transport, web, { follow: true });
    const command = await podExec(transport, web, { command: ['cat'], stdin: true });
    log.on('error', () => {});
    const started = performance.now();
    await other.close();
    expect(performance.now() - started).toBeLessThan(1500);
    await expect(command.exit).rejects.toMatchObject({ code: 'ConnectionLost' });
    await itsNode.close();
  });
});
