import { describe, expect, it } from 'vitest';
import { runSlices } from './run-slices.ts';

function* counting(steps: number, log: number[] = []): Generator<void, string, void> {
  for (let i = 0; i < steps; i++) {
    log.push(i);
    yield;
  }
  return 'done';
}

describe('runSlices', () => {
  it('returns at once what is short', () => {
    expect(runSlices(counting(3), () => 0)).toBe('done');
  });

  it('lets others run when it takes long', async () => {
    let time = 0;
    const log: number[] = [];
    const pending = runSlices(counting(4, log), () => (time += 4));
    expect(pending).toBeInstanceOf(Promise);
    expect(log.length).toBeLessThan(4);
    expect(await pending).toBe('done');
  });

  it('rejects with what a later slice throws', async () => {
    let time = 0;
    const failing = (function* (): Generator<void, string, void> {
      yield;
      yield;
      throw new Error('late');
    })();
    await expect(runSlices(failing, () => (time += 10))).rejects.toThrow('late');
  });
});
