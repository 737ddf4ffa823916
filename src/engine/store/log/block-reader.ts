import { crc32 } from './crc32.ts';

/**
 * Values read at a start stay where they were read, because copying them costs more than all the rest. So they are read into many
 * small blocks: one value that outlives its neighbours keeps one of these in memory, not a large buffer.
 */
const BLOCK_BYTES = 64 * 1024;
const BLOCKS_PER_READ = 32;

/** Fills `blocks` one after the other and says how many bytes that were; fewer than there is room for only at the end. */
export type ReadBlocks = (blocks: readonly Buffer[]) => Promise<number>;

/** Goes over a long sequence of bytes that lie in blocks, and reads the next blocks while the current ones are looked at. */
export class BlockReader {
  readonly #read: ReadBlocks;
  #blocks: Buffer[] = [];
  /** The block the cursor is in and where. */
  #current = 0;
  #offset = 0;
  #available = 0;
  #next: Promise<Buffer[]>;
  #ended = false;
  /** Where `locate` found the bytes. */
  view: Buffer = Buffer.alloc(0);
  at = 0;

  constructor(read: ReadBlocks) {
    this.#read = read;
    this.#next = this.#readAhead();
  }

  /** Makes at least `needed` bytes available behind the cursor. @returns false when there are not that many. */
  async fill(needed: number): Promise<boolean> {
    while (this.#available < needed) {
      if (this.#ended) return false;
      const blocks = await this.#next;
      this.#blocks = [...this.#blocks.slice(this.#current), ...blocks];
      this.#current = 0;
      for (const block of blocks) this.#available += block.length;
      this.#ended = blocks.length < BLOCKS_PER_READ || blocks[BLOCKS_PER_READ - 1].length < BLOCK_BYTES;
      if (!this.#ended) this.#next = this.#readAhead();
    }
    return true;
  }

  /** Waits for what is being read ahead; to be called before the source is closed. */
  async stop(): Promise<void> {
    await this.#next.catch(() => {});
  }

  /** Points `view` and `at` to the next `length` available bytes in one piece; where a block ends within them, to a copy. */
  locate(length: number): void {
    const block = this.#blocks[this.#current];
    if (block && this.#offset + length <= block.length) {
      this.view = block;
      this.at = this.#offset;
      return;
    }
    this.view = Buffer.allocUnsafeSlow(length);
    this.at = 0;
    let copied = 0;
    this.#eachPiece(0, length, (piece) => {
      this.view.set(piece, copied);
      copied += piece.length;
    });
  }

  /** The checksum of `length` available bytes that begin `skip` behind the cursor. */
  checksum(skip: number, length: number): number {
    let checksum = 0;
    this.#eachPiece(skip, length, (piece) => {
      checksum = crc32(piece, checksum);
    });
    return checksum;
  }

  advance(length: number): void {
    this.#available -= length;
    this.#offset += length;
    while (this.#current < this.#blocks.length && this.#offset >= this.#blocks[this.#current].length) {
      this.#offset -= this.#blocks[this.#current].length;
      this.#current++;
    }
  }

  #eachPiece(skip: number, length: number, visit: (piece: Buffer) => void): void {
    let start = this.#offset + skip;
    let rest = length;
    for (let i = this.#current; rest > 0; i++) {
      const block = this.#blocks[i];
      if (start < block.length) {
        const piece = block.subarray(start, Math.min(block.length, start + rest));
        rest -= piece.length;
        visit(piece);
      }
      start = Math.max(0, start - block.length);
    }
  }

  #readAhead(): Promise<Buffer[]> {
    const next = this.#readNext();
    // A failure is told to whoever asks for these bytes, which may be later or never.
    next.catch(() => {});
    return next;
  }

  async #readNext(): Promise<Buffer[]> {
    const blocks = Array.from({ length: BLOCKS_PER_READ }, () => Buffer.allocUnsafeSlow(BLOCK_BYTES));
    let rest = await this.#read(blocks);
    const filled: Buffer[] = [];
    for (const block of blocks) {
      if (rest <= 0) break;
      filled.push(rest < block.length ? block.subarray(0, rest) : block);
      rest -= block.length;
    }
    return filled;
  }
}

/** Reads from an asynchronous sequence of chunks. */
export function readBlocksFrom(chunks: AsyncIterable<Uint8Array>): ReadBlocks {
  const iterator = chunks[Symbol.asyncIterator]();
  let rest: Uint8Array = new Uint8Array(0);
  return async (blocks) => {
    let total = 0;
    for (const block of blocks) {
      for (let filled = 0; filled < block.length;) {
        if (rest.length === 0) {
          const next = await iterator.next();
          if (next.done) return total;
          rest = next.value;
        }
        const taken = rest.subarray(0, block.length - filled);
        block.set(taken, filled);
        rest = rest.subarray(taken.length);
        filled += taken.length;
        total += taken.length;
      }
    }
    return total;
  };
}
