/** Sizes arrive as JSON objects one after the other, cut anywhere. */
const MAX_BYTES = 4096;

export class TerminalSizes {
  readonly #resize: (columns: number, rows: number) => void;
  #waiting = '';

  constructor(resize: (columns: number, rows: number) => void) {
    this.#resize = resize;
  }

  push(chunk: Buffer): void {
    this.#waiting += chunk.toString('latin1');
    for (let end = this.#waiting.indexOf('}'); end >= 0; end = this.#waiting.indexOf('}')) {
      const text = this.#waiting.slice(0, end + 1);
      this.#waiting = this.#waiting.slice(end + 1);
      this.#apply(text);
    }
    // Nothing that is a size is that long.
    if (this.#waiting.length > MAX_BYTES) this.#waiting = '';
  }

  #apply(text: string): void {
    let size: { Width?: unknown; Height?: unknown };
    try {
      size = JSON.parse(text) as typeof size;
    } catch {
      return;
    }
    const { Width: columns, Height: rows } = size ?? {};
    if (isSize(columns) && isSize(rows)) this.#resize(columns, rows);
  }
}

function isSize(value: unknown): value is number {
  return Number.isInteger(value) && (value as number) > 0 && (value as number) <= 0xffff;
}
