import { Readable, Writable } from 'node:stream';

/** What is needed of a WebSocket. */
export interface MessageSocket {
  send(message: Buffer | string, done: (error?: Error) => void): void;
  pause(): void;
  resume(): void;
  close(code: number, reason?: string): void;
  onMessage(listener: (message: Buffer) => void): void;
  onClose(listener: (code: number, reason: string) => void): void;
}

export interface ChannelOptions {
  /** `base64` for clients that cannot take binary messages: the channel is a digit, the rest is encoded. */
  encoding: 'binary' | 'base64';
  /** Channel 255 says which channel ends: both sides of v5 know it, only clients send it. */
  closeSignal: 'send' | 'receive' | 'none';
}

export interface ChannelEnd {
  code: number;
  reason: string;
}

const CLOSE_CHANNEL = 255;
const READ_BUFFER_BYTES = 256 * 1024;

/**
 * Several streams on one WebSocket, as Kubernetes' `channel.k8s.io` protocols have it: each message begins with the number of its
 * channel. A reader that is behind makes the whole socket wait.
 */
export class ChannelConnection {
  readonly closed: Promise<ChannelEnd>;
  readonly #socket: MessageSocket;
  readonly #options: ChannelOptions;
  readonly #readers = new Map<number, Readable>();
  readonly #blocked = new Set<number>();
  #isClosed = false;

  constructor(socket: MessageSocket, options: ChannelOptions) {
    this.#socket = socket;
    this.#options = options;
    socket.onMessage((message) => this.#receive(message));
    this.closed = new Promise((resolve) => {
      socket.onClose((code, reason) => {
        this.#isClosed = true;
        for (const reader of this.#readers.values()) if (!reader.readableEnded) reader.push(null);
        this.#readers.clear();
        resolve({ code, reason });
      });
    });
  }

  /** What arrives on a channel. What arrives on channels that nobody asked for is dropped. */
  readable(channel: number): Readable {
    const reader = new Readable({
      highWaterMark: READ_BUFFER_BYTES,
      read: () => this.#block(channel, false),
      destroy: (error, done) => {
        this.#readers.delete(channel);
        this.#block(channel, false);
        done(error);
      },
    });
    this.#readers.set(channel, reader);
    return reader;
  }

  writable(channel: number): Writable {
    return new Writable({
      write: (chunk: Buffer, _encoding, done) => this.#send(channel, chunk, done),
      final: (done) => {
        if (this.#options.closeSignal === 'send' && !this.#isClosed) this.#socket.send(Buffer.from([CLOSE_CHANNEL, channel]), done);
        else done();
      },
    });
  }

  /** An empty message tells the client that the connection is there. */
  greet(channel: number): void {
    this.#send(channel, Buffer.alloc(0), () => {});
  }

  close(code = 1000, reason?: string): void {
    this.#socket.close(code, reason);
  }

  #send(channel: number, bytes: Buffer, done: (error?: Error | null) => void): void {
    if (this.#isClosed) {
      done(new Error('the connection is closed'));
      return;
    }
    if (this.#options.encoding === 'base64') {
      this.#socket.send(`${channel}${bytes.toString('base64')}`, done);
      return;
    }
    const message = Buffer.allocUnsafe(bytes.length + 1);
    message[0] = channel;
    bytes.copy(message, 1);
    this.#socket.send(message, done);
  }

  #receive(message: Buffer): void {
    if (message.length === 0) return;
    const { encoding, closeSignal } = this.#options;
    if (closeSignal === 'receive' && message[0] === CLOSE_CHANNEL) {
      this.#finish(message[1]);
      return;
    }
    const channel = encoding === 'base64' ? message[0] - 0x30 : message[0];
    const reader = this.#readers.get(channel);
    if (reader === undefined || message.length === 1) return;
    const bytes = encoding === 'base64' ? Buffer.from(message.toString('latin1', 1), 'base64') : message.subarray(1);
    if (!reader.push(bytes)) this.#block(channel, true);
  }

  #finish(channel: number): void {
    this.#readers.get(channel)?.push(null);
    this.#readers.delete(channel);
  }

  #block(channel: number, isBlocked: boolean): void {
    const before = this.#blocked.size;
    if (isBlocked) this.#blocked.add(channel);
    else this.#blocked.delete(channel);
    if (this.#isClosed) return;
    if (this.#blocked.size > 0 && before === 0) this.#socket.pause();
    else if (this.#blocked.size === 0 && before > 0) this.#socket.resume();
  }
}
