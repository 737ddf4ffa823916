const BLOCK = 32 * 1024;
const OWN_ALLOCATION_FROM = 4 * 1024;

/**
 * Copies values out of a read buffer. Small ones share blocks, because an allocation each costs as much as the copy of several;
 * a block is small, so that one value that outlives its neighbours keeps little besides itself in memory.
 */
export class ValueArena {
  #block = Buffer.alloc(0);
  #used = 0;

  copy(from: Buffer, start: number, end: number): Buffer {
    const length = end - start;
    if (length >= OWN_ALLOCATION_FROM) {
      const own = Buffer.allocUnsafeSlow(length);
      from.copy(own, 0, start, end);
      return own;
    }
    if (this.#used + length > this.#block.length) {
      this.#block = Buffer.allocUnsafeSlow(BLOCK);
      this.#used = 0;
    }
    const copied = this.#block.subarray(this.#used, this.#used + length);
    from.copy(copied, 0, start, end);
    this.#used += length;
    return copied;
  }
}
