const CAPACITY = 4 * 1024 * 1024;
const GATHER = 64 * 1024;

/** Puts up to `length` bytes at `offset` of `into` and says how many; 0 at the end. */
export type ReadMore = (into: Buffer, offset: number, length: number) => Promise<number>;

/** A window that moves over a long sequence of bytes in large steps. What was read is valid until the next `fill`. */
export class ByteReader {
  readonly #readMore: ReadMore;
  buffer: Buffer;
  /** Where in `buffer` the unread bytes begin and end. */
  start = 0;
  end = 0;

  constructor(readMore: ReadMore, capacity = CAPACITY) {
    this.#readMore = readMore;
    this.buffer = Buffer.allocUnsafeSlow(capacity);
  }

  get available(): number {
    return this.end - this.start;
  }

  /** Makes at least `needed` unread bytes available. @returns false when there are not that many. */
  async fill(needed: number): Promise<boolean> {
    if (this.available >= needed) return true;
    const target = needed > this.buffer.length ? Buffer.allocUnsafeSlow(needed) : this.buffer;
    this.buffer.copy(target, 0, this.start, this.end);
    this.buffer = target;
    this.end -= this.start;
    this.start = 0;
    while (this.end < needed) {
      const count = await this.#readMore(this.buffer, this.end, this.buffer.length - this.end);
      if (count === 0) return false;
      this.end += count;
    }
    return true;
  }
}

/** Reads from an asynchronous sequence of chunks; small ones are gathered. */
export function readMoreFrom(chunks: AsyncIterable<Uint8Array>): ReadMore {
  const iterator = chunks[Symbol.asyncIterator]();
  let rest: Uint8Array = new Uint8Array(0);
  return async (into, offset, length) => {
    const wanted = Math.min(length, GATHER);
    let count = 0;
    while (count < wanted) {
      if (rest.length === 0) {
        const next = await iterator.next();
        if (next.done) break;
        rest = next.value;
      }
      const taken = rest.subarray(0, length - count);
      into.set(taken, offset + count);
      count += taken.length;
      rest = rest.subarray(taken.length);
    }
    return count;
  };
}
