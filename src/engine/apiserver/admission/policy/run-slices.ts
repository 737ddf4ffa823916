import type { Slices } from './expression.ts';

/** Of the event loop in one go. */
const SLICE_MS = 5;

/** Runs work to its end: at once when it is short, else in turns with everything else. */
export function runSlices<T>(work: Slices<T>, now: () => number = () => performance.now()): T | Promise<T> {
  const first = runFor(work, now);
  if (first.done) return first.value;
  return new Promise<T>((resolve, reject) => {
    const turn = () => {
      try {
        const next = runFor(work, now);
        if (next.done) resolve(next.value);
        else setImmediate(turn);
      } catch (error) {
        reject(error);
      }
    };
    setImmediate(turn);
  });
}

function runFor<T>(work: Slices<T>, now: () => number): IteratorResult<void, T> {
  const started = now();
  for (;;) {
    const step = work.next();
    if (step.done || now() - started > SLICE_MS) return step;
  }
}
