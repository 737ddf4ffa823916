import { randomFillSync } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { crc32, crc32ByTable } from './crc32.ts';

describe.each([
  ['crc32', crc32],
  ['crc32ByTable', crc32ByTable],
])('%s', (_name, checksum) => {
  it('gives the check value of CRC-32', () => {
    expect(checksum(Buffer.from('123456789')).toString(16)).toBe('cbf43926');
  });

  it('goes on from a start value', () => {
    expect(checksum(Buffer.from('56789'), checksum(Buffer.from('1234')))).toBe(0xcbf43926);
  });
});

describe('crc32', () => {
  it('is the same with and without the table, at every length and alignment', () => {
    const bytes = randomFillSync(Buffer.alloc(300));
    for (let length = 0; length < 280; length++) {
      const part = bytes.subarray(length % 9, (length % 9) + length);
      expect(crc32ByTable(part, length)).toBe(crc32(part, length));
    }
  });
});
