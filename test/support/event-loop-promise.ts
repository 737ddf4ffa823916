import { expect } from 'vitest';
import type { LoopReport, MeasuredEngine } from './measured-engine.ts';

/**
 * The promise is that nothing of ours holds the event loop for more than 10 ms. What is measured is the CPU time of whole turns of
 * the loop, and a turn may hold the work of several clients; besides, on a shared machine the same code takes two or three times
 * its CPU time when a neighbour has the other half of the core and the caches. So the bounds here are looser than the promise: they
 * are missed by a factor of ten and more by whatever does not work in slices (a stall is hundreds of milliseconds), and never by noise.
 */
const USUAL_MS = 25;
const WORST_MS = 75;

export async function whileMeasured<T>(engine: MeasuredEngine, work: () => Promise<T>): Promise<{ result: T; report: LoopReport }> {
  await engine.reset();
  const result = await work();
  return { result, report: await engine.report() };
}

export function expectQuietLoop(report: LoopReport, what: string): void {
  const slow = report.slowest.map((ms) => ms.toFixed(1)).join(' ');
  expect(report.slowest[0] ?? 0, `${what}: the slowest turn of the event loop (slowest: ${slow})`).toBeLessThan(WORST_MS);
  // Of a few turns the slowest one is the 99.9th percentile.
  if (report.turns > 2000)
    expect(report.p999, `${what}: a turn of the event loop at the 99.9th percentile (slowest: ${slow})`).toBeLessThan(USUAL_MS);
}
