import type { StagedWrite } from '../journal.ts';
import { crc32 } from './crc32.ts';
import { readUint64, writeUint64 } from './integers.ts';
import { MARK_BYTES } from './segment-header.ts';

/**
 * One commit in a segment. Layout, little-endian:
 *   0 mark · 8 crc32 of 12..end · 12 body length u32 · 16 synced length u64 · 24 first revision u64 · 32 count u32 · 36 zero · 40 body
 * The body is `count` records of consecutive revisions:
 *   0 type u8 · 1 flags u8 · 2 key length u16 · 4 value length u32 · 8 key · value
 */
export const BATCH_HEADER_BYTES = 40;
export const RECORD_HEADER_BYTES = 8;
export const SEALED = 1;
export const PUT = 1;
export const REMOVE = 2;

/** Larger values are written from where they are; copying smaller ones is cheaper than one more element in the system call. */
const COPY_UP_TO = 16 * 1024;
const INITIAL_BUFFER = 64 * 1024;

export interface BatchHeader {
  checksum: number;
  bodyLength: number;
  /** How much of the segment was on disk when this batch was written: whatever is damaged below that was committed. */
  syncedLength: number;
  firstRevision: number;
  count: number;
}

/** Encodes batches into one buffer that is used again for every commit. */
export class BatchEncoder {
  #buffer = Buffer.allocUnsafeSlow(INITIAL_BUFFER);

  /** The parts to write one after the other; valid until the next call. */
  encode(mark: Buffer, syncedLength: number, writes: readonly StagedWrite[]): Buffer[] {
    this.#reserve(writes);
    const buffer = this.#buffer;
    const parts: Buffer[] = [];
    let partStart = 0;
    let end = BATCH_HEADER_BYTES;
    let bodyLength = 0;
    for (const { version, stored } of writes) {
      const keyLength = buffer.write(version.key, end + RECORD_HEADER_BYTES, 'utf8');
      buffer[end] = version.removed ? REMOVE : PUT;
      buffer[end + 1] = stored === version.bytes ? 0 : SEALED;
      buffer.writeUInt16LE(keyLength, end + 2);
      buffer.writeUInt32LE(stored.length, end + 4);
      end += RECORD_HEADER_BYTES + keyLength;
      bodyLength += RECORD_HEADER_BYTES + keyLength + stored.length;
      if (stored.length <= COPY_UP_TO) {
        buffer.set(stored, end);
        end += stored.length;
      } else {
        parts.push(buffer.subarray(partStart, end), Buffer.from(stored.buffer, stored.byteOffset, stored.length));
        partStart = end;
      }
    }
    if (end > partStart) parts.push(buffer.subarray(partStart, end));
    mark.copy(buffer, 0, 0, MARK_BYTES);
    buffer.writeUInt32LE(bodyLength, 12);
    writeUint64(buffer, syncedLength, 16);
    writeUint64(buffer, writes.length > 0 ? writes[0].version.revision : 0, 24);
    buffer.writeUInt32LE(writes.length, 32);
    buffer.writeUInt32LE(0, 36);
    let crc = crc32(parts[0].subarray(12));
    for (let i = 1; i < parts.length; i++) crc = crc32(parts[i], crc);
    buffer.writeUInt32LE(crc, 8);
    return parts;
  }

  #reserve(writes: readonly StagedWrite[]): void {
    let needed = BATCH_HEADER_BYTES;
    for (const { version, stored } of writes) {
      // A UTF-16 unit takes at most three bytes of UTF-8.
      needed += RECORD_HEADER_BYTES + version.key.length * 3 + (stored.length <= COPY_UP_TO ? stored.length : 0);
    }
    if (needed > this.#buffer.length) this.#buffer = Buffer.allocUnsafeSlow(2 ** Math.ceil(Math.log2(needed)));
  }
}

/** Reads the header at `offset`, where at least its length is available. The checksum is not looked at yet. */
export function readBatchHeader(from: Buffer, offset: number): BatchHeader {
  return {
    checksum: from.readUInt32LE(offset + 8),
    bodyLength: from.readUInt32LE(offset + 12),
    syncedLength: readUint64(from, offset + 16),
    firstRevision: readUint64(from, offset + 24),
    count: from.readUInt32LE(offset + 32),
  };
}

export function startsWithMark(from: Buffer, offset: number, mark: Buffer): boolean {
  return from.compare(mark, 0, MARK_BYTES, offset, offset + MARK_BYTES) === 0;
}
