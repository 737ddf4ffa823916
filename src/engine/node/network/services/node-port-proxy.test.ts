import { connect, createServer, type Server, type Socket } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { FakeClock } from '../../../../lib/clock-fake.ts';
import { silentLog, type Log } from '../../../../lib/log.ts';
import type { ServicePort } from './model/service-endpoints.ts';
import { NodePortProxy } from './node-port-proxy.ts';

const closers: (() => void)[] = [];
afterEach(() => closers.splice(0).forEach((close) => close()));

async function serve(onConnection: (socket: Socket) => void, port = 0): Promise<{ server: Server; port: number }> {
  const server = createServer({ allowHalfOpen: true }, (socket) => {
    socket.on('error', () => {});
    onConnection(socket);
  });
  closers.push(() => server.close());
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve));
  return { server, port: (server.address() as { port: number }).port };
}

/** A port that was free a moment ago. */
async function freePort(): Promise<number> {
  const { server, port } = await serve(() => {});
  await new Promise((resolve) => server.close(resolve));
  return port;
}

function proxy(log: Log = silentLog) {
  const clock = new FakeClock();
  const subject = new NodePortProxy({ place: { address: '127.0.0.1' }, clock, log, random: () => 0 });
  closers.push(() => subject.stop());
  return { clock, subject };
}

const port = (nodePort: number, ...ports: number[]): ServicePort => ({
  id: 'default/web:80',
  protocol: 'tcp',
  clusterIps: [],
  port: 80,
  nodePort,
  endpoints: ports.map((number) => ({ address: '127.0.0.1', port: number })),
});

/** Says something, ends its own side, and resolves to what came back; undefined when the connection broke. */
function say(to: number, text = ''): Promise<string | undefined> {
  return new Promise((resolve) => {
    const socket = connect({ host: '127.0.0.1', port: to });
    let answer = '';
    socket.on('data', (chunk) => (answer += chunk.toString()));
    socket.on('end', () => resolve(answer));
    socket.on('error', () => resolve(undefined));
    socket.end(text);
  });
}

async function until(condition: () => Promise<boolean>): Promise<void> {
  while (!(await condition())) await new Promise((resolve) => setTimeout(resolve, 5));
}

describe('NodePortProxy', () => {
  it('passes on the end of one side and goes on with the other', async () => {
    const { port: target } = await serve((socket) => {
      let heard = '';
      socket.on('data', (chunk) => (heard += chunk.toString()));
      socket.on('end', () => socket.end(`heard ${heard}`));
    });
    const at = await freePort();
    const { subject } = proxy();
    subject.set('default/web', [port(at, target)]);
    await until(async () => (await say(at, 'you')) === 'heard you');
  });

  it('tries the next endpoint when one does not answer', async () => {
    const { port: target } = await serve((socket) => socket.end('here'));
    const [at, dead] = [await freePort(), await freePort()];
    const { subject } = proxy();
    subject.set('default/web', [port(at, dead, dead, target)]);
    await until(async () => (await say(at)) === 'here');
  });

  it('breaks off when there is no endpoint, and finds those that come', async () => {
    const { port: target } = await serve((socket) => socket.end('here'));
    const at = await freePort();
    const { subject } = proxy();
    subject.set('default/web', [port(at)]);
    await new Promise((resolve) => setTimeout(resolve, 20));
    expect(await say(at)).toBeUndefined();
    subject.set('default/web', [port(at, target)]);
    expect(await say(at)).toBe('here');
  });

  it('ends the connections of a Service that goes', async () => {
    let opened: Socket | undefined;
    const { port: target } = await serve((socket) => {
      opened = socket;
      socket.write('open');
    });
    const at = await freePort();
    const { subject } = proxy();
    subject.set('default/web', [port(at, target)]);
    await new Promise((resolve) => setTimeout(resolve, 20));
    const socket = connect({ host: '127.0.0.1', port: at });
    socket.on('error', () => {});
    await new Promise((resolve) => socket.once('data', resolve));
    const closed = new Promise((resolve) => opened!.resume().once('end', resolve));
    subject.set('default/web', []);
    await closed;
    expect(await say(at)).toBeUndefined();
  });

  it('waits for a port that another program has', async () => {
    const warnings: string[] = [];
    const { server, port: at } = await serve((socket) => socket.end('another program'));
    const { port: target } = await serve((socket) => socket.end('here'));
    const { clock, subject } = proxy({ ...silentLog, warn: (message) => warnings.push(message) });
    subject.set('default/web', [port(at, target)]);
    await until(async () => warnings.length > 0);
    expect(warnings).toEqual(['cannot open a node port; trying again']);
    expect(await say(at)).toBe('another program');
    await new Promise((resolve) => server.close(resolve));
    await clock.advance(10_000);
    await until(async () => (await say(at)) === 'here');
  });
});
