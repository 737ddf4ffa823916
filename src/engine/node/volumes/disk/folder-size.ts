import { lstat, opendir } from 'node:fs/promises';
import { join } from 'node:path';
import type { Clock } from '../../../../lib/clock.ts';
import { errorCode } from './handles.ts';

/** How old a measurement may be. */
const FRESH_MS = 10_000;
/** A walk that took long is not repeated before so many times that long has passed: measuring costs at most a fiftieth of a core. */
const REST = 50;

interface Measurement {
  bytes: Promise<number>;
  /** Until when it is good; undefined while it is being made. */
  until?: number;
}

/** Bytes that folders use on disk, remembered for a while. */
export class FolderSizes {
  #clock: Clock;
  #known = new Map<string, Measurement>();
  #turn: Promise<unknown> = Promise.resolve();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  sizeOf(folder: string): Promise<number> {
    const known = this.#known.get(folder);
    if (known && (known.until === undefined || this.#clock.monotonic() < known.until)) return known.bytes;
    // One walk at a time: many volumes must not make the disk busy together.
    const measurement: Measurement = { bytes: this.#turn.then(() => this.#measure(folder, measurement)) };
    this.#turn = measurement.bytes.catch(() => {});
    this.#known.set(folder, measurement);
    return measurement.bytes;
  }

  forget(folder: string): void {
    this.#known.delete(folder);
  }

  async #measure(folder: string, measurement: Measurement): Promise<number> {
    const started = this.#clock.monotonic();
    try {
      return await usedBytes(folder);
    } finally {
      const now = this.#clock.monotonic();
      measurement.until = now + Math.max(FRESH_MS, (now - started) * REST);
    }
  }
}

/** What `du` says: blocks on disk, files with several names counted once, other file systems not entered. */
async function usedBytes(root: string): Promise<number> {
  const top = await lstat(root).catch(ignoreGone);
  if (!top) return 0;
  const seen = new Set<number>();
  let bytes = top.blocks * 512;
  const waiting = [root];
  for (let folder = waiting.pop(); folder !== undefined; folder = waiting.pop()) {
    // The owner of the files goes on working while they are counted: what has gone meanwhile uses nothing.
    const entries = await opendir(folder).catch(ignoreGone);
    if (!entries) continue;
    for await (const { name } of entries) {
      const path = join(folder, name);
      const stats = await lstat(path).catch(ignoreGone);
      if (!stats || stats.dev !== top.dev) continue;
      if (stats.nlink > 1 && !stats.isDirectory()) {
        if (seen.has(stats.ino)) continue;
        seen.add(stats.ino);
      }
      bytes += stats.blocks * 512;
      if (stats.isDirectory()) waiting.push(path);
    }
  }
  return bytes;
}

function ignoreGone(error: unknown): undefined {
  if (!['ENOENT', 'EACCES', 'ENOTDIR', 'ELOOP'].includes(errorCode(error) ?? '')) throw error;
}
