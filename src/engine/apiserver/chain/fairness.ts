import { failure } from '../../../kube/status.ts';
import { turns, type Turn } from '../../../lib/turn-queue.ts';

/**
 * Keeps one client from spoiling the others' latency. Requests of each user (a "flow") run until the turn's time is used up or all
 * seats are taken; from then on they wait in a queue per flow, and the queues are served in turn. A flow whose queue is full is told
 * 429 with a time to come back: only the noisy one ever sees it.
 */
export interface FairnessOptions {
  /** Requests that may be executing at once, waiting for disk or webhooks included. */
  seats: number;
  /** Requests of one flow that may be executing at once while others wait. */
  seatsPerFlow: number;
  queuePerFlow: number;
}

export const DEFAULT_FAIRNESS: FairnessOptions = { seats: 600, seatsPerFlow: 400, queuePerFlow: 800 };

interface Flow {
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
  #executing = 0;
  #scheduled = false;
  rejected = 0;

  constructor(options: FairnessOptions = DEFAULT_FAIRNESS, turn: Turn = turns.turn) {
    this.#options = options;
    this.#turn = turn;
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
    let flow = this.#flows.get(name);
    if (flow === undefined) this.#flows.set(name, (flow = { executing: 0, waiting: [], head: 0 }));
    if (this.#backlog.length === 0 && this.#mayRun(flow)) {
      this.#start(flow);
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
    if (flow.executing === 0 && flow.head === flow.waiting.length) this.#flows.delete(name);
    if (this.#backlog.length > 0) this.#serveLater();
  }

  #mayRun(flow: Flow): boolean {
    const { seats, seatsPerFlow } = this.#options;
    if (this.#executing >= seats || flow.executing >= seatsPerFlow) return false;
    return this.#turn.hasTime();
  }

  #start(flow: Flow): void {
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
    let blocked = 0;
    let served = 0;
    while (this.#backlog.length > blocked && this.#executing < seats && (served === 0 || hasTime())) {
      const flow = this.#backlog.shift()!;
      if (flow.executing >= seatsPerFlow) {
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
      this.#start(flow);
      next();
      served++;
      await this.#turn.stepDone();
    }
    // Those that are blocked by their own requests wait for one of them to end, not for the next turn.
    if (this.#backlog.length > blocked && this.#executing < seats) this.#serveLater();
  }
}
