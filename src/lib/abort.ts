import { setMaxListeners } from 'node:events';
import type { Clock } from './clock.ts';

/** A signal made from others; `dispose` unhooks it, so that a long-lived parent does not collect its short-lived children. */
export interface LinkedSignal {
  readonly signal: AbortSignal;
  abort(reason?: unknown): void;
  dispose(): void;
}

/** For what many tasks hang on: Node would take more than ten listeners for a leak and print a warning. */
export function longLivedController(...parents: (AbortSignal | undefined)[]): AbortController {
  const controller = new AbortController();
  setMaxListeners(0, controller.signal);
  for (const parent of parents) {
    if (parent?.aborted) controller.abort(parent.reason);
    parent?.addEventListener('abort', () => controller.abort(parent.reason), { once: true });
  }
  return controller;
}

/** Fires when any of the parents fires, or by hand. AbortSignal.any is not used because it cannot be unhooked from a parent that lives on. */
export function linkSignals(...parents: (AbortSignal | undefined)[]): LinkedSignal {
  const controller = new AbortController();
  const hooks: (() => void)[] = [];
  const dispose = (): void => {
    for (const unhook of hooks.splice(0)) unhook();
  };
  const abort = (reason?: unknown): void => {
    dispose();
    controller.abort(reason);
  };
  for (const parent of parents) {
    if (!parent) continue;
    if (parent.aborted) {
      abort(parent.reason);
      break;
    }
    const onAbort = (): void => abort(parent.reason);
    parent.addEventListener('abort', onAbort, { once: true });
    hooks.push(() => parent.removeEventListener('abort', onAbort));
  }
  return { signal: controller.signal, abort, dispose };
}

/** Fires after `ms` on the clock, with a TimeoutError, or when the parent fires. */
export function timeoutSignal(clock: Clock, ms: number, parent?: AbortSignal): LinkedSignal {
  const linked = linkSignals(parent);
  const timer = clock.setTimer(ms, () => linked.abort(new DOMException(`no answer within ${ms} ms`, 'TimeoutError')));
  return {
    signal: linked.signal,
    abort: (reason) => linked.abort(reason),
    dispose() {
      timer.cancel();
      linked.dispose();
    },
  };
}

/** Resolves after `ms` on the clock; rejects with the signal's reason when that fires first. */
export function sleep(clock: Clock, ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted) {
      reject(reasonOf(signal));
      return;
    }
    const onAbort = (): void => {
      timer.cancel();
      reject(reasonOf(signal!));
    };
    const timer = clock.setTimer(ms, () => {
      signal?.removeEventListener('abort', onAbort);
      resolve();
    });
    timer.hold?.();
    signal?.addEventListener('abort', onAbort, { once: true });
  });
}

/** Resolves when the signal fires. */
export function aborted(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.resolve();
  return new Promise((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }));
}

/** Waits for a promise that cannot be cancelled itself, giving up when the signal fires. */
export function orAborted<T>(promise: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  if (!signal) return promise;
  if (signal.aborted) return Promise.reject(reasonOf(signal));
  return new Promise((resolve, reject) => {
    const onAbort = (): void => reject(reasonOf(signal));
    signal.addEventListener('abort', onAbort, { once: true });
    promise.then(resolve, reject).finally(() => signal.removeEventListener('abort', onAbort));
  });
}

function reasonOf(signal: AbortSignal): Error {
  return signal.reason instanceof Error ? signal.reason : new DOMException('This operation was aborted', 'AbortError');
}
