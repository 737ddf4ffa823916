import { describe, expect, it } from 'vitest';
import { runBriefly } from './brief-work.ts';

function* counting(steps: number, stepMs: number): Generator<void, number, void> {
  for (let i = 0; i < steps; i++) {
    const until = performance.now() + stepMs;
    while (performance.now() < until);
    yield;
  }
  return steps;
}

describe('runBriefly', () => {
  it('answers at once when the work is short', () => {
    expect(runBriefly(counting(3, 0))).toBe(3);
  });

  it('gives the event loop back when the work is long, and finishes it', async () => {
    let others = 0;
    const working = runBriefly(counting(6, 3));
    expect(working).toBeInstanceOf(Promise);
    const timer = setInterval(() => others++, 0);
    expect(await working).toBe(6);
    clearInterval(timer);
    expect(others).toBeGreaterThan(0);
  });
});
