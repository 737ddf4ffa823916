/** Milliseconds of one turn of the event loop that are given to those who share it. */
const TURN_MS = 3;
/** What those who waited get at least, when others have used up their turn before them. */
const LEAST_MS = 1;
/** Promises between one who is let go on and the work behind it: it is done when so many have passed. */
const HOPS = 4;

/**
 * How long the present turn of the event loop has lasted, for those who share its time. It begins when somebody first asks, and ends
 * with those who wait for what is left of it.
 */
export class Turn {
  readonly #now: () => number;
  #started = 0;
  #open = false;
  #waiting: ((hasTime: () => boolean) => Promise<void>)[] = [];

  constructor(now: () => number = () => performance.now()) {
    this.#now = now;
  }

  /** Whether somebody may do a short piece of work in this turn, or has to wait for a later one. */
  hasTime(): boolean {
    if (!this.#open) this.#begin();
    return this.#now() - this.#started < TURN_MS;
  }

  /** Calls `serve` once, behind whatever else this turn does; it lets one after the other go on for as long as `hasTime` says so. */
  atEnd(serve: (hasTime: () => boolean) => Promise<void>): void {
    this.#waiting.push(serve);
    if (!this.#open) this.#begin();
  }

  /** Resolves when the one who was let go on has done its step. */
  async stepDone(): Promise<void> {
    for (let i = 0; i < HOPS; i++) await Promise.resolve();
  }

  #begin(): void {
    this.#open = true;
    this.#started = this.#now();
    setImmediate(() => void this.#end());
  }

  async #end(): Promise<void> {
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const serve of waiting) {
      const until = Math.max(this.#started + TURN_MS, this.#now() + LEAST_MS);
      await serve(() => this.#now() < until);
    }
    this.#open = false;
    if (this.#waiting.length > 0) this.#begin();
  }
}

/** Those who wait, first come, first served. */
class Line {
  #waiting: (() => void)[] = [];
  #head = 0;

  wait(): Promise<void> {
    return new Promise((resolve) => {
      this.#waiting.push(resolve);
    });
  }

  /** Lets the first one go on. @returns false when nobody waits */
  next(): boolean {
    const first = this.#waiting[this.#head];
    if (first === undefined) return false;
    if (++this.#head === this.#waiting.length) {
      this.#waiting = [];
      this.#head = 0;
    } else if (this.#head > 1000) {
      this.#waiting = this.#waiting.slice(this.#head);
      this.#head = 0;
    }
    first();
    return true;
  }

  get empty(): boolean {
    return this.#waiting.length === 0;
  }
}

/**
 * Shares the event loop among many pieces of work. Each gives way between its steps; here they queue for their next one, and a
 * turn of the loop lets as many go on as fit into a few milliseconds. With setImmediate alone all of them would go on in the same
 * turn: harmless for one list, a stall for five hundred. Short pieces of work do not wait behind steps of long ones.
 */
export class TurnQueue {
  readonly turn: Turn;
  readonly #short = new Line();
  readonly #long = new Line();
  #scheduled = false;

  constructor(turn: Turn = new Turn()) {
    this.turn = turn;
  }

  /** For steps of long work: undefined for the first one of a turn, it may go on at once; a promise of a later turn for the others. */
  enter(): Promise<void> | undefined {
    if (this.#scheduled) return this.#long.wait();
    this.#schedule();
    return undefined;
  }

  /** For steps of long work: resolves in a later turn. */
  pause(): Promise<void> {
    this.#schedule();
    return this.#long.wait();
  }

  /** For short pieces of work, of which there may be many: undefined while this turn has time left, a promise of a later one else. */
  share(): Promise<void> | undefined {
    return this.turn.hasTime() ? undefined : this.next();
  }

  /** For short pieces of work: resolves in a later turn. */
  next(): Promise<void> {
    this.#schedule();
    return this.#short.wait();
  }

  #schedule(): void {
    if (this.#scheduled) return;
    this.#scheduled = true;
    this.turn.atEnd((hasTime) => this.#serve(hasTime));
  }

  async #serve(hasTime: () => boolean): Promise<void> {
    while (hasTime() && this.#short.next()) await this.turn.stepDone();
    do {
      if (!this.#long.next()) break;
      await this.turn.stepDone();
    } while (hasTime());
    this.#scheduled = false;
    if (!this.#short.empty || !this.#long.empty) this.#schedule();
  }
}

/** The one of this process: there is one event loop. */
export const turns = new TurnQueue();
