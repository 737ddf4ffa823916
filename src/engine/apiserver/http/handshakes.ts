import type { Socket } from 'node:net';
import type { Clock } from '../../../lib/clock.ts';

/** So many connections begin TLS within so many milliseconds: each costs about one, in one piece. */
const AT_ONCE = 3;
const EVERY_MS = 5;

/**
 * Lets connections begin TLS a few at a time. Node takes in whatever has arrived in one turn of the event loop: five hundred clients that
 * connect together would hold it for as long as five hundred signatures take. Those that wait are not read from.
 */
export class Handshakes {
  readonly #clock: Pick<Clock, 'setTimer'>;
  readonly #begin: (socket: Socket) => void;
  #waiting: Socket[] = [];
  #begun = 0;

  constructor(clock: Pick<Clock, 'setTimer'>, begin: (socket: Socket) => void) {
    this.#clock = clock;
    this.#begin = begin;
  }

  /** Takes a socket that is not read from yet. */
  add(socket: Socket): void {
    if (this.#begun >= AT_ONCE) {
      this.#waiting.push(socket);
      return;
    }
    // A timer, because the point is to wait.
    if (this.#begun++ === 0) this.#clock.setTimer(EVERY_MS, () => this.#goOn());
    this.#begin(socket);
  }

  #goOn(): void {
    this.#begun = 0;
    const waiting = this.#waiting;
    this.#waiting = waiting.slice(AT_ONCE);
    for (const socket of waiting.slice(0, AT_ONCE)) this.add(socket);
  }
}
