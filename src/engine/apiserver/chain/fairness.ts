import { failure } from '../../../kube/status.ts';
import { realClock, type Clock } from '../../../lib/clock.ts';
import { turns, type Turn } from '../../../lib/turn-queue.ts';

/**
 * Keeps one client from spoiling the others' latency. Requests of each user (a "flow") run until the turn's time is used up or all
 * seats are taken; from then on they wait in a queue per flow, and the queues are served in turn. A flow whose queue is full is told
 * 429 with a time to come back: only the noisy one ever sees it.
 *
 * A flow that asks for much at once gets two seats while another one asks for little: what it has under way is in the commits that the other
 * waits for. Among flows of which all ask for much there is nobody to be spared, and large commits are cheaper.
 */
export interface FairnessOptions {
  /** Requests that may be executing at once, waiting for disk or webhooks included. */
  seats: number;
  /** Requests of one flow that may be executing at once while others wait. */
  seatsPerFlow: number;
  queuePerFlow: number;
}

export const DEFAULT_FAIRNESS: FairnessOptions = { seats: 600, seatsPerFlow: 400, queuePerFlow: 800 };

const CALM_SEATS = 2;
/** Who asks for more than so much at once, or in a moment, asks for much. */
const CALM_REQUESTS = 4;
/** How long a moment is, for which one that asks for little is remembered. */
const MEMORY_MS = 100;
/** Who asked for much only pauses for this long. */
const BUSY_MS = 1000;
/** Who takes longer waits for a webhook or another server, and holds nobody up. */
const BRISK_MS = 25;
interface Flow {
  name: string;
  executing: number;
  /** Of those, how many have not taken long yet. */
  brisk: number;
  /** Of its requests in the present moment. */
  count: number;
  countedSince: number;
  busyUntil: number;
  waiting: ((seat: Seat) => void)[];
  head: number;
}

/** Of a request that is executing. */
export interface Seat {
  readonly flow: Flow;
  readonly since: number;
  isBrisk: boolean;
}

interface Sighting {
  name: string;
  at: number;
}

const NEVER: Sighting = { name: '', at: -Infinity };

export class Fairness {
  readonly #options: FairnessOptions;
  readonly #turn: Turn;
  readonly #flows = new Map<string, Flow>();
  /** Flows with somebody waiting, in the order in which they are served. */
  #backlog: Flow[] = [];
  /** How many of them wait for requests of their own, as far as is known. */
  #blocked = 0;
  /** The brisk ones, the oldest first; those that have ended meanwhile too. */
  #brisk: Seat[] = [];
  /** The last two flows that were calm when they asked for something. */
  #calm: readonly [Sighting, Sighting] = [NEVER, NEVER];
  readonly #clock: Clock;
  #isReminded = false;
  #swept = 0;
  #executing = 0;
  #scheduled = false;
  rejected = 0;

  constructor(options: FairnessOptions = DEFAULT_FAIRNESS, turn: Turn = turns.turn, clock: Clock = realClock) {
    this.#options = options;
    this.#turn = turn;
    this.#clock = clock;
  }

  get executing(): number {
    return this.#executing;
  }

  get waiting(): number {
    return this.#backlog.reduce((sum, flow) => sum + flow.waiting.length - flow.head, 0);
  }

  /**
   * The seat of a request that may run now; else a promise of one. Call `release` when the request is done.
   * @throws StatusError TooManyRequests
   */
  acquire(name: string): Seat | Promise<Seat> {
    const now = this.#clock.monotonic();
    const flow = this.#flowOf(name, now);
    this.#age(now);
    const length = flow.waiting.length - flow.head;
    this.#sight(flow, length, now);
    if (length === 0 && this.#backlog.length === this.#blocked && this.#mayRun(flow, now) && this.#turn.hasTime())
      return this.#start(flow, now);
    if (length >= this.#options.queuePerFlow) {
      this.rejected++;
      throw failure('TooManyRequests', 'too many requests from this client are waiting already, please try again later', {
        retryAfterSeconds: 1,
      });
    }
    if (length === 0) this.#backlog.push(flow);
    const queue = flow.waiting;
    this.#serveLater();
    return new Promise((resolve) => queue.push(resolve));
  }

  release(seat: Seat): void {
    const { flow } = seat;
    if (seat.isBrisk) flow.brisk--;
    seat.isBrisk = false;
    flow.executing--;
    this.#executing--;
    this.#blocked = 0;
    if (this.#backlog.length > 0) this.#serveLater();
  }

  #flowOf(name: string, now: number): Flow {
    const known = this.#flows.get(name);
    if (known !== undefined) return known;
    if (now - this.#swept >= MEMORY_MS) this.#sweep(now);
    const flow = { name, executing: 0, brisk: 0, count: 0, countedSince: now, busyUntil: 0, waiting: [], head: 0 };
    this.#flows.set(name, flow);
    return flow;
  }

  #sweep(now: number): void {
    this.#swept = now;
    for (const flow of this.#flows.values()) {
      const isAtRest = flow.executing === 0 && flow.head === flow.waiting.length;
      if (isAtRest && now >= flow.busyUntil && now - flow.countedSince >= MEMORY_MS) this.#flows.delete(flow.name);
    }
  }

  #sight(flow: Flow, waiting: number, now: number): void {
    if (now - flow.countedSince >= MEMORY_MS) {
      flow.count = 0;
      flow.countedSince = now;
    }
    flow.count++;
    if (flow.brisk + waiting >= CALM_SEATS || flow.count > CALM_REQUESTS) flow.busyUntil = now + BUSY_MS;
    if (now < flow.busyUntil) return;
    const [last, before] = this.#calm;
    const sighting = { name: flow.name, at: now };
    this.#calm = last.name === flow.name ? [sighting, before] : [sighting, last];
  }

  #mayRun(flow: Flow, now: number): boolean {
    const { seats, seatsPerFlow } = this.#options;
    if (this.#executing >= seats || flow.executing >= seatsPerFlow) return false;
    if (flow.brisk < CALM_SEATS) return true;
    const [last, before] = this.#calm;
    const other = last.name === flow.name ? before : last;
    return now - other.at >= MEMORY_MS;
  }

  #start(flow: Flow, now: number): Seat {
    const seat = { flow, since: now, isBrisk: true };
    flow.executing++;
    flow.brisk++;
    this.#executing++;
    this.#brisk.push(seat);
    return seat;
  }

  #age(now: number): void {
    if (this.#brisk.length === 0 || now - this.#brisk[0].since < BRISK_MS) return;
    const young = this.#brisk.findIndex(({ since }) => now - since < BRISK_MS);
    for (const seat of this.#brisk.splice(0, young < 0 ? this.#brisk.length : young)) {
      if (seat.isBrisk) seat.flow.brisk--;
      seat.isBrisk = false;
    }
  }

  /** At the end of the turn those who wait get what is left of it, and then new time. */
  #serveLater(): void {
    if (this.#scheduled) return;
    this.#scheduled = true;
    this.#turn.atEnd((hasTime) => this.#serve(hasTime));
  }

  async #serve(hasTime: () => boolean): Promise<void> {
    this.#scheduled = false;
    const { seats } = this.#options;
    let blocked = 0;
    let served = 0;
    while (this.#backlog.length > blocked && this.#executing < seats && (served === 0 || hasTime())) {
      const flow = this.#backlog.shift()!;
      const now = this.#clock.monotonic();
      this.#age(now);
      if (!this.#mayRun(flow, now)) {
        this.#backlog.push(flow);
        blocked++;
        continue;
      }
      const next = flow.waiting[flow.head++];
      if (flow.head === flow.waiting.length) {
        flow.waiting = [];
        flow.head = 0;
      } else {
        this.#backlog.push(flow);
      }
      next(this.#start(flow, now));
      served++;
      await this.#turn.stepDone();
    }
    // Those that are blocked by their own requests wait for one of them to end, or to turn out a long one, not for the next turn.
    this.#blocked = blocked;
    if (this.#backlog.length > blocked && this.#executing < seats) this.#serveLater();
    else if (blocked > 0) this.#remind();
  }

  #remind(): void {
    if (this.#isReminded) return;
    this.#isReminded = true;
    this.#clock.setTimer(BRISK_MS, () => {
      this.#isReminded = false;
      if (this.#backlog.length > 0) this.#serveLater();
    });
  }
}
