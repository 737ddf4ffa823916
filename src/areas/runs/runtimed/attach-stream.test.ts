import { once } from 'node:events';
import { createServer, type AddressInfo, type Socket } from 'node:net';
import { Server, status, type ServerDuplexStream } from '@grpc/grpc-js';
import { afterEach, describe, expect, it } from 'vitest';
import { realClock } from '../../../lib/clock.ts';
import { Runtime, type AttachEvent, type AttachRequest } from '../protocol/generated/executor_pb.js';
import { grpcService } from '../protocol/grpc-service.ts';
import { listen } from '../protocol/listen.ts';
import { AttachStream, HOST_AND_PORT } from './attach-stream.ts';

type Call = ServerDuplexStream<AttachRequest, object>;

const undo: (() => void)[] = [];
afterEach(() => {
  for (const each of undo.splice(0)) each();
});

async function serve(attach?: (call: Call) => void, port = 0): Promise<{ server: Server; port: number }> {
  const server = new Server({ 'grpc.max_send_message_length': -1 });
  server.addService(grpcService(Runtime), attach === undefined ? {} : { attach });
  undo.push(() => server.forceShutdown());
  return { server, port: await listen(server, `127.0.0.1:${port}`) };
}

function open(port: number, headers: Record<string, string> = {}): AttachStream {
  const stream = new AttachStream({ endpoint: `127.0.0.1:${port}`, headers: () => headers, clock: realClock });
  undo.push(() => stream.end());
  return stream;
}

const forget = (id: string) => ({ request: { case: 'forget', value: { id } } });
const started = (id: string) => ({ id, event: { case: 'started', value: { id } } });

describe('AttachStream', () => {
  it('says all in its order, and hears each answer', async () => {
    const { port } = await serve((call) => call.on('data', ({ request }: AttachRequest) => call.write(started(idOf(request)))));
    const stream = open(port);
    const heard: string[] = [];
    stream.on('data', ({ id }: AttachEvent) => heard.push(id));
    const ids = Array.from({ length: 100 }, (_, i) => `run-${i}`);
    for (const id of ids.slice(0, 50)) stream.write(forget(id));
    await expect.poll(() => heard.length, { timeout: 10_000 }).toBe(50);
    for (const id of ids.slice(50)) stream.write(forget(id));
    await expect.poll(() => heard, { timeout: 10_000 }).toEqual(ids);
  });

  it('hears messages that are larger than any packet', async () => {
    const data = Buffer.alloc(3 << 20, 'x');
    const { port } = await serve((call) => void call.write({ id: 'a', event: { case: 'output', value: { stream: 'stdout', data } } }));
    const [event] = (await once(open(port), 'data')) as [AttachEvent];
    expect(event.event.case === 'output' && Buffer.compare(event.event.value.data, data)).toBe(0);
  });

  it('waits for a server that is not there yet', async () => {
    const { server, port } = await serve();
    server.forceShutdown();
    const stream = open(port);
    stream.write(forget('early'));
    await new Promise((resolve) => setTimeout(resolve, 100));
    await serve((call) => call.on('data', ({ request }: AttachRequest) => call.write(started(idOf(request)))), port);
    expect(((await once(stream, 'data')) as [AttachEvent])[0].id).toBe('early');
  });

  it('tells that the server has no such method', async () => {
    const { port } = await serve();
    await expect(failureOf(open(port))).resolves.toMatchObject({ code: status.UNIMPLEMENTED });
  });

  it('sends its headers, and tells with what the server refused it', async () => {
    const { port } = await serve((call) => {
      if (call.metadata.get('x-key')[0] === 'right') call.write(started('a'));
      else call.emit('error', { code: status.UNAUTHENTICATED, details: 'the key is wrong: ä' });
    });
    await expect(failureOf(open(port, { 'x-key': 'wrong' }))).resolves.toMatchObject({
      code: status.UNAUTHENTICATED,
      details: 'the key is wrong: ä',
    });
    expect(((await once(open(port, { 'x-key': 'right' }), 'data')) as [AttachEvent])[0].id).toBe('a');
  });

  it('tells that the connection was lost', async () => {
    const { server, port } = await serve((call) => void call.write(started('a')));
    const stream = open(port);
    await once(stream, 'data');
    const failed = failureOf(stream);
    server.forceShutdown();
    await expect(failed).resolves.toMatchObject({ code: status.UNAVAILABLE });
  });

  it('tells that the connection was lost when it breaks before any answer', async () => {
    const sockets: Socket[] = [];
    const server = createServer((socket) => {
      sockets.push(socket);
      socket.once('data', () => socket.destroy());
    });
    undo.push(() => server.close());
    await once(server.listen(0, '127.0.0.1'), 'listening');
    const stream = open((server.address() as AddressInfo).port);
    await expect(failureOf(stream)).resolves.toMatchObject({ code: status.UNAVAILABLE });
    expect(sockets).toHaveLength(1);
  });

  it('tells an end that the server made', async () => {
    const { port } = await serve((call) => call.end());
    await once(open(port), 'end');
  });

  it('says what is left before it ends', async () => {
    const heard: string[] = [];
    const { port } = await serve((call) => {
      call.on('data', ({ request }: AttachRequest) => heard.push(idOf(request)));
      call.on('end', () => call.end());
      call.write(started('a'));
    });
    const stream = open(port);
    await once(stream, 'data');
    const ended = once(stream, 'end');
    stream.write(forget('last'));
    stream.end();
    await ended;
    expect(heard).toEqual(['last']);
  });

  it.each([
    ['localhost:9091', true],
    ['10.0.0.1:9091', true],
    ['[fd00::1]:9091', true],
    ['unix:/run/x.sock', false],
    ['dns:///localhost:9091', false],
    ['localhost', false],
  ])('is for hosts and ports: %s', (endpoint, isOne) => {
    expect(HOST_AND_PORT.test(endpoint)).toBe(isOne);
  });
});

function idOf(request: AttachRequest['request']): string {
  return request.case === undefined ? '' : request.value.id;
}

function failureOf(stream: AttachStream): Promise<Error> {
  return new Promise((resolve) => stream.once('error', resolve));
}
