import { connect, createServer, type Socket } from 'node:net';
import { once } from 'node:events';
import { buffer, text } from 'node:stream/consumers';
import * as fc from 'fast-check';
import { afterEach, describe, expect, it } from 'vitest';
import { FakeClock } from '../clock-fake.ts';
import { realClock } from '../clock.ts';
import { CONTROL, controlFrame, dataHead, words } from './frames.ts';
import { SpdyConnection, type SpdyOptions } from './spdy-connection.ts';
import type { SpdyStream } from './spdy-stream.ts';

const sockets: Socket[] = [];
afterEach(() => {
  for (const socket of sockets.splice(0)) socket.destroy();
});

async function socketPair(): Promise<[Socket, Socket]> {
  const server = createServer({ allowHalfOpen: true });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const near = connect({ port: (server.address() as { port: number }).port, host: '127.0.0.1', allowHalfOpen: true });
  const [far] = (await once(server, 'connection')) as [Socket];
  server.close();
  sockets.push(near, far);
  return [near, far];
}

async function connected(server: Partial<SpdyOptions> = {}) {
  const [near, far] = await socketPair();
  const client = new SpdyConnection(near, { role: 'client', clock: realClock });
  const served = new SpdyConnection(far, { role: 'server', clock: realClock, ...server });
  return { client, served, near, far };
}

const echo = (stream: SpdyStream): void => {
  stream.on('error', () => {});
  stream.pipe(stream);
};

describe('SpdyConnection', () => {
  it('a stream carries both directions and ends each on its own', async () => {
    const { client } = await connected({ onStream: echo });
    const stream = client.open({ streamtype: 'data' });
    await stream.accepted;
    stream.write('one ');
    stream.end('two');
    expect(await text(stream)).toBe('one two');
  });

  it('the server sees the headers and may refuse a stream', async () => {
    const { client } = await connected({
      onStream: (stream) => {
        if (stream.headers.port !== '80') throw new Error('not that one');
        echo(stream);
      },
    });
    const refused = client.open({ port: '81' });
    await expect(refused.accepted).rejects.toThrow('gave the stream up');
    await expect(client.open({ port: '80' }).accepted).resolves.toBeUndefined();
  });

  it('megabytes go through a reader that is slow to begin, in order and without growing', async () => {
    let received: SpdyStream | undefined;
    const { client } = await connected({ onStream: (stream) => (received = stream) });
    const stream = client.open({});
    await stream.accepted;
    const bytes = Buffer.alloc(8 * 1024 * 1024, 'abcdefghij');
    stream.end(bytes);
    await new Promise((resolve) => setTimeout(resolve, 100));
    expect(received!.readableLength).toBeLessThan(1024 * 1024);
    expect((await buffer(received!)).equals(bytes)).toBe(true);
  });

  it('closing gives open streams up at the other side', async () => {
    const { client, served } = await connected({ onStream: (stream) => stream.on('error', () => {}) });
    const stream = client.open({});
    await stream.accepted;
    const ended = once(stream, 'error');
    served.close();
    expect((await ended)[0]).toMatchObject({ name: 'SpdyError' });
    expect(await client.closed).toBeUndefined();
  });

  it('more streams than allowed are refused', async () => {
    const { client } = await connected({ onStream: echo, maxStreams: 2 });
    await client.open({}).accepted;
    await client.open({}).accepted;
    await expect(client.open({}).accepted).rejects.toThrow('status 3');
  });

  it('pings are answered', async () => {
    const [near, far] = await socketPair();
    const served = new SpdyConnection(far, { role: 'server', clock: realClock });
    const ping = controlFrame(CONTROL.ping, 0, words(7));
    near.write(ping);
    const [answer] = (await once(near, 'data')) as [Buffer];
    expect(answer.equals(ping)).toBe(true);
    served.close();
  });

  it('data for a stream that was never opened ends the connection, for one that has ended it is dropped', async () => {
    const { client, served, near } = await connected({ onStream: echo });
    const stream = client.open({});
    stream.end('all');
    await text(stream);
    near.write(Buffer.concat([dataHead(stream.id, 4, false), Buffer.from('late')]));
    await client.open({}).accepted;
    near.write(dataHead(77, 4, false));
    near.write('what');
    expect(await served.closed).toMatchObject({ code: 'ProtocolError', message: 'data came for stream 77, which was never opened' });
  });

  it('a connection that says nothing for four hours is closed', async () => {
    const clock = new FakeClock();
    const { served } = await connected({ clock, onStream: echo });
    await clock.advance(4 * 3600 * 1000);
    expect(await served.closed).toMatchObject({ code: 'Idle' });
  });

  it('garbage ends the connection with a reason, whatever it is', async () => {
    await fc.assert(
      fc.asyncProperty(fc.uint8Array({ minLength: 8, maxLength: 300 }), async (bytes) => {
        const [near, far] = await socketPair();
        const served = new SpdyConnection(far, { role: 'server', clock: realClock, onStream: echo });
        near.on('error', () => {});
        near.resume();
        near.end(bytes);
        const error = await served.closed;
        if (error !== undefined) expect(error.name).toBe('SpdyError');
        near.destroy();
        far.destroy();
      }),
      { numRuns: 60 },
    );
  });
});
