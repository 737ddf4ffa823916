/** How much of a stream may be on its way without having been read at the other side. */
export const WINDOW_BYTES = 256 * 1024;

export interface SendWindowOptions {
  /** Puts a piece on the wire; an empty one is the end. */
  write: (bytes: Uint8Array) => void;
  /** Called when everything handed in before is on the wire. */
  onRoom: () => void;
  /** Called once, when the end is on the wire. */
  onEnd?: () => void;
}

/** The sending side of one stream: holds back what the reader has no room for. */
export class SendWindow {
  readonly #options: SendWindowOptions;
  #room = WINDOW_BYTES;
  #queue: Uint8Array[] = [];
  #queuedBytes = 0;
  #ended = false;
  #closed = false;

  constructor(options: SendWindowOptions) {
    this.#options = options;
  }

  get queuedBytes(): number {
    return this.#queuedBytes;
  }

  /** False when some of it has to wait; `onRoom` tells when it does no longer. */
  send(bytes: Uint8Array): boolean {
    if (bytes.byteLength > 0) {
      this.#queue.push(bytes);
      this.#queuedBytes += bytes.byteLength;
    }
    this.#flush();
    return this.#queuedBytes === 0;
  }

  end(): void {
    this.#ended = true;
    this.#flush();
  }

  /** The reader has taken so many bytes. */
  consumed(bytes: number): void {
    this.#room += bytes;
    const waited = this.#queuedBytes > 0;
    this.#flush();
    if (waited && this.#queuedBytes === 0) this.#options.onRoom();
  }

  #flush(): void {
    while (this.#room > 0 && this.#queue.length > 0) {
      const first = this.#queue[0];
      const piece = first.subarray(0, this.#room);
      if (piece.byteLength === first.byteLength) this.#queue.shift();
      else this.#queue[0] = first.subarray(piece.byteLength);
      this.#room -= piece.byteLength;
      this.#queuedBytes -= piece.byteLength;
      this.#options.write(piece);
    }
    if (!this.#ended || this.#closed || this.#queuedBytes > 0) return;
    this.#closed = true;
    this.#options.write(new Uint8Array());
    this.#options.onEnd?.();
  }
}
