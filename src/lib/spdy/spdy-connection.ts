import type { Duplex } from 'node:stream';
import type { Clock, Timer } from '../clock.ts';
import { CONTROL, controlFrame, dataHead, FrameParser, RESET, words, type Frame } from './frames.ts';
import { HeaderWriter, type SpdyHeaders } from './header-block.ts';
import { SpdyError } from './spdy-error.ts';
import { SpdyStream, type StreamCarrier } from './spdy-stream.ts';

export interface SpdyOptions {
  role: 'server' | 'client';
  /** A stream that the other side opened. What this throws refuses the stream. */
  onStream?(stream: SpdyStream): void;
  clock: Clock;
  /** The connection is given up after so long without a byte in either direction. */
  idleMs?: number;
  /** More than these at a time are refused. */
  maxStreams?: number;
  /** Absent: a stream whose reader is behind may keep all others waiting for as long as it likes. */
  patience?: Patience;
}

/** A stream that was read nothing of for `ms`, while all others waited for it, is given up if it `isOver`. */
export interface Patience {
  ms: number;
  isOver(): boolean;
}

const FOUR_HOURS_MS = 4 * 3600 * 1000;
const MAX_STREAMS = 2000;
/** Whether others wait by now for a stream that is blocked for long is looked at so often. */
const LOOK_AGAIN_MS = 1000;
const LAST_STREAM_ID = 0x7fffffff;

/** A SPDY/3.1 connection on a socket that both sides have agreed to use that way. */
export class SpdyConnection {
  /** Resolves when the connection is over, with the error that ended it if it was one. */
  readonly closed: Promise<SpdyError | undefined>;
  readonly #socket: Duplex;
  readonly #options: SpdyOptions;
  readonly #parser = new FrameParser();
  readonly #packer = new HeaderWriter();
  readonly #streams = new Map<number, SpdyStream>();
  /** Those whose readers are behind, and what ends our patience with them. */
  readonly #blocked = new Map<number, Timer | undefined>();
  readonly #carrier: StreamCarrier;
  #resolveClosed!: (error: SpdyError | undefined) => void;
  #nextId: number;
  #lastReceived = 0;
  #goneAway = false;
  #over = false;
  #lastActivity: number;
  #idle: Timer;

  constructor(socket: Duplex, options: SpdyOptions, head?: Buffer) {
    this.#socket = socket;
    this.#options = options;
    this.#nextId = options.role === 'server' ? 2 : 1;
    this.closed = new Promise((resolve) => (this.#resolveClosed = resolve));
    this.#carrier = {
      data: (stream, bytes, fin, written) => this.#data(stream, bytes, fin, written),
      reset: (stream) => this.#send(controlFrame(CONTROL.rstStream, 0, words(stream, RESET.cancel))),
      blocked: (stream, isBlocked) => this.#block(stream, isBlocked),
      forget: (stream) => this.#forget(stream),
    };
    this.#lastActivity = options.clock.monotonic();
    this.#idle = this.#watchIdle(options.idleMs ?? FOUR_HOURS_MS);
    if (head !== undefined && head.length > 0) socket.unshift(head);
    socket.on('data', (chunk: Buffer) => this.#receive(chunk));
    socket.on('error', (error) => this.#end(new SpdyError('Closed', `the connection broke: ${error.message}`, { cause: error })));
    socket.on('end', () => this.#end());
    socket.on('close', () => this.#end());
    if (socket.destroyed) this.#end();
  }

  /** Opens a stream; the other side may still refuse it (see `accepted`). */
  open(headers: SpdyHeaders): SpdyStream {
    if (this.#over || this.#goneAway) throw new SpdyError('Closed', 'the connection is closing');
    if (this.#nextId > LAST_STREAM_ID) throw new SpdyError('Closed', 'the connection has no stream numbers left');
    const stream = new SpdyStream(this.#carrier, this.#nextId, headers, true);
    this.#nextId += 2;
    this.#streams.set(stream.id, stream);
    const payload = Buffer.concat([words(stream.id, 0), Buffer.alloc(2), this.#packer.write(headers)]);
    this.#send(controlFrame(CONTROL.synStream, 0, payload));
    return stream;
  }

  /** Gives up the streams that are not finished, says goodbye and closes the socket once everything is written. */
  close(): void {
    if (this.#over) return;
    for (const stream of this.#streams.values()) {
      if (!stream.isFinished) this.#carrier.reset(stream.id);
      stream.receiveReset(new SpdyError('Closed', 'the connection was closed'));
    }
    this.#send(controlFrame(CONTROL.goAway, 0, words(this.#lastReceived, 0)));
    this.#finish(undefined);
    this.#socket.resume();
    this.#socket.end();
  }

  #receive(chunk: Buffer): void {
    this.#lastActivity = this.#options.clock.monotonic();
    try {
      for (const frame of this.#parser.push(chunk)) {
        if (this.#over) return;
        this.#handle(frame);
      }
    } catch (error) {
      this.#abort(error instanceof SpdyError ? error : new SpdyError('InternalError', (error as Error).message, { cause: error }));
    }
  }

  #handle(frame: Frame): void {
    switch (frame.type) {
      case 'synStream':
        return this.#accept(frame);
      case 'synReply': {
        const stream = this.#streams.get(frame.stream);
        stream?.receiveReply();
        if (frame.fin) stream?.receive(Buffer.alloc(0), true);
        return;
      }
      case 'data':
        return this.#dataFor(frame);
      case 'headers':
        if (frame.fin) this.#streams.get(frame.stream)?.receive(Buffer.alloc(0), true);
        return;
      case 'rstStream':
        this.#streams.get(frame.stream)?.receiveReset(new SpdyError('Reset', `the other side gave the stream up (status ${frame.status})`));
        return;
      case 'ping':
        // Those with our own parity are answers to pings of ours.
        if (frame.id % 2 !== this.#nextId % 2) this.#send(controlFrame(CONTROL.ping, 0, words(frame.id)));
        return;
      case 'goAway':
        this.#goneAway = true;
        return this.#endWhenDone();
      case 'settings':
      case 'windowUpdate':
        return;
    }
  }

  #dataFor({ stream: id, bytes, fin }: Frame & { type: 'data' }): void {
    const stream = this.#streams.get(id);
    if (stream !== undefined) return stream.receive(bytes, fin);
    // What was on its way when a stream ended is dropped.
    const isOurs = id % 2 === this.#nextId % 2;
    if (isOurs ? id >= this.#nextId : id > this.#lastReceived) {
      throw new SpdyError('ProtocolError', `data came for stream ${id}, which was never opened`);
    }
  }

  #accept({ stream: id, headers, fin, unidirectional }: Frame & { type: 'synStream' }): void {
    if (this.#goneAway) return;
    const isTheirs = id % 2 !== this.#nextId % 2;
    if (!isTheirs || id <= this.#lastReceived) {
      this.#send(controlFrame(CONTROL.rstStream, 0, words(id, RESET.protocolError)));
      return;
    }
    this.#lastReceived = id;
    const { onStream, maxStreams = MAX_STREAMS } = this.#options;
    if (onStream === undefined || this.#streams.size >= maxStreams) {
      this.#send(controlFrame(CONTROL.rstStream, 0, words(id, RESET.refusedStream)));
      return;
    }
    const stream = new SpdyStream(this.#carrier, id, headers, false);
    this.#streams.set(id, stream);
    try {
      onStream(stream);
    } catch {
      stream.on('error', () => {});
      stream.destroy();
      return;
    }
    this.#send(controlFrame(CONTROL.synReply, 0, Buffer.concat([words(id), this.#packer.write({})])));
    if (unidirectional) stream.end();
    if (fin) stream.receive(Buffer.alloc(0), true);
  }

  #data(stream: number, bytes: Buffer, fin: boolean, written: (error?: Error | null) => void): void {
    if (this.#over) {
      written(new SpdyError('Closed', 'the connection is closed'));
      return;
    }
    this.#lastActivity = this.#options.clock.monotonic();
    const head = dataHead(stream, bytes.length, fin);
    if (bytes.length === 0) {
      this.#socket.write(head, written);
      return;
    }
    this.#socket.cork();
    this.#socket.write(head);
    this.#socket.write(bytes, written);
    this.#socket.uncork();
  }

  #send(frame: Buffer): void {
    if (!this.#over && !this.#socket.destroyed && !this.#socket.writableEnded) this.#socket.write(frame);
  }

  #block(stream: number, isBlocked: boolean): void {
    const before = this.#blocked.size;
    if (!isBlocked) {
      this.#blocked.get(stream)?.cancel();
      this.#blocked.delete(stream);
    } else if (!this.#blocked.has(stream)) this.#blocked.set(stream, this.#bearWith(stream));
    if (this.#blocked.size > 0 && before === 0) this.#socket.pause();
    else if (this.#blocked.size === 0 && before > 0) this.#socket.resume();
  }

  #bearWith(id: number, ms = this.#options.patience?.ms): Timer | undefined {
    const { patience, clock } = this.#options;
    if (patience === undefined || ms === undefined) return undefined;
    return clock.setTimer(ms, () => {
      const stream = this.#streams.get(id);
      if (patience.isOver())
        stream?.destroy(new SpdyError('Idle', `nothing was read for ${patience.ms / 1000} seconds while others waited`));
      else if (stream) this.#blocked.set(id, this.#bearWith(id, LOOK_AGAIN_MS));
    });
  }

  #forget(stream: number): void {
    this.#block(stream, false);
    this.#streams.delete(stream);
    this.#endWhenDone();
  }

  #endWhenDone(): void {
    if (!this.#goneAway || this.#streams.size > 0 || this.#over) return;
    this.#finish(undefined);
    this.#socket.end();
  }

  #abort(error: SpdyError): void {
    this.#send(controlFrame(CONTROL.goAway, 0, words(this.#lastReceived, error.code === 'ProtocolError' ? 1 : 2)));
    this.#end(error);
    this.#socket.end(() => this.#socket.destroy());
  }

  /** The socket is no more, or of no more use. */
  #end(error?: SpdyError): void {
    if (this.#over) return;
    this.#finish(error);
    const reason = error ?? new SpdyError('Closed', 'the connection was closed');
    for (const stream of this.#streams.values()) stream.receiveReset(reason);
    if (error === undefined) this.#socket.end();
  }

  #finish(error: SpdyError | undefined): void {
    this.#over = true;
    this.#idle.cancel();
    this.#resolveClosed(error);
  }

  /** One timer, looked after only when it fires: connections are busy far more often than idle. */
  #watchIdle(idleMs: number, wait = idleMs): Timer {
    return this.#options.clock.setTimer(wait, () => {
      const left = this.#lastActivity + idleMs - this.#options.clock.monotonic();
      if (left > 0) this.#idle = this.#watchIdle(idleMs, left);
      else this.#abort(new SpdyError('Idle', `nothing was heard for ${idleMs / 1000} seconds`));
    });
  }
}
