import type { OpenFile } from '../files/file-system.ts';
import { BATCH_HEADER_BYTES, readBatchHeader } from './batch.ts';
import { crc32 } from './crc32.ts';

const WINDOW = 4 * 1024 * 1024;

/**
 * Whether a committed batch follows the damage at `position`. A batch is written only after the one before it is on disk and says
 * how much of the segment was: if that reaches over the damage, what is damaged was committed, not torn by a power cut.
 */
export async function committedBehind(file: OpenFile, mark: Buffer, position: number, size: number): Promise<boolean> {
  const window = Buffer.allocUnsafeSlow(WINDOW);
  // Windows overlap by one header, so that none is missed between two.
  for (let start = position; start + BATCH_HEADER_BYTES <= size; start += WINDOW - BATCH_HEADER_BYTES) {
    const length = await file.read([window.subarray(0, Math.min(WINDOW, size - start))], start);
    const seen = window.subarray(0, length);
    for (let at = seen.indexOf(mark); at >= 0; at = seen.indexOf(mark, at + 1)) {
      if (await isCommittedBatch(file, start + at, position, size)) return true;
    }
  }
  return false;
}

async function isCommittedBatch(file: OpenFile, at: number, damaged: number, size: number): Promise<boolean> {
  const header = Buffer.alloc(BATCH_HEADER_BYTES);
  if ((await file.read([header], at)) < BATCH_HEADER_BYTES) return false;
  const batch = readBatchHeader(header, 0);
  if (batch.syncedLength <= damaged || at + BATCH_HEADER_BYTES + batch.bodyLength > size) return false;
  const body = Buffer.allocUnsafeSlow(batch.bodyLength);
  await file.read([body], at + BATCH_HEADER_BYTES);
  return crc32(body, crc32(header.subarray(12))) === batch.checksum;
}
