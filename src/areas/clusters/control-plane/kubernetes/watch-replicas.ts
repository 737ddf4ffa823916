import type { Clock, Timer } from '../../../../lib/clock.ts';
import { repeatedly } from '../../../../lib/repeatedly.ts';
import { NOT_LISTENING } from './api-probe.ts';
import { verdictOf, type Answers } from './model/balance.ts';

export interface ReplicaPorts {
  /** What each answers to the question whether it is ready; 0: nothing; NOT_LISTENING. */
  probes: readonly { readiness(): Promise<number> }[];
  setReady(replica: number, ready: boolean): void;
  /** Its connections, of one that is silent. */
  cut(replica: number): void;
  /** Its process, of one that is silent for long. */
  end(replica: number): void;
  /** How many are ready, whenever that changes. */
  tell(ready: number): void;
  clock: Clock;
}

/** Nobody tells that an API server has become ready, or hangs. */
const LOOK_EVERY_MS = 1000;

/** Asks the API servers of one endpoint how they are, again and again. */
export class ReplicaWatch {
  readonly #ports: ReplicaPorts;
  readonly #answers: Answers[];
  #timer: Timer | undefined;
  #told: number | undefined;

  constructor(ports: ReplicaPorts) {
    this.#ports = ports;
    this.#answers = ports.probes.map(() => ({ ready: false, answeredAt: ports.clock.monotonic(), starting: true }));
  }

  /** A look that fails is one while their keys are being replaced. */
  start(): void {
    this.#timer = repeatedly(this.#ports.clock, LOOK_EVERY_MS, () => this.look());
  }

  stop(): void {
    this.#timer?.cancel();
  }

  /** @returns how many are ready */
  async look(): Promise<number> {
    const { probes, clock } = this.#ports;
    await Promise.all(
      probes.map(async (probe, replica) => {
        const status = await probe.readiness();
        const answer = this.#answers[replica];
        answer.ready = status === 200;
        if (status > 0) Object.assign(answer, { answeredAt: clock.monotonic(), starting: false });
        // It ended by itself, and is being started again.
        else if (status === NOT_LISTENING && !answer.starting) Object.assign(answer, { answeredAt: clock.monotonic(), starting: true });
        this.#ports.setReady(replica, answer.ready);
      }),
    );
    this.#judge();
    const ready = this.#answers.filter((answer) => answer.ready).length;
    if (ready !== this.#told) this.#ports.tell(ready);
    this.#told = ready;
    return ready;
  }

  #judge(): void {
    const now = this.#ports.clock.monotonic();
    for (const [replica, answer] of this.#answers.entries()) {
      const verdict = verdictOf(answer, this.#answers.toSpliced(replica, 1), now);
      if (verdict === 'fine') continue;
      this.#ports.cut(replica);
      if (verdict === 'silent') continue;
      this.#ports.end(replica);
      // A new one has its time.
      Object.assign(answer, { answeredAt: now, starting: true });
    }
  }
}
