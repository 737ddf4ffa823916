import { HeaderReader, type SpdyHeaders } from './header-block.ts';
import { SpdyError } from './spdy-error.ts';

/** SPDY/3.1 as Kubernetes uses it: streams with headers and data. Priorities and windows are read and have no effect. */
export type Frame =
  | { type: 'synStream'; stream: number; headers: SpdyHeaders; fin: boolean; unidirectional: boolean }
  | { type: 'synReply'; stream: number; headers: SpdyHeaders; fin: boolean }
  | { type: 'headers'; stream: number; headers: SpdyHeaders; fin: boolean }
  | { type: 'rstStream'; stream: number; status: number }
  | { type: 'ping'; id: number }
  | { type: 'goAway'; lastStream: number; status: number }
  | { type: 'settings' }
  | { type: 'windowUpdate'; stream: number; delta: number }
  /** A piece of a data frame: they are handed on as they arrive, whatever the size of the frame. `fin` comes with the last piece. */
  | { type: 'data'; stream: number; bytes: Buffer; fin: boolean };

export const CONTROL = { synStream: 1, synReply: 2, rstStream: 3, settings: 4, ping: 6, goAway: 7, headers: 8, windowUpdate: 9 } as const;

export const RESET = { protocolError: 1, invalidStream: 2, refusedStream: 3, cancel: 5, internalError: 6 } as const;

export const FLAG_FIN = 0x01;
const FLAG_UNIDIRECTIONAL = 0x02;
const VERSION = 3;
const HEAD_BYTES = 8;
/** Headers and settings are small; nobody may make us gather more before the frame is complete. */
const MAX_CONTROL_BYTES = 64 * 1024;
const STREAM_MASK = 0x7fffffff;

/** Turns bytes into frames, however they are cut. */
export class FrameParser {
  readonly #headers = new HeaderReader();
  /** What came of a frame that is not complete: joined only when it is, or frames sent byte by byte would cost the square of their size. */
  #parts: Buffer[] = [];
  #size = 0;
  #needed = HEAD_BYTES;
  /** The data frame whose payload is still arriving. */
  #data: { stream: number; fin: boolean; left: number } | undefined;

  /** @throws SpdyError; the parser is of no use after that. */
  *push(chunk: Buffer): Generator<Frame> {
    let bytes = chunk;
    if (this.#size > 0) {
      this.#keep(chunk);
      if (this.#size < this.#needed) return;
      bytes = Buffer.concat(this.#parts);
      this.#parts = [];
      this.#size = 0;
    }
    while (bytes.length > 0) {
      if (this.#data !== undefined) {
        const taken = bytes.subarray(0, this.#data.left);
        bytes = bytes.subarray(taken.length);
        yield this.#piece(this.#data, taken);
        continue;
      }
      this.#needed = frameBytes(bytes);
      if (bytes.length < this.#needed) break;
      const frame = isControl(bytes) ? this.#control(bytes.subarray(0, this.#needed)) : this.#beginData(bytes);
      bytes = bytes.subarray(this.#needed);
      if (frame !== undefined) yield frame;
    }
    if (bytes.length > 0) this.#keep(bytes);
  }

  /** A copy: a few bytes would hold on to a large chunk. */
  #keep(bytes: Buffer): void {
    this.#parts.push(Buffer.from(bytes));
    this.#size += bytes.length;
    if (this.#size >= HEAD_BYTES && this.#needed === HEAD_BYTES) {
      this.#parts = [Buffer.concat(this.#parts)];
      this.#needed = frameBytes(this.#parts[0]);
    }
  }

  #beginData(bytes: Buffer): Frame | undefined {
    const stream = bytes.readUInt32BE(0);
    const length = payloadBytes(bytes);
    if (stream === 0) throw new SpdyError('ProtocolError', 'a data frame belongs to no stream');
    const fin = (bytes[4] & FLAG_FIN) !== 0;
    if (length === 0) return { type: 'data', stream, bytes: EMPTY, fin };
    this.#data = { stream, fin, left: length };
    return undefined;
  }

  #piece(data: { stream: number; fin: boolean; left: number }, bytes: Buffer): Frame {
    data.left -= bytes.length;
    const last = data.left === 0;
    if (last) this.#data = undefined;
    return { type: 'data', stream: data.stream, bytes, fin: last && data.fin };
  }

  #control(frame: Buffer): Frame | undefined {
    const version = frame.readUInt16BE(0) & 0x7fff;
    if (version !== VERSION) throw new SpdyError('ProtocolError', `a frame is of SPDY version ${version}; only ${VERSION} is spoken here`);
    const type = frame.readUInt16BE(2);
    const flags = frame[4];
    const payload = frame.subarray(HEAD_BYTES);
    const need = (bytes: number): void => {
      if (payload.length < bytes) throw new SpdyError('ProtocolError', `a control frame of type ${type} is too short`);
    };
    switch (type) {
      case CONTROL.synStream:
        need(10);
        return {
          type: 'synStream',
          stream: streamOf(payload),
          headers: this.#headers.read(payload.subarray(10)),
          fin: (flags & FLAG_FIN) !== 0,
          unidirectional: (flags & FLAG_UNIDIRECTIONAL) !== 0,
        };
      case CONTROL.synReply:
      case CONTROL.headers:
        need(4);
        return {
          type: type === CONTROL.synReply ? 'synReply' : 'headers',
          stream: streamOf(payload),
          headers: this.#headers.read(payload.subarray(4)),
          fin: (flags & FLAG_FIN) !== 0,
        };
      case CONTROL.rstStream:
        need(8);
        return { type: 'rstStream', stream: streamOf(payload), status: payload.readUInt32BE(4) };
      case CONTROL.settings:
        return { type: 'settings' };
      case CONTROL.ping:
        need(4);
        return { type: 'ping', id: payload.readUInt32BE(0) };
      case CONTROL.goAway:
        need(8);
        return { type: 'goAway', lastStream: payload.readUInt32BE(0) & STREAM_MASK, status: payload.readUInt32BE(4) };
      case CONTROL.windowUpdate:
        need(8);
        return { type: 'windowUpdate', stream: payload.readUInt32BE(0) & STREAM_MASK, delta: payload.readUInt32BE(4) };
      default:
        // Unknown kinds of frames are to be passed over.
        return undefined;
    }
  }
}

const EMPTY: Buffer = Buffer.alloc(0);

function isControl(bytes: Buffer): boolean {
  return (bytes[0] & 0x80) !== 0;
}

function payloadBytes(bytes: Buffer): number {
  return bytes.readUInt32BE(4) & 0xffffff;
}

/** How much has to be there before the frame can be looked at: all of a control frame, the head of a data frame. */
function frameBytes(bytes: Buffer): number {
  if (bytes.length < HEAD_BYTES || !isControl(bytes)) return HEAD_BYTES;
  const length = payloadBytes(bytes);
  if (length > MAX_CONTROL_BYTES) {
    throw new SpdyError('ProtocolError', `a control frame has ${length} bytes; at most ${MAX_CONTROL_BYTES} are taken`);
  }
  return HEAD_BYTES + length;
}

function streamOf(payload: Buffer): number {
  const stream = payload.readUInt32BE(0) & STREAM_MASK;
  if (stream === 0) throw new SpdyError('ProtocolError', 'a control frame belongs to no stream');
  return stream;
}

export function controlFrame(type: number, flags: number, payload: Buffer): Buffer {
  const frame = Buffer.alloc(HEAD_BYTES + payload.length);
  frame.writeUInt16BE(0x8000 | VERSION, 0);
  frame.writeUInt16BE(type, 2);
  frame.writeUInt32BE(payload.length, 4);
  frame[4] = flags;
  payload.copy(frame, HEAD_BYTES);
  return frame;
}

/** The head of a data frame; the payload follows as it is. */
export function dataHead(stream: number, length: number, fin: boolean): Buffer {
  const head = Buffer.alloc(HEAD_BYTES);
  head.writeUInt32BE(stream, 0);
  head.writeUInt32BE(length, 4);
  if (fin) head[4] = FLAG_FIN;
  return head;
}

export function words(...values: number[]): Buffer {
  const bytes = Buffer.alloc(values.length * 4);
  values.forEach((value, index) => bytes.writeUInt32BE(value >>> 0, index * 4));
  return bytes;
}
