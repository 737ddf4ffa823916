import type { Session } from '../terminal/session.ts';

const REDRAW_MS = 100;

/** How far a transfer is, on one line of standard error while somebody looks at it. */
export class ProgressLine {
  readonly #session: Session;
  #began: number;
  #drawnAt = -Infinity;

  constructor(session: Session) {
    this.#session = session;
    this.#began = session.clock.monotonic();
  }

  show(bytes: number, total: number): void {
    const now = this.#session.clock.monotonic();
    if (!this.#session.errIsTerminal || (now - this.#drawnAt < REDRAW_MS && bytes < total)) return;
    this.#drawnAt = now;
    const rate = bytes / Math.max(0.001, (now - this.#began) / 1000);
    const share = total > 0 ? Math.floor((bytes / total) * 100) : 100;
    this.#session.err(`\r${String(share).padStart(3)} %  ${size(bytes)} of ${size(total)}  ${size(rate)}/s\u001b[K`);
  }

  clear(): void {
    if (this.#drawnAt !== -Infinity) this.#session.err('\r\u001b[K');
  }
}

const UNITS = ['B', 'KiB', 'MiB', 'GiB', 'TiB'];

export function size(bytes: number): string {
  let value = bytes;
  let unit = 0;
  for (; value >= 1024 && unit < UNITS.length - 1; unit++) value /= 1024;
  return `${unit === 0 ? Math.round(value) : value.toFixed(1)} ${UNITS[unit]}`;
}
