import { constants, inflateRawSync } from 'node:zlib';
import { DICTIONARY_ID, HEADER_DICTIONARY } from './dictionary.ts';
import { SpdyError } from './spdy-error.ts';

/** Names in lower case. */
export type SpdyHeaders = Record<string, string>;

/** What the headers of one frame may be when unpacked. */
const MAX_BLOCK_BYTES = 64 * 1024;
const MAX_HEADERS = 200;
/** How far deflate looks back. */
const WINDOW_BYTES = 32 * 1024;
const FLAG_DICTIONARY = 0x20;

/**
 * Unpacks the header blocks of one direction of a connection. They are one zlib stream, flushed at the end of each block: so a block
 * is whole bytes, and needs no more than what was unpacked before it.
 */
export class HeaderReader {
  #window: Buffer | undefined;

  /** @throws SpdyError */
  read(packed: Buffer): SpdyHeaders {
    const body = this.#window === undefined ? this.#begin(packed) : packed;
    const history = this.#window!;
    let block: Buffer;
    try {
      block = inflateRawSync(body, {
        finishFlush: constants.Z_SYNC_FLUSH,
        maxOutputLength: MAX_BLOCK_BYTES,
        ...(history.length > 0 && { dictionary: history }),
      });
    } catch (error) {
      throw new SpdyError('ProtocolError', 'the headers of a frame cannot be unpacked', { cause: error });
    }
    this.#window = tailOf(history, block);
    return parseBlock(block);
  }

  /** The two bytes of zlib's own header, and the id of the dictionary if it is used. */
  #begin(packed: Buffer): Buffer {
    const valid = packed.length >= 2 && (packed[0] & 0x0f) === 8 && packed.readUInt16BE(0) % 31 === 0;
    if (!valid) throw new SpdyError('ProtocolError', 'the headers of the first frame are not packed with zlib');
    if ((packed[1] & FLAG_DICTIONARY) === 0) {
      this.#window = Buffer.alloc(0);
      return packed.subarray(2);
    }
    if (packed.length < 6 || packed.readUInt32BE(2) !== DICTIONARY_ID) {
      throw new SpdyError('ProtocolError', 'the headers of the first frame are packed with an unknown dictionary');
    }
    this.#window = HEADER_DICTIONARY;
    return packed.subarray(6);
  }
}

function tailOf(history: Buffer, block: Buffer): Buffer {
  if (block.length >= WINDOW_BYTES) return block.subarray(block.length - WINDOW_BYTES);
  const kept = Math.min(history.length, WINDOW_BYTES - block.length);
  return Buffer.concat([history.subarray(history.length - kept), block]);
}

function parseBlock(block: Buffer): SpdyHeaders {
  let at = 0;
  const number = (): number => {
    if (at + 4 > block.length) throw cutShort();
    at += 4;
    return block.readUInt32BE(at - 4);
  };
  const text = (): string => {
    const length = number();
    if (at + length > block.length) throw cutShort();
    at += length;
    return block.toString('utf8', at - length, at);
  };
  const count = number();
  if (count > MAX_HEADERS) throw new SpdyError('ProtocolError', `a frame has ${count} headers; at most ${MAX_HEADERS} are taken`);
  const headers = new Map<string, string>();
  for (let index = 0; index < count; index++) {
    const name = text().toLowerCase();
    headers.set(name, text());
  }
  return Object.fromEntries(headers);
}

function cutShort(): SpdyError {
  return new SpdyError('ProtocolError', 'the headers of a frame end before they are complete');
}

/** zlib's header: deflate, no dictionary. */
const ZLIB_HEADER = Buffer.from([0x78, 0x01]);
/** An empty stored block: what a flush ends with, and what makes readers hand out what they have. */
const FLUSH = Buffer.from([0x00, 0x00, 0x00, 0xff, 0xff]);

/**
 * Packs header blocks without making them smaller: stored blocks are valid deflate, need no state, and the few headers of our streams
 * are not worth more.
 */
export class HeaderWriter {
  #begun = false;

  write(headers: SpdyHeaders): Buffer {
    const block = blockOf(headers);
    const stored = Buffer.alloc(5);
    stored.writeUInt16LE(block.length, 1);
    stored.writeUInt16LE(block.length ^ 0xffff, 3);
    const parts = [stored, block, FLUSH];
    if (!this.#begun) parts.unshift(ZLIB_HEADER);
    this.#begun = true;
    return Buffer.concat(parts);
  }
}

function blockOf(headers: SpdyHeaders): Buffer {
  const entries = Object.entries(headers);
  const parts = [uint32(entries.length)];
  for (const [name, value] of entries) {
    for (const text of [name.toLowerCase(), value]) {
      const bytes = Buffer.from(text);
      parts.push(uint32(bytes.length), bytes);
    }
  }
  const block = Buffer.concat(parts);
  if (block.length > 0xffff) throw new SpdyError('InternalError', 'the headers of a stream are larger than 64 KiB');
  return block;
}

function uint32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(value);
  return bytes;
}
