/**
 * Calls `one` up to `count` times: one first, then two at once, four, ... and stops after a batch in which any failed, so that a quota or a
 * broken template costs a few requests and not hundreds. @returns the first failure.
 */
export async function slowStart(count: number, one: (index: number) => Promise<void>): Promise<unknown> {
  let started = 0;
  for (let batch = 1; started < count; batch *= 2) {
    const size = Math.min(batch, count - started);
    const results = await Promise.allSettled(Array.from({ length: size }, (_, i) => one(started + i)));
    started += size;
    const failed = results.find((result) => result.status === 'rejected');
    if (failed) return failed.reason;
  }
  return undefined;
}
