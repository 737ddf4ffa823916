import { Readable, Writable } from 'node:stream';
import type { ProgramStreams } from '../shim.ts';
import type { StreamNumber } from '../wire/frames.ts';
import type { OpenedStreams } from '../wire/messages.ts';
import { SendWindow } from '../wire/send-window.ts';

export interface ClientWire {
  /** Input for the program; empty is its end. */
  data(bytes: Uint8Array): void;
  consumed(stream: StreamNumber, bytes: number): void;
  resize(columns: number, rows: number): void;
  close(): void;
}

type End = Awaited<ProgramStreams['ended']>;

/** The client's side of an attach or a run. */
export class ClientSession {
  readonly streams: ProgramStreams;
  readonly #outputs: Map<StreamNumber, IncomingStream>;
  readonly #input: SendWindow;
  #resolveEnd!: (end: End) => void;
  #rejectEnd!: (error: Error) => void;
  #afterInput: (() => void) | undefined;
  #open = true;

  constructor(opened: OpenedStreams, wire: ClientWire) {
    this.#input = new SendWindow({ write: (bytes) => wire.data(bytes), onRoom: () => this.#inputTaken() });
    const output = (stream: StreamNumber) => new IncomingStream((bytes) => this.#open && wire.consumed(stream, bytes));
    this.#outputs = new Map([[1, output(1)]]);
    if (opened.stderr) this.#outputs.set(2, output(2));
    const ended = new Promise<End>((resolve, reject) => {
      this.#resolveEnd = resolve;
      this.#rejectEnd = reject;
    });
    // Whoever does not ask for the end is not told of a broken connection by an unhandled rejection.
    ended.catch(() => undefined);
    this.streams = {
      stdin: opened.stdin ? this.#writable() : undefined,
      stdout: this.#outputs.get(1)!.readable,
      stderr: this.#outputs.get(2)?.readable,
      resize: (columns, rows) => this.#open && wire.resize(columns, rows),
      ended,
      close: () => {
        if (!this.#open) return;
        wire.close();
        this.#shut(new Error('Cannot go on with this program: its streams were closed here'));
      },
    };
  }

  output(stream: StreamNumber, bytes: Buffer): void {
    this.#outputs.get(stream)?.take(bytes);
  }

  /** The program has taken so much of its input. */
  consumed(bytes: number): void {
    this.#input.consumed(bytes);
  }

  ended(end: End): void {
    this.#resolveEnd(end);
    this.streams.stdin?.destroy();
  }

  broken(error: Error): void {
    this.#shut(error);
  }

  #shut(error: Error): void {
    this.#open = false;
    this.#rejectEnd(error);
    for (const { readable } of this.#outputs.values()) readable.push(null);
    this.streams.stdin?.destroy();
  }

  #writable(): Writable {
    return new Writable({
      write: (chunk: Buffer, _encoding, done) => {
        if (this.#input.send(chunk)) done();
        else this.#afterInput = done;
      },
      final: (done) => {
        this.#input.end();
        done();
      },
    });
  }

  #inputTaken(): void {
    const done = this.#afterInput;
    this.#afterInput = undefined;
    done?.();
  }
}

/** Tells the sender what was really read, so that it sends no more than this side wants. */
class IncomingStream {
  readonly readable: Readable;
  #unread = 0;
  #ended = false;

  constructor(consumed: (bytes: number) => void) {
    this.readable = new Readable({
      read: () => {
        if (this.#unread === 0) return;
        consumed(this.#unread);
        this.#unread = 0;
      },
    });
    this.#consumed = consumed;
  }

  readonly #consumed: (bytes: number) => void;

  take(bytes: Buffer): void {
    if (this.#ended) return;
    if (bytes.length === 0) {
      this.#ended = true;
      this.readable.push(null);
    } else if (this.readable.push(bytes)) {
      this.#consumed(bytes.length);
    } else {
      this.#unread += bytes.length;
    }
  }
}
