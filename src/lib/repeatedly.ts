import type { Clock, Timer } from './clock.ts';

/** Does `work` again and again until it is cancelled, each time so long after the last one ended. What it rejects with is its own to tell. */
export function repeatedly(clock: Clock, everyMs: number, work: () => Promise<unknown>): Timer {
  let isCancelled = false;
  const again = (): Timer =>
    clock.setTimer(everyMs, () => {
      const next = () => {
        if (!isCancelled) timer = again();
      };
      void work().then(next, next);
    });
  let timer = again();
  return {
    cancel() {
      isCancelled = true;
      timer.cancel();
    },
  };
}
