import type { FileHandle } from 'node:fs/promises';
import type { OpenLog } from './log-files.ts';

export interface LogPosition {
  /** Which of the files. */
  file: number;
  offset: number;
}

const BLOCK_BYTES = 64 * 1024;
/** Enough of a line to see its tag. */
const HEAD_BYTES = 128;
const NEWLINE = 0x0a;
const SPACE = 0x20;

/**
 * Where the last so many lines begin, found from the end without reading what is before. A line begins where the one before it is not
 * a mere part of a line.
 */
export async function tailPosition(logs: readonly Pick<OpenLog, 'handle'>[], lines: number): Promise<LogPosition> {
  const end: LogPosition = { file: logs.length - 1, offset: await sizeOf(logs.at(-1)) };
  if (logs.length === 0 || lines === 0) return { ...end, file: Math.max(end.file, 0) };
  /** Where the line begins that follows the one being looked at. */
  let after: LogPosition | undefined;
  let found = 0;
  for (let file = logs.length - 1; file >= 0; file--) {
    for await (const { offset, isPart } of linesBackwards(logs[file].handle)) {
      if (after !== undefined && !isPart && ++found === lines) return after;
      after = { file, offset };
    }
  }
  return { file: 0, offset: 0 };
}

async function sizeOf(log: Pick<OpenLog, 'handle'> | undefined): Promise<number> {
  return log === undefined ? 0 : (await log.handle.stat()).size;
}

async function* linesBackwards(handle: FileHandle): AsyncGenerator<{ offset: number; isPart: boolean }> {
  let end = (await handle.stat()).size;
  /** The first bytes of what was read before: a line's head may reach into it. */
  let ahead: Buffer = Buffer.alloc(0);
  let isLast = true;
  while (end > 0) {
    const start = Math.max(0, end - BLOCK_BYTES);
    const block = await readAt(handle, start, end - start);
    const bytes = Buffer.concat([block, ahead]);
    // The newline at the very end begins no line.
    let at = isLast ? block.length - 1 : block.length;
    isLast = false;
    while (at > 0) {
      const newline = block.lastIndexOf(NEWLINE, at - 1);
      if (newline < 0) break;
      yield { offset: start + newline + 1, isPart: isPart(bytes.subarray(newline + 1, newline + 1 + HEAD_BYTES)) };
      at = newline;
    }
    if (start === 0) yield { offset: 0, isPart: isPart(bytes.subarray(0, HEAD_BYTES)) };
    ahead = Buffer.from(bytes.subarray(0, HEAD_BYTES));
    end = start;
  }
}

function isPart(head: Buffer): boolean {
  const time = head.indexOf(SPACE);
  const stream = time < 0 ? -1 : head.indexOf(SPACE, time + 1);
  return stream >= 0 && head[stream + 1] === 0x50;
}

async function readAt(handle: FileHandle, position: number, length: number): Promise<Buffer> {
  const buffer = Buffer.allocUnsafe(length);
  let filled = 0;
  while (filled < length) {
    const { bytesRead } = await handle.read(buffer, filled, length - filled, position + filled);
    if (bytesRead === 0) break;
    filled += bytesRead;
  }
  return buffer.subarray(0, filled);
}
