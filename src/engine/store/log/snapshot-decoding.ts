import type { BlockReader } from './block-reader.ts';
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

/** Takes one key of a snapshot; its value is `from[start..end)`. */
export type OnSnapshotEntry = (
  key: string,
  revision: number,
  createdRevision: number,
  sealed: boolean,
  from: Buffer,
  start: number,
  end: number,
) => void;

export class SnapshotDamage extends Error {
  readonly newerVersion: boolean;

  constructor(message: string, newerVersion = false) {
    super(message);
    this.newerVersion = newerVersion;
  }
}

/** Reads a snapshot to its end and checks all of it. @returns its revision. @throws SnapshotDamage */
export async function decodeSnapshot(reader: BlockReader, onEntry: OnSnapshotEntry): Promise<number> {
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

async function readHeader(reader: BlockReader): Promise<{ revision: number; keys: number }> {
  if (!(await reader.fill(SNAPSHOT_HEADER_BYTES))) throw new SnapshotDamage('it ends within its header');
  reader.locate(SNAPSHOT_HEADER_BYTES);
  const header = reader.view.subarray(reader.at, reader.at + SNAPSHOT_HEADER_BYTES);
  if (!header.subarray(0, 8).equals(SNAPSHOT_MAGIC)) throw new SnapshotDamage('it does not begin like a snapshot');
  const version = header.readUInt32LE(8);
  if (version > SNAPSHOT_VERSION) throw new SnapshotDamage(`its format ${version} is newer than ${SNAPSHOT_VERSION}`, true);
  if (header.readUInt32LE(12) !== crc32(header.subarray(16))) throw new SnapshotDamage('the checksum of its header is wrong');
  reader.advance(SNAPSHOT_HEADER_BYTES);
  return { revision: readUint64(header, 16), keys: readUint64(header, 24) };
}

async function readBlock(reader: BlockReader, sequence: number, onEntry: OnSnapshotEntry): Promise<number> {
  if (!(await reader.fill(BLOCK_HEADER_BYTES))) throw new SnapshotDamage(`it was cut off behind block ${sequence}`);
  reader.locate(BLOCK_HEADER_BYTES);
  const { view, at } = reader;
  const length = view.readUInt32LE(at + 4);
  if (length > LARGEST_BLOCK) throw new SnapshotDamage(`the length of block ${sequence} is impossible`);
  if (!(await reader.fill(BLOCK_HEADER_BYTES + length))) throw new SnapshotDamage(`it was cut off within block ${sequence}`);
  if (view.readUInt32LE(at) !== reader.checksum(4, BLOCK_HEADER_BYTES - 4 + length)) {
    throw new SnapshotDamage(`the checksum of block ${sequence} is wrong`);
  }
  if (view.readUInt32LE(at + 8) !== sequence) throw new SnapshotDamage(`block ${sequence} is missing`);
  const count = view.readUInt32LE(at + 12);
  reader.advance(BLOCK_HEADER_BYTES);
  for (let i = 0; i < count; i++) readEntry(reader, onEntry);
  return count;
}

function readEntry(reader: BlockReader, onEntry: OnSnapshotEntry): void {
  reader.locate(ENTRY_HEADER_BYTES);
  const keyLength = reader.view.readUInt16LE(reader.at + 2);
  const valueLength = reader.view.readUInt32LE(reader.at + 4);
  const length = ENTRY_HEADER_BYTES + keyLength + valueLength;
  reader.locate(length);
  const { view, at } = reader;
  const keyStart = at + ENTRY_HEADER_BYTES;
  const valueStart = keyStart + keyLength;
  onEntry(
    view.toString('utf8', keyStart, valueStart),
    readUint64(view, at + 8),
    readUint64(view, at + 16),
    (view[at + 1] & SEALED_ENTRY) !== 0,
    view,
    valueStart,
    valueStart + valueLength,
  );
  reader.advance(length);
}
