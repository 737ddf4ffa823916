import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { request as httpsRequest } from 'node:https';
import { createServer, type AddressInfo } from 'node:net';
import { join } from 'node:path';
import type { Duplex } from 'node:stream';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { WebSocket } from 'ws';
import { realClock } from '../../../src/lib/clock.ts';
import { SpdyConnection } from '../../../src/lib/spdy/spdy-connection.ts';
import type { SpdyStream } from '../../../src/lib/spdy/spdy-stream.ts';
import { startEmbeddedTarget, type EmbeddedTarget } from '../../support/embedded-target.ts';
import { startProcessNode, type ProcessNode } from './node-of-processes.ts';

/** The protocols that older clients speak, and what the newest ones never do wrong. */
let target: EmbeddedTarget;
let node: ProcessNode;
beforeAll(async () => {
  target = await startEmbeddedTarget();
  node = await startProcessNode(target);
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

describe('a server that stops', () => {
  it('does not wait for those who follow logs or sit in a shell', async () => {
    const other = await startEmbeddedTarget();
    const itsNode = await startProcessNode(other);
    const kubeconfig = other.kubeconfig;
    expect(kubeconfig).not.toBe('');
    const follow = await other.watch('/api/v1/namespaces/default/pods/web/log?follow=true');
    expect(follow.status).toBe(200);
    itsNode.attachable.current = spawn('cat');
    const started = performance.now();
    await other.close();
    expect(performance.now() - started).toBeLessThan(1500);
    itsNode.attachable.current.kill();
    await itsNode.close();
  });
});
