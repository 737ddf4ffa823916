import * as zlib from 'node:zlib';

/** CRC-32 (IEEE) of `bytes`, continued from `start`. Built into newer Node releases; the table below serves the older ones. */
export const crc32: (bytes: Uint8Array, start?: number) => number =
  typeof zlib.crc32 === 'function' ? (bytes, start = 0) => zlib.crc32(bytes, start) : crc32ByTable;

let tables: Int32Array[] | undefined;

/** Slicing by eight: eight table look-ups per eight bytes and no dependency between them. */
export function crc32ByTable(bytes: Uint8Array, start = 0): number {
  const [t0, t1, t2, t3, t4, t5, t6, t7] = (tables ??= makeTables());
  const length = bytes.length;
  let crc = ~start;
  let i = 0;
  for (const end = length - 7; i < end; i += 8) {
    crc ^= bytes[i] | (bytes[i + 1] << 8) | (bytes[i + 2] << 16) | (bytes[i + 3] << 24);
    crc =
      t7[crc & 255] ^
      t6[(crc >>> 8) & 255] ^
      t5[(crc >>> 16) & 255] ^
      t4[crc >>> 24] ^
      t3[bytes[i + 4]] ^
      t2[bytes[i + 5]] ^
      t1[bytes[i + 6]] ^
      t0[bytes[i + 7]];
  }
  for (; i < length; i++) crc = t0[(crc ^ bytes[i]) & 255] ^ (crc >>> 8);
  return ~crc >>> 0;
}

function makeTables(): Int32Array[] {
  const made = Array.from({ length: 8 }, () => new Int32Array(256));
  for (let n = 0; n < 256; n++) {
    let crc = n;
    for (let bit = 0; bit < 8; bit++) crc = crc & 1 ? (crc >>> 1) ^ 0xedb88320 : crc >>> 1;
    made[0][n] = crc;
  }
  for (let k = 1; k < 8; k++) {
    for (let n = 0; n < 256; n++) made[k][n] = (made[k - 1][n] >>> 8) ^ made[0][made[k - 1][n] & 255];
  }
  return made;
}
