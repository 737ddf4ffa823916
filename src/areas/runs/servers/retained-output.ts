/** What is kept of an output stream for those who ask later: the first mebibyte, and a mark that more came. */
const LIMIT = 1 << 20;
const MARK = '\n[output truncated]\n';

export class RetainedOutput {
  #chunks: Buffer[] = [];
  #kept = 0;
  #total = 0;

  /** Bytes that came, kept or not. */
  get total(): number {
    return this.#total;
  }

  add(chunk: Buffer): void {
    this.#total += chunk.length;
    const room = LIMIT - this.#kept;
    if (room <= 0) return;
    const part = chunk.length <= room ? chunk : Buffer.from(chunk.subarray(0, room));
    this.#chunks.push(part);
    this.#kept += part.length;
  }

  /** What came from this position on, as far as it was kept. */
  from(offset: number): Buffer {
    return Buffer.concat(this.#chunks).subarray(offset);
  }

  /** Text always: bytes that are no UTF-8 become the replacement character. */
  toString(): string {
    const text = Buffer.concat(this.#chunks).toString('utf8');
    return this.#total > LIMIT ? text + MARK : text;
  }
}
