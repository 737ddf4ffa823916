/** Messages over TCP have their length in front. */
export class TcpFrames {
  #onMessage: (message: Buffer) => void;
  #rest: Buffer = Buffer.alloc(0);

  constructor(onMessage: (message: Buffer) => void) {
    this.#onMessage = onMessage;
  }

  push(chunk: Buffer): void {
    this.#rest = this.#rest.length === 0 ? chunk : Buffer.concat([this.#rest, chunk]);
    while (this.#rest.length >= 2) {
      const end = 2 + this.#rest.readUInt16BE(0);
      if (this.#rest.length < end) return;
      const message = this.#rest.subarray(2, end);
      this.#rest = this.#rest.subarray(end);
      this.#onMessage(message);
    }
  }
}

export function frameTcp(message: Buffer): Buffer {
  const length = Buffer.alloc(2);
  length.writeUInt16BE(message.length, 0);
  return Buffer.concat([length, message]);
}
