import { Duplex } from 'node:stream';
import type { SpdyHeaders } from './header-block.ts';
import { SpdyError } from './spdy-error.ts';

/** What a stream asks of its connection. */
export interface StreamCarrier {
  data(stream: number, bytes: Buffer, fin: boolean, written: (error?: Error | null) => void): void;
  reset(stream: number): void;
  /** The reader of this stream is behind, or is not any more. */
  blocked(stream: number, isBlocked: boolean): void;
  forget(stream: number): void;
}

/** How much a stream takes in before its reader has to keep up: then the whole connection waits, as SPDY's windows are not used here. */
const READ_BUFFER_BYTES = 256 * 1024;
/** Clients' own buffers are of this order; larger frames would only delay those of other streams. */
const MAX_FRAME_BYTES = 64 * 1024;

/** One stream of a connection: both directions end on their own. Destroying it resets it at the other side. */
export class SpdyStream extends Duplex {
  readonly id: number;
  readonly headers: SpdyHeaders;
  /** Settles once the other side has taken the stream, for those we opened. */
  readonly accepted: Promise<void>;
  readonly #carrier: StreamCarrier;
  #settle: { resolve(): void; reject(error: Error): void } | undefined;
  #sentFin = false;
  #receivedFin = false;

  constructor(carrier: StreamCarrier, id: number, headers: SpdyHeaders, openedByUs: boolean) {
    super({ readableHighWaterMark: READ_BUFFER_BYTES, writableHighWaterMark: MAX_FRAME_BYTES });
    this.#carrier = carrier;
    this.id = id;
    this.headers = headers;
    this.accepted = openedByUs
      ? new Promise((resolve, reject) => {
          this.#settle = { resolve, reject };
        })
      : Promise.resolve();
    // Whoever does not wait for it hears of the end from the stream.
    this.accepted.catch(() => {});
  }

  get isFinished(): boolean {
    return this.#sentFin;
  }

  /** For the connection: the other side took the stream. */
  receiveReply(): void {
    this.#settle?.resolve();
    this.#settle = undefined;
  }

  /** For the connection: bytes from the other side. */
  receive(bytes: Buffer, fin: boolean): void {
    if (this.destroyed || this.#receivedFin) return;
    if (bytes.length > 0 && !this.push(bytes)) this.#carrier.blocked(this.id, true);
    if (!fin) return;
    this.#receivedFin = true;
    this.push(null);
  }

  /** For the connection: the other side gave the stream up, or the connection is gone. */
  receiveReset(error: SpdyError): void {
    this.#sentFin = true;
    this.#receivedFin = true;
    this.#settle?.reject(error);
    this.#settle = undefined;
    if (this.listenerCount('error') === 0) this.on('error', () => {});
    this.destroy(error);
  }

  override _read(): void {
    this.#carrier.blocked(this.id, false);
  }

  override _write(chunk: Buffer, _encoding: BufferEncoding, done: (error?: Error | null) => void): void {
    let at = 0;
    while (chunk.length - at > MAX_FRAME_BYTES) {
      this.#carrier.data(this.id, chunk.subarray(at, at + MAX_FRAME_BYTES), false, () => {});
      at += MAX_FRAME_BYTES;
    }
    this.#carrier.data(this.id, at === 0 ? chunk : chunk.subarray(at), false, done);
  }

  override _final(done: (error?: Error | null) => void): void {
    this.#sentFin = true;
    this.#carrier.data(this.id, Buffer.alloc(0), true, done);
  }

  override _destroy(error: Error | null, done: (error?: Error | null) => void): void {
    if (!this.#sentFin || !this.#receivedFin) this.#carrier.reset(this.id);
    this.#settle?.reject(error ?? new SpdyError('Closed', 'the stream was closed'));
    this.#settle = undefined;
    this.#carrier.forget(this.id);
    done(error);
  }
}
