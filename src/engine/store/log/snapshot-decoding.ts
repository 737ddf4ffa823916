import type { ByteReader } from './byte-reader.ts';
import { crc32 } from './crc32.ts';
import { readUint64 } from './integers.ts';
import {
  BLOCK_HEADER_BYTES,
  ENTRY_HEADER_BYTES,
  SEALED_ENTRY,
  SNAPSHOT_HEADER_BYTES,
  SNAPSHOT_MAGIC,
  SNAPSHOT_VERSION,
} from './snapshot-encoding.ts';

/** No block is larger than one slice and one value; a length beyond this is damage, not a reason to allocate. */
const LARGEST_BLOCK = 512 * 1024 * 1024;

/** One key of a snapshot. The value is where the reader's window has it, until the next one is asked for. */
export interface SnapshotEntry {
  key: string;
  sealed: boolean;
  revision: number;
  createdRevision: number;
  buffer: Buffer;
  valueStart: number;
  valueEnd: number;
}

export class SnapshotDamage extends Error {
  readonly newerVersion: boolean;

  constructor(message: string, newerVersion = false) {
    super(message);
    this.newerVersion = newerVersion;
  }
}

/** Reads a snapshot to its end and checks all of it. @returns its revision. @throws SnapshotDamage */
export async function decodeSnapshot(reader: ByteReader, onEntry: (entry: SnapshotEntry) => void): Promise<number> {
  const { revision, keys } = await readHeader(reader);
  let seen = 0;
  for (let sequence = 0; ; sequence++) {
    const count = await readBlock(reader, sequence, onEntry);
    seen += count;
    if (count > 0) continue;
    if (seen !== keys) throw new SnapshotDamage(`it holds ${seen} keys and announced ${keys}`);
    if (await reader.fill(1)) throw new SnapshotDamage('something follows its end');
    return revision;
  }
}

async function readHeader(reader: ByteReader): Promise<{ revision: number; keys: number }> {
  if (!(await reader.fill(SNAPSHOT_HEADER_BYTES))) throw new SnapshotDamage('it ends within its header');
  const header = reader.buffer.subarray(reader.start, reader.start + SNAPSHOT_HEADER_BYTES);
  if (!header.subarray(0, 8).equals(SNAPSHOT_MAGIC)) throw new SnapshotDamage('it does not begin like a snapshot');
  const version = header.readUInt32LE(8);
  if (version > SNAPSHOT_VERSION) throw new SnapshotDamage(`its format ${version} is newer than ${SNAPSHOT_VERSION}`, true);
  if (header.readUInt32LE(12) !== crc32(header.subarray(16))) throw new SnapshotDamage('the checksum of its header is wrong');
  reader.start += SNAPSHOT_HEADER_BYTES;
  return { revision: readUint64(header, 16), keys: readUint64(header, 24) };
}

async function readBlock(reader: ByteReader, sequence: number, onEntry: (entry: SnapshotEntry) => void): Promise<number> {
  if (!(await reader.fill(BLOCK_HEADER_BYTES))) throw new SnapshotDamage(`it was cut off behind block ${sequence}`);
  const length = reader.buffer.readUInt32LE(reader.start + 4);
  if (length > LARGEST_BLOCK) throw new SnapshotDamage(`the length of block ${sequence} is impossible`);
  if (!(await reader.fill(BLOCK_HEADER_BYTES + length))) throw new SnapshotDamage(`it was cut off within block ${sequence}`);
  const { buffer, start } = reader;
  const end = start + BLOCK_HEADER_BYTES + length;
  if (buffer.readUInt32LE(start) !== crc32(buffer.subarray(start + 4, end))) {
    throw new SnapshotDamage(`the checksum of block ${sequence} is wrong`);
  }
  if (buffer.readUInt32LE(start + 8) !== sequence) throw new SnapshotDamage(`block ${sequence} is missing`);
  const count = buffer.readUInt32LE(start + 12);
  let at = start + BLOCK_HEADER_BYTES;
  for (let i = 0; i < count; i++) at = readEntry(buffer, at, onEntry);
  reader.start = end;
  return count;
}

function readEntry(buffer: Buffer, at: number, onEntry: (entry: SnapshotEntry) => void): number {
  const keyStart = at + ENTRY_HEADER_BYTES;
  const valueStart = keyStart + buffer.readUInt16LE(at + 2);
  const valueEnd = valueStart + buffer.readUInt32LE(at + 4);
  onEntry({
    key: buffer.toString('utf8', keyStart, valueStart),
    sealed: (buffer[at + 1] & SEALED_ENTRY) !== 0,
    revision: readUint64(buffer, at + 8),
    createdRevision: readUint64(buffer, at + 16),
    buffer,
    valueStart,
    valueEnd,
  });
  return valueEnd;
}
