import type { Socket } from 'node:net';
import type { Clock, Timer } from '../../../lib/clock.ts';

/** So many connections shake hands at once: each costs some milliseconds, in two or three pieces that nobody can cut. */
const AT_ONCE = 2;
/** A client that takes longer for its part does not keep the next one waiting. */
const PATIENCE_MS = 10;

/**
 * Lets connections begin TLS a few at a time. Node takes in whatever has arrived in one turn of the event loop: five hundred clients that
 * connect together would hold it for as long as five hundred signatures take. Those that wait are not read from. Addresses are served in turn: a Pod
 * that opens connections and says nothing keeps itself waiting.
 */
export class Handshakes {
  readonly #clock: Pick<Clock, 'setTimer'>;
  readonly #begin: (socket: Socket) => void;
  /** By address, in the order in which they are served. */
  readonly #waiting = new Map<string, Socket[]>();
  /** One for each handshake that is under way and has not taken too long, in the order of their beginning. */
  #patience: Timer[] = [];
  /** How many have taken too long and are still to end. */
  #late = 0;

  constructor(clock: Pick<Clock, 'setTimer'>, begin: (socket: Socket) => void) {
    this.#clock = clock;
    this.#begin = begin;
  }

  /** Takes a socket that is not read from yet. */
  add(socket: Socket): void {
    const address = socket.remoteAddress ?? '';
    const line = this.#waiting.get(address);
    if (line === undefined) this.#waiting.set(address, [socket]);
    else line.push(socket);
    this.#goOn();
  }

  /** One of them is over, well or not: the one that began first, for all we know. */
  ended(): void {
    if (this.#late > 0) {
      this.#late--;
      return;
    }
    this.#patience.shift()?.cancel();
    this.#goOn();
  }

  #goOn(): void {
    while (this.#patience.length < AT_ONCE && this.#waiting.size > 0) {
      const timer = this.#clock.setTimer(PATIENCE_MS, () => {
        this.#patience = this.#patience.filter((other) => other !== timer);
        this.#late++;
        this.#goOn();
      });
      this.#patience.push(timer);
      this.#begin(this.#next());
    }
  }

  #next(): Socket {
    const [[address, line]] = this.#waiting;
    const socket = line.shift()!;
    this.#waiting.delete(address);
    if (line.length > 0) this.#waiting.set(address, line);
    return socket;
  }
}
