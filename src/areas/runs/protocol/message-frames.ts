/** Before each message: whether it is compressed, and its length. */
const PREFIX_BYTES = 5;

/** A message as gRPC puts it on a stream. */
export function framed(message: Uint8Array): Buffer {
  const frame = Buffer.allocUnsafe(PREFIX_BYTES + message.length);
  frame[0] = 0;
  frame.writeUInt32BE(message.length, 1);
  frame.set(message, PREFIX_BYTES);
  return frame;
}

/** Finds the messages in what comes on a stream of gRPC. */
export class MessageFrames {
  #parts: Buffer[] = [];
  #length = 0;
  /** What has to be here before it is worth a look. */
  #wanted = PREFIX_BYTES;

  /** @returns the messages that are complete with it. @throws when one is compressed, which was not offered */
  push(data: Buffer): Buffer[] {
    this.#parts.push(data);
    this.#length += data.length;
    if (this.#length < this.#wanted) return [];
    let rest = this.#parts.length === 1 ? data : Buffer.concat(this.#parts);
    const messages: Buffer[] = [];
    for (;;) {
      this.#wanted = PREFIX_BYTES;
      if (rest.length < PREFIX_BYTES) break;
      if (rest[0] !== 0) throw new Error('the server compresses what it says');
      this.#wanted = PREFIX_BYTES + rest.readUInt32BE(1);
      if (rest.length < this.#wanted) break;
      messages.push(rest.subarray(PREFIX_BYTES, this.#wanted));
      rest = rest.subarray(this.#wanted);
    }
    this.#parts = rest.length === 0 ? [] : [rest];
    this.#length = rest.length;
    return messages;
  }

  /** Nothing is left of a message. */
  get isEmpty(): boolean {
    return this.#length === 0;
  }
}
