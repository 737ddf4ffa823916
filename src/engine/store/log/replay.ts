import type { OpenFile } from '../files/file-system.ts';
import type { DurableView } from '../versions/durable-view.ts';
import { Version } from '../versions/version.ts';
import { BATCH_HEADER_BYTES, type BatchHeader, readBatchHeader, RECORD_HEADER_BYTES, REMOVE, SEALED, startsWithMark } from './batch.ts';
import { BlockReader } from './block-reader.ts';
import { SEGMENT_HEADER_BYTES, type SegmentHeader } from './segment-header.ts';
import type { StoredValues } from './stored-values.ts';

export interface Replayed {
  /** Where the last intact batch ends. */
  length: number;
  /** What is behind it: nothing, something that is not an intact batch, or an intact one that does not continue the revisions. */
  end: 'clean' | 'damaged' | 'out of order';
}

/** Applies the batches of a segment up to `limit`, or up to the first that is not intact. */
export async function replaySegment(
  file: OpenFile,
  header: SegmentHeader,
  limit: number,
  view: DurableView,
  values: StoredValues,
): Promise<Replayed> {
  let read = SEGMENT_HEADER_BYTES;
  const reader = new BlockReader(async (blocks) => {
    const count = await file.read(blocks, read);
    read += count;
    return count;
  });
  try {
    return await replayBatches(reader, header.mark, limit, view, values);
  } finally {
    await reader.stop();
  }
}

async function replayBatches(reader: BlockReader, mark: Buffer, limit: number, view: DurableView, values: StoredValues): Promise<Replayed> {
  let position = SEGMENT_HEADER_BYTES;
  while (position < limit) {
    const batch = await nextBatch(reader, mark, limit - position);
    if (!batch) return { length: position, end: 'damaged' };
    if (batch.count > 0 && batch.firstRevision !== view.revision + 1) return { length: position, end: 'out of order' };
    reader.advance(BATCH_HEADER_BYTES);
    applyBatch(reader, batch, view, values);
    position += BATCH_HEADER_BYTES + batch.bodyLength;
  }
  return { length: position, end: 'clean' };
}

/** The intact batch at the cursor; undefined when there is none within `remaining` bytes. */
async function nextBatch(reader: BlockReader, mark: Buffer, remaining: number): Promise<BatchHeader | undefined> {
  if (remaining < BATCH_HEADER_BYTES || !(await reader.fill(BATCH_HEADER_BYTES))) return undefined;
  reader.locate(BATCH_HEADER_BYTES);
  if (!startsWithMark(reader.view, reader.at, mark)) return undefined;
  const batch = readBatchHeader(reader.view, reader.at);
  const length = BATCH_HEADER_BYTES + batch.bodyLength;
  if (length > remaining || !(await reader.fill(length))) return undefined;
  return reader.checksum(12, length - 12) === batch.checksum ? batch : undefined;
}

function applyBatch(reader: BlockReader, batch: BatchHeader, view: DurableView, values: StoredValues): void {
  for (let i = 0; i < batch.count; i++) {
    reader.locate(RECORD_HEADER_BYTES);
    const keyLength = reader.view.readUInt16LE(reader.at + 2);
    const valueLength = reader.view.readUInt32LE(reader.at + 4);
    const length = RECORD_HEADER_BYTES + keyLength + valueLength;
    reader.locate(length);
    const { view: buffer, at } = reader;
    const valueStart = at + RECORD_HEADER_BYTES + keyLength;
    const key = buffer.toString('utf8', at + RECORD_HEADER_BYTES, valueStart);
    const bytes = values.fromStored(key, (buffer[at + 1] & SEALED) !== 0, buffer, valueStart, valueStart + valueLength);
    const revision = batch.firstRevision + i;
    const createdRevision = view.get(key)?.createdRevision ?? revision;
    view.apply(new Version(key, bytes, revision, createdRevision, buffer[at] === REMOVE));
    reader.advance(length);
  }
  view.enforceLimit();
}
