import { existsSync, statfsSync } from 'node:fs';
import { open, rm } from 'node:fs/promises';
import { RESERVE_BYTES, type DiskView } from './model/store-room.ts';

const RESERVE = 'reserve';
const CHUNK = 1024 ** 2;

/** The disk of the data folder that this process is in. */
export function dataDisk(): DiskView {
  const { bavail, blocks, bsize } = statfsSync('.');
  return { freeBytes: bavail * bsize, totalBytes: blocks * bsize, hasReserve: existsSync(RESERVE) };
}

/** A file that is worth nothing but its room. */
export async function setReserve(there: boolean): Promise<void> {
  if (!there) return rm(RESERVE, { force: true });
  if (existsSync(RESERVE)) return;
  const file = await open(RESERVE, 'w', 0o600);
  try {
    const zeros = Buffer.alloc(CHUNK);
    for (let written = 0; written < RESERVE_BYTES; written += CHUNK) await file.write(zeros);
  } catch (error) {
    await rm(RESERVE, { force: true });
    throw error;
  } finally {
    await file.close();
  }
}
