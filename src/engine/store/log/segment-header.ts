import { crc32 } from './crc32.ts';
import { readUint64, writeUint64 } from './integers.ts';

/**
 * A segment file: this header, then batches. Layout, little-endian:
 *   0 magic · 8 version u32 · 12 crc32 of 16..64 · 16 number u64 · 24 base revision u64 · 32 previous length u64 · 40 mark · 48 zero
 */
export const SEGMENT_HEADER_BYTES = 64;
export const MARK_BYTES = 8;

const MAGIC = Buffer.from('TNTRYLOG', 'latin1');
const VERSION = 1;

export interface SegmentHeader {
  number: number;
  /** The store's revision before the first batch. */
  baseRevision: number;
  /** How much of the previous segment was committed when this one began; what is behind that was refused and does not count. */
  previousLength: number;
  /** Random; starts every batch of this segment, so that no stored value can pass for a batch. */
  mark: Buffer;
}

export function encodeSegmentHeader(header: SegmentHeader): Buffer {
  const bytes = Buffer.alloc(SEGMENT_HEADER_BYTES);
  MAGIC.copy(bytes, 0);
  bytes.writeUInt32LE(VERSION, 8);
  writeUint64(bytes, header.number, 16);
  writeUint64(bytes, header.baseRevision, 24);
  writeUint64(bytes, header.previousLength, 32);
  header.mark.copy(bytes, 40, 0, MARK_BYTES);
  bytes.writeUInt32LE(crc32(bytes.subarray(16)), 12);
  return bytes;
}

/** The header at the start of `bytes`; undefined when there is no whole and valid one. */
export function decodeSegmentHeader(bytes: Buffer): SegmentHeader | undefined {
  if (bytes.length < SEGMENT_HEADER_BYTES || !bytes.subarray(0, 8).equals(MAGIC)) return undefined;
  if (bytes.readUInt32LE(8) !== VERSION) return undefined;
  if (bytes.readUInt32LE(12) !== crc32(bytes.subarray(16, SEGMENT_HEADER_BYTES))) return undefined;
  return {
    number: readUint64(bytes, 16),
    baseRevision: readUint64(bytes, 24),
    previousLength: readUint64(bytes, 32),
    mark: Buffer.from(bytes.subarray(40, 40 + MARK_BYTES)),
  };
}
