import type { OpenFile } from '../files/file-system.ts';
import type { DurableView } from '../versions/durable-view.ts';
import { Version } from '../versions/version.ts';
import {
  BATCH_HEADER_BYTES,
  type BatchHeader,
  isIntact,
  readBatchHeader,
  RECORD_HEADER_BYTES,
  REMOVE,
  SEALED,
  startsWithMark,
} from './batch.ts';
import { ByteReader } from './byte-reader.ts';
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
  const reader = new ByteReader(async (into, offset, length) => {
    const count = await file.read(into, offset, Math.min(length, limit - read), read);
    read += count;
    return count;
  });
  let position = SEGMENT_HEADER_BYTES;
  while (position < limit) {
    const batch = await nextBatch(reader, header.mark, limit - position);
    if (!batch) return { length: position, end: 'damaged' };
    if (batch.count > 0 && batch.firstRevision !== view.revision + 1) return { length: position, end: 'out of order' };
    applyBatch(reader.buffer, reader.start + BATCH_HEADER_BYTES, batch, view, values);
    reader.start += BATCH_HEADER_BYTES + batch.bodyLength;
    position += BATCH_HEADER_BYTES + batch.bodyLength;
  }
  return { length: position, end: 'clean' };
}

/**
 * Whether a committed batch follows the damage at `position`. A batch is written only after the one before it is on disk and says
 * how much of the segment was: if that reaches over the damage, what is damaged was committed, not torn by a power cut.
 */
export async function committedBehind(file: OpenFile, mark: Buffer, position: number, size: number): Promise<boolean> {
  let read = position;
  const reader = new ByteReader(async (into, offset, length) => {
    const count = await file.read(into, offset, Math.min(length, size - read), read);
    read += count;
    return count;
  });
  while (await reader.fill(BATCH_HEADER_BYTES)) {
    const found = reader.buffer.subarray(0, reader.end).indexOf(mark, reader.start);
    if (found < 0) {
      reader.start = reader.end - (mark.length - 1);
      continue;
    }
    reader.start = found;
    const remaining = size - read + reader.available;
    const batch = await nextBatch(reader, mark, remaining);
    if (batch && batch.syncedLength > position) return true;
    reader.start += 1;
  }
  return false;
}

/** The intact batch at the start of the window; undefined when there is none. */
async function nextBatch(reader: ByteReader, mark: Buffer, remaining: number): Promise<BatchHeader | undefined> {
  if (remaining < BATCH_HEADER_BYTES || !(await reader.fill(BATCH_HEADER_BYTES))) return undefined;
  if (!startsWithMark(reader.buffer, reader.start, mark)) return undefined;
  const batch = readBatchHeader(reader.buffer, reader.start);
  const length = BATCH_HEADER_BYTES + batch.bodyLength;
  if (length > remaining || !(await reader.fill(length))) return undefined;
  return isIntact(reader.buffer, reader.start, batch.bodyLength) ? batch : undefined;
}

function applyBatch(buffer: Buffer, start: number, batch: BatchHeader, view: DurableView, values: StoredValues): void {
  let at = start;
  for (let i = 0; i < batch.count; i++) {
    const keyStart = at + RECORD_HEADER_BYTES;
    const valueStart = keyStart + buffer.readUInt16LE(at + 2);
    const valueEnd = valueStart + buffer.readUInt32LE(at + 4);
    const key = buffer.toString('utf8', keyStart, valueStart);
    const bytes = values.fromStored(key, (buffer[at + 1] & SEALED) !== 0, buffer, valueStart, valueEnd);
    const revision = batch.firstRevision + i;
    const createdRevision = view.get(key)?.createdRevision ?? revision;
    view.apply(new Version(key, bytes, revision, createdRevision, buffer[at] === REMOVE));
    at = valueEnd;
  }
  view.enforceLimit();
}
