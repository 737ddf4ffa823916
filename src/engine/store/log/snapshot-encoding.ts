import type { Version } from '../versions/version.ts';
import { crc32 } from './crc32.ts';
import { writeUint64 } from './integers.ts';

/**
 * The live state at one revision: a snapshot file and a backup are the same bytes. Layout, little-endian:
 *   header  0 magic · 8 version u32 · 12 crc32 of 16..32 · 16 revision u64 · 24 number of keys u64
 *   blocks  0 crc32 of 4..end · 4 body length u32 · 8 number in the sequence u32 · 12 count u32 · 16 body
 *   record  0 one u8 · 1 flags u8 · 2 key length u16 · 4 value length u32 · 8 revision u64 · 16 created revision u64 · 24 key · value
 * A block without records ends it. Without that block it was cut off.
 */
export const SNAPSHOT_MAGIC = Buffer.from('TNTRYSNP', 'latin1');
export const SNAPSHOT_VERSION = 1;
export const SNAPSHOT_HEADER_BYTES = 32;
export const BLOCK_HEADER_BYTES = 16;
export const ENTRY_HEADER_BYTES = 24;
export const SEALED_ENTRY = 1;

/** What is encoded in one synchronous slice. */
const BLOCK_BYTES = 256 * 1024;

/** `versions` is consumed: each one is let go as soon as it is encoded, so that a slow reader keeps little of the past in memory. */
export function* encodeSnapshot(
  versions: (Version | undefined)[],
  revision: number,
  prepare: (key: string, bytes: Uint8Array) => Uint8Array,
): Generator<Buffer> {
  yield encodeHeader(revision, versions.length);
  let sequence = 0;
  for (let next = 0; next < versions.length;) {
    const taken: { version: Version; stored: Uint8Array; keyLength: number }[] = [];
    let length = 0;
    while (next < versions.length && length < BLOCK_BYTES) {
      const version = versions[next]!;
      versions[next++] = undefined;
      const stored = prepare(version.key, version.bytes);
      const keyLength = Buffer.byteLength(version.key);
      taken.push({ version, stored, keyLength });
      length += ENTRY_HEADER_BYTES + keyLength + stored.length;
    }
    const block = Buffer.allocUnsafeSlow(BLOCK_HEADER_BYTES + length);
    let at = BLOCK_HEADER_BYTES;
    for (const { version, stored, keyLength } of taken) at = writeEntry(block, at, version, stored, keyLength);
    yield sealBlock(block, sequence++, taken.length);
  }
  yield sealBlock(Buffer.allocUnsafeSlow(BLOCK_HEADER_BYTES), sequence, 0);
}

function encodeHeader(revision: number, keys: number): Buffer {
  const header = Buffer.alloc(SNAPSHOT_HEADER_BYTES);
  SNAPSHOT_MAGIC.copy(header, 0);
  header.writeUInt32LE(SNAPSHOT_VERSION, 8);
  writeUint64(header, revision, 16);
  writeUint64(header, keys, 24);
  header.writeUInt32LE(crc32(header.subarray(16)), 12);
  return header;
}

function writeEntry(block: Buffer, at: number, version: Version, stored: Uint8Array, keyLength: number): number {
  block[at] = 1;
  block[at + 1] = stored === version.bytes ? 0 : SEALED_ENTRY;
  block.writeUInt16LE(keyLength, at + 2);
  block.writeUInt32LE(stored.length, at + 4);
  writeUint64(block, version.revision, at + 8);
  writeUint64(block, version.createdRevision, at + 16);
  block.write(version.key, at + ENTRY_HEADER_BYTES, 'utf8');
  block.set(stored, at + ENTRY_HEADER_BYTES + keyLength);
  return at + ENTRY_HEADER_BYTES + keyLength + stored.length;
}

function sealBlock(block: Buffer, sequence: number, count: number): Buffer {
  block.writeUInt32LE(block.length - BLOCK_HEADER_BYTES, 4);
  block.writeUInt32LE(sequence, 8);
  block.writeUInt32LE(count, 12);
  block.writeUInt32LE(crc32(block.subarray(4)), 0);
  return block;
}
