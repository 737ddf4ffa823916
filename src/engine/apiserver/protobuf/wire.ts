/** A message has more fields than its reader allows. */
export class TooManyTags extends Error {}

/** A reader of the protobuf wire format over one buffer. @throws Error when the bytes are cut short or malformed. */
export class WireReader {
  /** Tags that may still be read, by all readers: decoding is synchronous, so there is one message at a time. */
  static #left = Infinity;

  readonly #bytes: Buffer;
  #at: number;
  readonly #end: number;

  constructor(bytes: Buffer, start = 0, end = bytes.length) {
    this.#bytes = bytes;
    this.#at = start;
    this.#end = end;
  }

  /** How many tags the message that is read next may have, in all its parts. */
  static allow(tags: number): void {
    WireReader.#left = tags;
  }

  get done(): boolean {
    return this.#at >= this.#end;
  }

  /** The next field's number and wire type. */
  tag(): { field: number; wire: number } {
    if (--WireReader.#left < 0) throw new TooManyTags('proto: too many fields');
    const tag = this.unsigned();
    return { field: Math.floor(tag / 8), wire: tag % 8 };
  }

  /** A varint as a whole number; exact up to 2^53. */
  unsigned(): number {
    let value = 0;
    let factor = 1;
    for (let i = 0; i < 10; i++) {
      const byte = this.#byte();
      value += (byte & 0x7f) * factor;
      if (byte < 0x80) return value;
      factor *= 128;
    }
    throw new Error('proto: varint is too long');
  }

  /** A varint in two's complement of 64 bits, as int32 and int64 are written. */
  signed(): number {
    let value = 0n;
    let shift = 0n;
    for (let i = 0; i < 10; i++) {
      const byte = this.#byte();
      value |= BigInt(byte & 0x7f) << shift;
      if (byte < 0x80) return Number(BigInt.asIntN(64, value));
      shift += 7n;
    }
    throw new Error('proto: varint is too long');
  }

  double(): number {
    this.#need(8);
    const value = this.#bytes.readDoubleLE(this.#at);
    this.#at += 8;
    return value;
  }

  /** A length-prefixed stretch, as a reader of its own. */
  message(): WireReader {
    const length = this.unsigned();
    this.#need(length);
    const inner = new WireReader(this.#bytes, this.#at, this.#at + length);
    this.#at += length;
    return inner;
  }

  bytes(): Buffer {
    const length = this.unsigned();
    this.#need(length);
    const value = this.#bytes.subarray(this.#at, this.#at + length);
    this.#at += length;
    return value;
  }

  text(): string {
    return this.bytes().toString('utf8');
  }

  skip(wire: number): void {
    switch (wire) {
      case 0:
        this.unsigned();
        return;
      case 1:
        this.#need(8);
        this.#at += 8;
        return;
      case 2:
        this.bytes();
        return;
      case 5:
        this.#need(4);
        this.#at += 4;
        return;
      default:
        throw new Error(`proto: illegal wireType ${wire}`);
    }
  }

  #byte(): number {
    this.#need(1);
    return this.#bytes[this.#at++];
  }

  #need(count: number): void {
    if (this.#at + count > this.#end) throw new Error('unexpected EOF');
  }
}
