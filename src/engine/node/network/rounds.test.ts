import { describe, expect, it } from 'vitest';
import { Rounds } from './rounds.ts';

function gated() {
  const gates: { open: () => void; fail: (error: Error) => void }[] = [];
  const rounds = new Rounds(() => new Promise<void>((open, fail) => gates.push({ open, fail })));
  const turn = () => new Promise<void>((resolve) => void setImmediate(resolve));
  return { gates, rounds, turn };
}

describe('Rounds', () => {
  it('run once for all requests of a turn', async () => {
    const { gates, rounds, turn } = gated();
    const first = rounds.request();
    await turn();
    expect(gates.length).toBe(1);
    const later = [rounds.request(), rounds.request()];
    gates[0].open();
    await first;
    await turn();
    expect(gates.length).toBe(2);
    gates[1].open();
    await Promise.all(later);
    expect(gates.length).toBe(2);
  });

  it('never run two at a time, also when one is asked for the moment another ends', async () => {
    let running = 0;
    let most = 0;
    const rounds = new Rounds(async () => {
      most = Math.max(most, ++running);
      await new Promise<void>((resolve) => void setImmediate(resolve));
      running--;
    });
    const again = async (times: number): Promise<void> => {
      for (let i = 0; i < times; i++) {
        await rounds.request();
        void Promise.resolve().then(() => rounds.request());
      }
    };
    await Promise.all([again(20), again(20), again(20)]);
    await rounds.idle();
    expect(most).toBe(1);
  });

  it('go on after one that failed, whose callers alone hear of it', async () => {
    const { gates, rounds, turn } = gated();
    const first = rounds.request();
    await turn();
    const second = rounds.request();
    gates[0].fail(new Error('no'));
    await expect(first).rejects.toThrow('no');
    await turn();
    gates[1].open();
    await second;
    await rounds.idle();
  });
});
