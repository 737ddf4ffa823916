import { failure } from '../../../kube/status.ts';
import { turns } from '../../../lib/turn-queue.ts';

/**
 * Work over a tenant's object that can pause: it yields after every slice of steps, so that the one who drives it may let others
 * have the event loop. Small objects are driven to the end at once; large ones slice by slice.
 */
export type Sliced<T> = Generator<void, T, void>;

/** Steps between two pauses: some hundred microseconds of work, up to a millisecond where a step is a look at a schema. */
const SLICE = 512;

/** More than any honest object needs: as many values as a body may hold, against a schema that looks at each of them a hundred times. */
const MOST_STEPS = 10_000_000;

/** Counts steps: `tick` is true when it is time to yield. */
export class Pace {
  private steps = 0;
  private readonly most: number;

  constructor(most = MOST_STEPS) {
    this.most = most;
  }

  tick(steps = 1): boolean {
    const before = this.steps;
    this.steps = before + steps;
    if (this.steps > this.most) {
      throw failure(
        'RequestEntityTooLarge',
        `Cannot check the object against its schema: more than ${this.most} steps; send a smaller object or simplify the schema`,
      );
    }
    return Math.floor(before / SLICE) !== Math.floor(this.steps / SLICE);
  }
}

export function runToEnd<T>(work: Sliced<T>): T {
  for (;;) {
    const step = work.next();
    if (step.done) return step.value;
  }
}

export interface SliceClock {
  /** Milliseconds, monotonic. */
  now(): number;
  /** Resolves when other work had its turn. */
  pause(): Promise<void>;
}

export const eventLoopClock: SliceClock = {
  now: () => performance.now(),
  pause: () => turns.pause(),
};

/** Drives `work` in slices of at most about `sliceMs`, giving way in between. */
export async function runInSlices<T>(work: Sliced<T>, clock: SliceClock = eventLoopClock, sliceMs = 2): Promise<T> {
  let started = clock.now();
  for (;;) {
    const step = work.next();
    if (step.done) return step.value;
    if (clock.now() - started >= sliceMs) {
      await clock.pause();
      started = clock.now();
    }
  }
}
