import type { Socket } from 'node:net';
import { ShimError, type ProgramStreams } from '../shim.ts';
import { encodeData, encodeMessage, FrameReader, type Frame } from '../wire/frames.ts';
import type { ClientMessage, OpenedStreams, ServerMessage, ShimCall, ShimCalls } from '../wire/messages.ts';
import { ClientSession } from './client-session.ts';

interface Waiting {
  resolve(value: unknown): void;
  reject(error: Error): void;
  /** For calls that open streams: makes them before the next frame, which may belong to them, is read. */
  open?: (streams: OpenedStreams) => void;
}

/** One connection to the shim. When it breaks, everything that waits is told, and it stays broken. */
export class ShimLink {
  readonly #socket: Socket;
  readonly #waiting = new Map<number, Waiting>();
  readonly #sessions = new Map<number, ClientSession>();
  #lastNumber = 0;
  #broken: ShimError | undefined;

  constructor(socket: Socket) {
    this.#socket = socket;
    const reader = new FrameReader();
    socket.on('data', (chunk: Buffer) => {
      try {
        for (const frame of reader.push(chunk)) this.#take(frame);
      } catch (error) {
        socket.destroy(error as Error);
      }
    });
    socket.on('error', () => undefined);
    socket.once('close', () => this.#break());
  }

  get isBroken(): boolean {
    return this.#broken !== undefined;
  }

  call<Name extends ShimCall>(name: Name, parameters: ShimCalls[Name]['parameters']): Promise<ShimCalls[Name]['result']> {
    return this.#call(name, parameters).answer as Promise<ShimCalls[Name]['result']>;
  }

  async open<Name extends 'attach' | 'run'>(name: Name, parameters: ShimCalls[Name]['parameters']): Promise<ProgramStreams> {
    let session: ClientSession | undefined;
    const { answer } = this.#call(name, parameters, (number, streams) => {
      session = this.#session(number, streams);
      this.#sessions.set(number, session);
    });
    await answer;
    return session!.streams;
  }

  close(): void {
    this.#socket.end();
    this.#break();
  }

  #call(name: ShimCall, parameters: unknown, open?: (number: number, streams: OpenedStreams) => void) {
    const number = ++this.#lastNumber;
    const answer = new Promise<unknown>((resolve, reject) => {
      if (this.#broken !== undefined) {
        reject(this.#broken);
        return;
      }
      this.#waiting.set(number, { resolve, reject, open: open && ((streams) => open(number, streams)) });
      this.#send({ type: 'call', number, name, parameters } as ClientMessage);
    });
    return { answer };
  }

  #session(number: number, streams: OpenedStreams): ClientSession {
    return new ClientSession(streams, {
      data: (bytes) => this.#write(encodeData(number, 0, bytes)),
      consumed: (stream, bytes) => this.#send({ type: 'consumed', session: number, stream, bytes }),
      resize: (columns, rows) => this.#send({ type: 'resize', session: number, columns, rows }),
      close: () => {
        this.#sessions.delete(number);
        this.#send({ type: 'close', session: number });
      },
    });
  }

  #take(frame: Frame): void {
    if (frame.kind === 'data') {
      this.#sessions.get(frame.session)?.output(frame.stream, frame.bytes);
      return;
    }
    const message = frame.message as ServerMessage;
    switch (message.type) {
      case 'result':
        this.#settle(message.number, (waiting) => {
          waiting.open?.(message.value as OpenedStreams);
          waiting.resolve(message.value);
        });
        break;
      case 'failure':
        this.#settle(message.number, (waiting) => waiting.reject(new ShimError(message.code, message.message)));
        break;
      case 'consumed':
        this.#sessions.get(message.session)?.consumed(message.bytes);
        break;
      case 'ended':
        this.#sessions.get(message.session)?.ended({ exitCode: message.exitCode, signal: message.signal });
        break;
    }
  }

  #settle(number: number, settle: (waiting: Waiting) => void): void {
    const waiting = this.#waiting.get(number);
    this.#waiting.delete(number);
    if (waiting !== undefined) settle(waiting);
  }

  #send(message: ClientMessage): void {
    this.#write(encodeMessage(message));
  }

  #write(frame: Buffer): void {
    if (this.#broken === undefined) this.#socket.write(frame);
  }

  #break(): void {
    if (this.#broken !== undefined) return;
    const error = new ShimError('Disconnected', 'Cannot go on with the shim: the connection to it is closed');
    this.#broken = error;
    for (const { reject } of this.#waiting.values()) reject(error);
    for (const session of this.#sessions.values()) session.broken(error);
    this.#waiting.clear();
    this.#sessions.clear();
  }
}
