import type { Readable } from 'node:stream';

/** Collects what a stream gives, to be looked at while it still runs. */
export class StreamText {
  #text = '';
  readonly ended: Promise<string>;

  constructor(stream: Readable) {
    stream.setEncoding('utf8');
    this.ended = new Promise((resolve) => {
      stream.on('data', (piece: string) => (this.#text += piece));
      stream.once('close', () => resolve(this.#text));
      stream.once('end', () => resolve(this.#text));
      stream.once('error', () => resolve(this.#text));
    });
  }

  get text(): string {
    return this.#text;
  }
}

export function textOf(stream: Readable): Promise<string> {
  return new StreamText(stream).ended;
}
