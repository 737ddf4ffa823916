import { text } from 'node:stream/consumers';
import { describe, expect, it } from 'vitest';
import { ChannelConnection, type ChannelOptions, type MessageSocket } from './channel-connection.ts';

/** A socket whose messages the test sends and looks at. */
function socket() {
  const sent: (Buffer | string)[] = [];
  let receive = (_message: Buffer): void => {};
  let close = (_code: number, _reason: string): void => {};
  const state = { paused: false };
  const made: MessageSocket = {
    send: (message, done) => {
      sent.push(message);
      done();
    },
    pause: () => (state.paused = true),
    resume: () => (state.paused = false),
    close: (code, reason = '') => close(code, reason),
    onMessage: (listener) => (receive = listener),
    onClose: (listener) => (close = listener),
  };
  return { made, sent, state, receive: (...bytes: (number | string)[]) => receive(message(bytes)), close: () => close(1000, 'bye') };
}

function message(bytes: (number | string)[]): Buffer {
  return Buffer.concat(bytes.map((part) => (typeof part === 'number' ? Buffer.from([part]) : Buffer.from(part))));
}

function connection(options: Partial<ChannelOptions> = {}) {
  const wire = socket();
  return { wire, channels: new ChannelConnection(wire.made, { encoding: 'binary', closeSignal: 'none', ...options }) };
}

describe('ChannelConnection', () => {
  it('messages go to the channel they begin with, others are dropped', async () => {
    const { wire, channels } = connection();
    const stdin = channels.readable(0);
    wire.receive(0, 'one ');
    wire.receive(9, 'for nobody');
    wire.receive();
    wire.receive(0, 'two');
    wire.close();
    expect(await text(stdin)).toBe('one two');
    expect(await channels.closed).toEqual({ code: 1000, reason: 'bye' });
  });

  it('what is written carries its channel', () => {
    const { wire, channels } = connection();
    channels.greet(1);
    channels.writable(2).write('err');
    expect(wire.sent).toEqual([Buffer.from([1]), message([2, 'err'])]);
  });

  it('base64 has a digit and text', async () => {
    const { wire, channels } = connection({ encoding: 'base64' });
    const stdin = channels.readable(0);
    channels.writable(1).write('hello');
    expect(wire.sent).toEqual(['1aGVsbG8=']);
    wire.receive('0aGVsbG8=');
    wire.close();
    expect(await text(stdin)).toBe('hello');
  });

  it('the close signal ends one channel and leaves the others', async () => {
    const { wire, channels } = connection({ closeSignal: 'receive' });
    const stdin = channels.readable(0);
    const sizes = channels.readable(4);
    wire.receive(0, 'all');
    wire.receive(255, 0);
    expect(await text(stdin)).toBe('all');
    wire.receive(0, 'too late');
    wire.receive(4, 'size');
    wire.close();
    expect(await text(sizes)).toBe('size');
  });

  it('a client sends the signal when it ends a channel', () => {
    const { wire, channels } = connection({ closeSignal: 'send' });
    channels.writable(0).end('last');
    expect(wire.sent).toEqual([message([0, 'last']), Buffer.from([255, 0])]);
  });

  it('a reader that is behind makes the socket wait until it has caught up', async () => {
    const { wire, channels } = connection();
    const stdin = channels.readable(0);
    wire.receive(0, 'x'.repeat(300_000));
    expect(wire.state.paused).toBe(true);
    stdin.resume();
    await new Promise((resolve) => setImmediate(resolve));
    expect(wire.state.paused).toBe(false);
  });

  it('writing after the end is an error, not a message', async () => {
    const { wire, channels } = connection();
    const stdout = channels.writable(1);
    wire.close();
    const failed = new Promise<Error>((resolve) => stdout.once('error', resolve));
    stdout.write('x');
    expect((await failed).message).toContain('closed');
    expect(wire.sent).toEqual([]);
  });
});
