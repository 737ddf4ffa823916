import { nextTurn } from '../../../runtime/informer/reflector.ts';

/** So many requests begin in one turn of the event loop: on the in-memory transport each does its work at once. */
const PER_TURN = 8;

/**
 * Calls `one` up to `count` times: one first, then two at once, four, ... and stops after a batch in which any failed, so that a quota or a
 * broken template costs a few requests and not hundreds. @returns the first failure.
 */
export async function slowStart(count: number, one: (index: number) => Promise<void>): Promise<unknown> {
  let started = 0;
  for (let batch = 1; started < count; batch *= 2) {
    const size = Math.min(batch, count - started);
    const first = started;
    started += size;
    const failure = await allAtOnce(size, (index) => one(first + index));
    if (failure !== undefined) return failure;
  }
  return undefined;
}

/** Calls `one` so many times and waits for all of them. @returns the first failure. */
export async function allAtOnce(count: number, one: (index: number) => Promise<void>): Promise<unknown> {
  let failure: unknown;
  const running: Promise<void>[] = [];
  for (let index = 0; index < count; index++) {
    running.push(one(index).catch((error: unknown) => void (failure ??= error)));
    if ((index + 1) % PER_TURN === 0) await nextTurn();
  }
  await Promise.all(running);
  return failure;
}
