import type { Http2Stream } from 'node:http2';
import { decodePacket, encodePacket, type Packet } from './packets.ts';

/** As gRPC has it: a byte for compression, four for the length. */
const HEAD_BYTES = 5;
/** What a gRPC server takes by default. */
const MAX_BYTES = 4 * 1024 * 1024;

export const CONNECT_PATH = '/AgentService/Connect';
export const GRPC = 'application/grpc';

/** One gRPC call that goes both ways, as packets. */
export class PacketStream {
  readonly #stream: Http2Stream;
  #rest: Buffer = Buffer.alloc(0);
  /** Who cannot take more just now. */
  readonly #holding = new Set<unknown>();

  constructor(stream: Http2Stream, on: { packet(packet: Packet): void; end(why: Error | undefined): void }) {
    this.#stream = stream;
    let ended = false;
    const end = (why?: Error): void => {
      if (ended) return;
      ended = true;
      on.end(why);
      stream.destroy();
    };
    stream.on('data', (chunk: Buffer) => {
      try {
        for (const packet of this.#packets(chunk)) on.packet(packet);
      } catch (error) {
        end(error as Error);
      }
    });
    stream.once('end', () => end());
    stream.once('aborted', () => end());
    stream.once('close', () => end());
    stream.on('error', (error) => end(error));
  }

  get isOpen(): boolean {
    return !this.#stream.destroyed && this.#stream.writable;
  }

  /** @param sent called when there is room for more, also when the stream is gone */
  send(packet: Packet, sent?: () => void): void {
    if (!this.isOpen) {
      if (sent) queueMicrotask(sent);
      return;
    }
    const bytes = encodePacket(packet);
    const head = Buffer.alloc(HEAD_BYTES);
    head.writeUInt32BE(bytes.length, 1);
    this.#stream.write(Buffer.concat([head, bytes]), () => sent?.());
  }

  /** Nothing more comes until all who held it let go. */
  hold(who: unknown): void {
    this.#holding.add(who);
    this.#stream.pause();
  }

  release(who: unknown): void {
    if (this.#holding.delete(who) && this.#holding.size === 0) this.#stream.resume();
  }

  close(): void {
    this.#stream.destroy();
  }

  *#packets(chunk: Buffer): Generator<Packet> {
    let rest = this.#rest.length === 0 ? chunk : Buffer.concat([this.#rest, chunk]);
    while (rest.length >= HEAD_BYTES) {
      const length = rest.readUInt32BE(1);
      if (rest[0] !== 0) throw new RangeError('a packet of the tunnel is compressed');
      if (length > MAX_BYTES) throw new RangeError(`a packet of the tunnel has ${length} bytes, which is too much`);
      if (rest.length < HEAD_BYTES + length) break;
      const packet = decodePacket(rest.subarray(HEAD_BYTES, HEAD_BYTES + length));
      rest = rest.subarray(HEAD_BYTES + length);
      if (packet) yield packet;
    }
    this.#rest = rest;
  }
}
