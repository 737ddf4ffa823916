import { isTerminal, phaseOf } from '../../api/kruntimes.io/v1alpha1/run-state.ts';
import type { Run } from '../../api/kruntimes.io/v1alpha1/run.ts';
import type { Bell } from './bell.ts';

/** A Run as it is now. Rings when that changes. */
export class ObservedRun {
  /** undefined: it was deleted. */
  run: Run | undefined;
  #failure: unknown;

  constructor(run: Run) {
    this.run = run;
  }

  get isOver(): boolean {
    return this.run === undefined || isTerminal(phaseOf(this.run));
  }

  async observe(updates: AsyncIterable<Run | undefined>, bell: Bell, onUpdate: ((run: Run) => void) | undefined): Promise<void> {
    try {
      for await (const update of updates) {
        this.run = update;
        if (update !== undefined) onUpdate?.(update);
        bell.ring();
      }
    } catch (error) {
      this.#failure = error;
      bell.ring();
    }
  }

  throwIfFailed(): void {
    if (this.#failure !== undefined) throw this.#failure as Error;
  }
}
