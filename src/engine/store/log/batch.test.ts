import { describe, expect, it } from 'vitest';
import { Version } from '../versions/version.ts';
import { BATCH_HEADER_BYTES, BatchEncoder, readBatchHeader, startsWithMark } from './batch.ts';
import { crc32 } from './crc32.ts';

const mark = Buffer.from('12345678');
const write = (key: string, stored: Uint8Array, revision: number) => ({ version: new Version(key, stored, revision, 1, false), stored });

const isIntact = (batch: Buffer) => readBatchHeader(batch, 0).checksum === crc32(batch.subarray(12));

describe('BatchEncoder', () => {
  it('encode makes an intact batch of values of any size, without copying the large ones', () => {
    const large = Buffer.alloc(40_000, 'l');
    const parts = new BatchEncoder().encode(mark, 77, [
      write('/small', Buffer.from('s'), 5),
      write('/large', large, 6),
      write('/empty', Buffer.alloc(0), 7),
      write('/größer', large, 8),
    ]);
    const batch = Buffer.concat(parts);
    const header = readBatchHeader(batch, 0);
    expect(header).toMatchObject({ bodyLength: batch.length - BATCH_HEADER_BYTES, syncedLength: 77, firstRevision: 5, count: 4 });
    expect([startsWithMark(batch, 0, mark), isIntact(batch)]).toEqual([true, true]);
    expect(parts.filter((part) => part.buffer === large.buffer)).toHaveLength(2);
  });

  it('encode makes batches again and again, also when they outgrow its buffer', () => {
    const encoder = new BatchEncoder();
    for (const count of [1, 200, 3]) {
      const writes = Array.from({ length: count }, (_, n) => write(`/${n}`, Buffer.alloc(1000, n), n + 1));
      const batch = Buffer.concat(encoder.encode(mark, 64, writes));
      expect(isIntact(batch)).toBe(true);
    }
  });

  it('the checksum notices a change of any byte behind the checksum', () => {
    const batch = Buffer.concat(new BatchEncoder().encode(mark, 64, [write('/a', Buffer.from('value'), 1)]));
    for (let at = 8; at < batch.length; at++) {
      batch[at] ^= 1;
      expect(isIntact(batch)).toBe(false);
      batch[at] ^= 1;
    }
  });
});
