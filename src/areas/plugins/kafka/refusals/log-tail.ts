import { open, stat } from 'node:fs/promises';

/** What is more than this at one look is left out, the oldest first: a flood must neither fill our memory nor hold the event loop. */
const MOST_BYTES = 262_144;

/** New lines of a file that somebody else writes, from when it was first looked at. A file that was replaced is read from its beginning. */
export class LogTail {
  #at: { path: string; file: number; offset: number; rest: string } | undefined;

  async read(path: string): Promise<string[]> {
    const { ino, size } = await stat(path);
    if (this.#at?.path !== path) {
      this.#at = { path, file: ino, offset: size, rest: '' };
      return [];
    }
    const isSame = this.#at.file === ino && size >= this.#at.offset;
    const from = Math.max(isSame ? this.#at.offset : 0, size - MOST_BYTES);
    const text = (isSame && from === this.#at.offset ? this.#at.rest : '') + (await readBetween(path, from, size));
    const lines = text.split('\n');
    const rest = lines.pop()!.slice(0, MOST_BYTES);
    this.#at = { path, file: ino, offset: size, rest };
    return lines;
  }
}

async function readBetween(path: string, from: number, to: number): Promise<string> {
  if (from >= to) return '';
  const file = await open(path);
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(to - from), 0, to - from, from);
    return buffer.toString('utf8', 0, bytesRead);
  } finally {
    await file.close();
  }
}
