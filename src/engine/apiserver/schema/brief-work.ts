import { turns } from '../../../lib/turn-queue.ts';
import { runInSlices, type Sliced } from './slices.ts';

const BRIEF_MS = 2;

/**
 * Drives work that is usually over at once: the result itself when it is, a promise when the event loop has to be given back in
 * between. What awaits nothing cannot lose a race, so the common case must not become asynchronous.
 */
export function runBriefly<T>(work: Sliced<T>): T | Promise<T> {
  const started = performance.now();
  for (;;) {
    const step = work.next();
    if (step.done) return step.value;
    if (performance.now() - started >= BRIEF_MS) {
      return turns.pause().then(() => runInSlices(work));
    }
  }
}
