/**
 * What crosses the socket: `<u32 length><u8 kind><payload>`, either a message in JSON or a piece of a stream
 * (`<u32 session><u8 stream><bytes>`). A piece without bytes is the end of its stream.
 */
export type Frame = { kind: 'message'; message: unknown } | { kind: 'data'; session: number; stream: StreamNumber; bytes: Buffer };

export type StreamNumber = 0 | 1 | 2;

const MESSAGE = 0;
const DATA = 1;
const HEADER_BYTES = 5;
const DATA_HEADER_BYTES = HEADER_BYTES + 5;
/** A program's environment and arguments fit (the kernel takes 2 MiB); whoever sends more does not speak this protocol. */
const MAX_FRAME_BYTES = 16 * 1024 * 1024;

export function encodeMessage(message: unknown): Buffer {
  const text = JSON.stringify(message);
  const length = Buffer.byteLength(text);
  const frame = Buffer.allocUnsafe(HEADER_BYTES + length);
  frame.writeUInt32BE(length + 1, 0);
  frame[4] = MESSAGE;
  frame.write(text, HEADER_BYTES);
  return frame;
}

export function encodeData(session: number, stream: StreamNumber, bytes: Uint8Array): Buffer {
  const frame = Buffer.allocUnsafe(DATA_HEADER_BYTES + bytes.byteLength);
  frame.writeUInt32BE(bytes.byteLength + 6, 0);
  frame[4] = DATA;
  frame.writeUInt32BE(session, 5);
  frame[9] = stream;
  frame.set(bytes, DATA_HEADER_BYTES);
  return frame;
}

/** Cuts what arrives into frames, whatever the pieces it arrives in. */
export class FrameReader {
  #held: Buffer[] = [];
  #heldBytes = 0;
  #wanted = HEADER_BYTES;

  *push(chunk: Buffer): Generator<Frame> {
    this.#held.push(chunk);
    this.#heldBytes += chunk.length;
    while (this.#heldBytes >= this.#wanted) {
      // Joined only once there is enough: a frame in many small pieces is not copied again for each.
      const bytes = this.#held.length === 1 ? this.#held[0] : Buffer.concat(this.#held);
      const total = 4 + frameLength(bytes);
      if (bytes.length < total) {
        this.#keep(bytes);
        this.#wanted = total;
        return;
      }
      this.#keep(bytes.subarray(total));
      this.#wanted = HEADER_BYTES;
      yield parse(bytes.subarray(4, total));
    }
  }

  #keep(rest: Buffer): void {
    this.#held = rest.length === 0 ? [] : [rest];
    this.#heldBytes = rest.length;
  }
}

function frameLength(bytes: Buffer): number {
  const length = bytes.readUInt32BE(0);
  if (length === 0 || length > MAX_FRAME_BYTES)
    throw new Error(`Cannot read a frame of ${length} bytes: this is not the protocol of the shim`);
  return length;
}

function parse(body: Buffer): Frame {
  if (body[0] === MESSAGE) return { kind: 'message', message: JSON.parse(body.toString('utf8', 1)) };
  const stream = body[5];
  if (body[0] === DATA && body.length >= 6 && (stream === 0 || stream === 1 || stream === 2)) {
    return { kind: 'data', session: body.readUInt32BE(1), stream, bytes: body.subarray(6) };
  }
  throw new Error(`Cannot read a frame of kind ${body[0]}: this is not the protocol of the shim`);
}
