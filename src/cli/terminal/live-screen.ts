import type { Timer } from '../../lib/clock.ts';
import type { Session } from './session.ts';

/** Changes that come together are drawn together. */
const GATHER_MS = 100;
/** Ages move on by themselves. */
const REDRAW_MS = 1000;

/** Some lines of a terminal that are drawn again and again in the same place. */
export class LiveScreen {
  readonly #session: Session;
  readonly #lines: () => string[];
  #drawn = 0;
  #timer: Timer | undefined;
  #isGathering = false;

  constructor(session: Session, lines: () => string[]) {
    this.#session = session;
    this.#lines = lines;
    this.changed();
  }

  changed(): void {
    if (this.#isGathering) return;
    this.#isGathering = true;
    this.#schedule(GATHER_MS);
  }

  close(): void {
    this.#timer?.cancel();
    this.#draw();
  }

  #schedule(ms: number): void {
    this.#timer?.cancel();
    this.#timer = this.#session.clock.setTimer(ms, () => {
      this.#isGathering = false;
      this.#draw();
      this.#schedule(REDRAW_MS);
    });
  }

  #draw(): void {
    const { columns } = this.#session.size();
    const lines = this.#lines().map((line) => cut(line, columns));
    const back = this.#drawn > 0 ? `\u001b[${this.#drawn}A\r` : '';
    this.#session.out(`${back}\u001b[J${lines.map((line) => `${line}\n`).join('')}`);
    this.#drawn = lines.length;
  }
}

// oxlint-disable-next-line no-control-regex
const COLOUR = /\u001b\[\d+m/g;

/** A line that wraps would be two when the cursor goes back. One that is too long loses its colours. */
function cut(line: string, columns: number): string {
  const plain = line.replaceAll(COLOUR, '');
  return plain.length <= columns ? line : plain.slice(0, columns);
}
