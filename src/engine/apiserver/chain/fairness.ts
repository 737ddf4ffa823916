import { failure } from '../../../kube/status.ts';
import { realClock, type Clock } from '../../../lib/clock.ts';
import { turns, type Turn } from '../../../lib/turn-queue.ts';
import { Demands, type Demand } from './demand.ts';
import { Pace } from './pace.ts';

/**
 * Keeps one client from spoiling the others' latency. Requests of each user (a "flow") run until the turn's time is used up or all
 * seats are taken; from then on they wait in a queue per flow, and the queues are served in turn. A flow whose queue is full is told
 * 429 with a time to come back: only the noisy one ever sees it.
 *
 * While somebody asks for little, those that ask for much begin no more than leaves the event loop time to spare: of a loop that is always busy
 * everybody waits for every step.
 */
export interface FairnessOptions {
  /** Requests that may be executing at once, waiting for disk or webhooks included. */
  seats: number;
  /** Requests of one flow that may be executing at once while others wait. */
  seatsPerFlow: number;
  queuePerFlow: number;
}

export const DEFAULT_FAIRNESS: FairnessOptions = { seats: 600, seatsPerFlow: 400, queuePerFlow: 800 };

const SWEEP_MS = 1000;

interface Flow extends Demand {
  executing: number;
  waiting: (() => void)[];
  head: number;
}

export class Fairness {
  readonly #options: FairnessOptions;
  readonly #turn: Turn;
  readonly #flows = new Map<string, Flow>();
  /** Flows with somebody waiting, in the order in which they are served. */
  #backlog: Flow[] = [];
  /** How many of them may not go on now, as far as is known; those are the first. */
  #blocked = 0;
  readonly #clock: Clock;
  readonly #demands = new Demands();
  readonly #pace: Pace;
  #swept = 0;
  #isReminded = false;
  #executing = 0;
  #scheduled = false;
  rejected = 0;

  constructor(options: FairnessOptions = DEFAULT_FAIRNESS, turn: Turn = turns.turn, clock: Clock = realClock, inUse = eventLoopUse()) {
    this.#options = options;
    this.#turn = turn;
    this.#clock = clock;
    this.#pace = new Pace(inUse);
  }

  get executing(): number {
    return this.#executing;
  }

  get waiting(): number {
    return this.#backlog.reduce((sum, flow) => sum + flow.waiting.length - flow.head, 0);
  }

  /**
   * Undefined when the request may run now; else a promise of its turn. Call `release` with the same name when it is done.
   * @throws StatusError TooManyRequests
   */
  acquire(name: string): Promise<void> | undefined {
    const now = this.#clock.monotonic();
    const flow = this.#flowOf(name, now);
    this.#demands.count(flow, now);
    if (flow.waiting.length === 0 && this.#backlog.length === this.#blocked && this.#mayRun(flow, now) && this.#turn.hasTime()) {
      this.#start(flow, now);
      return undefined;
    }
    const length = flow.waiting.length - flow.head;
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

  release(name: string): void {
    const flow = this.#flows.get(name);
    if (flow === undefined) return;
    flow.executing--;
    this.#executing--;
    this.#blocked = 0;
    if (this.#backlog.length > 0) this.#serveLater();
  }

  /** A request that was acquired is of somebody who waits for its answer: who asks for much gives way to it. */
  spare(name: string): void {
    const flow = this.#flows.get(name);
    if (flow !== undefined) this.#demands.waitsFor(flow, this.#clock.monotonic());
  }

  #flowOf(name: string, now: number): Flow {
    const known = this.#flows.get(name);
    if (known !== undefined) return known;
    if (now - this.#swept >= SWEEP_MS) this.#sweep(now);
    const flow = { name, count: 0, countedSince: now, muchUntil: -Infinity, executing: 0, waiting: [], head: 0 };
    this.#flows.set(name, flow);
    return flow;
  }

  #sweep(now: number): void {
    this.#swept = now;
    for (const flow of this.#flows.values()) {
      const isAtRest = flow.executing === 0 && flow.head === flow.waiting.length;
      if (isAtRest && this.#demands.isForgotten(flow, now)) this.#flows.delete(flow.name);
    }
  }

  #mayRun(flow: Flow, now: number): boolean {
    const { seats, seatsPerFlow } = this.#options;
    if (this.#executing >= seats || flow.executing >= seatsPerFlow) return false;
    return !this.#demands.isInTheWay(flow, now) || this.#pace.mayBegin(now);
  }

  #start(flow: Flow, now: number): void {
    if (this.#demands.isInTheWay(flow, now)) this.#pace.begin();
    flow.executing++;
    this.#executing++;
  }

  /** At the end of the turn those who wait get what is left of it, and then new time. */
  #serveLater(): void {
    if (this.#scheduled) return;
    this.#scheduled = true;
    this.#turn.atEnd((hasTime) => this.#serve(hasTime));
  }

  async #serve(hasTime: () => boolean): Promise<void> {
    this.#scheduled = false;
    const { seats, seatsPerFlow } = this.#options;
    const aside: Flow[] = [];
    let served = 0;
    while (this.#backlog.length > 0 && this.#executing < seats && (served === 0 || hasTime())) {
      const flow = this.#backlog.shift()!;
      const now = this.#clock.monotonic();
      if (!this.#mayRun(flow, now)) {
        aside.push(flow);
        continue;
      }
      const next = flow.waiting[flow.head++];
      if (flow.head === flow.waiting.length) {
        flow.waiting = [];
        flow.head = 0;
      } else {
        this.#backlog.push(flow);
      }
      this.#start(flow, now);
      next();
      served++;
      await this.#turn.stepDone();
    }
    // Those that may not now wait for a request of theirs to end or for the next step, not for the next turn.
    const goOn = this.#backlog.length > 0 && this.#executing < seats;
    this.#backlog.unshift(...aside);
    this.#blocked = goOn ? 0 : aside.length;
    if (goOn) this.#serveLater();
    if (aside.some(({ executing }) => executing < seatsPerFlow)) this.#remind();
  }

  #remind(): void {
    if (this.#isReminded) return;
    this.#isReminded = true;
    this.#clock.setTimer(this.#pace.untilNext(this.#clock.monotonic()), () => {
      this.#isReminded = false;
      if (this.#backlog.length > 0) this.#serveLater();
    });
  }
}

/** How much of its time the event loop of this process was busy, since it was asked last. */
function eventLoopUse(): () => number {
  let before = performance.eventLoopUtilization();
  return () => {
    const now = performance.eventLoopUtilization();
    const { utilization } = performance.eventLoopUtilization(now, before);
    before = now;
    return utilization;
  };
}
