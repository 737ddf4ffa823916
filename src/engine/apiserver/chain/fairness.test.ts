import { describe, expect, it, vi } from 'vitest';
import { Turn } from '../../../lib/turn-queue.ts';
import { Fairness } from './fairness.ts';

const turn = () => new Promise(setImmediate);

describe('Fairness', () => {
  it('lets requests run at once while there are seats', () => {
    const fairness = new Fairness({ seats: 2, seatsPerFlow: 2, queuePerFlow: 10 }, new Turn(() => 0));
    expect(fairness.acquire('a')).toBeUndefined();
    expect(fairness.acquire('a')).toBeUndefined();
    expect(fairness.acquire('a')).toBeInstanceOf(Promise);
    expect(fairness.waiting).toBe(1);
  });

  it('serves waiting flows in turn, so that one request of a quiet client is not behind a hundred of a noisy one', async () => {
    const fairness = new Fairness({ seats: 1, seatsPerFlow: 1, queuePerFlow: 200 }, new Turn(() => 0));
    const order: string[] = [];
    const run = async (name: string) => {
      await fairness.acquire(name);
      order.push(name);
      await turn();
      fairness.release(name);
    };
    const all = Array.from({ length: 100 }, () => run('noisy'));
    all.push(run('quiet'));
    await Promise.all(all);
    expect(order.indexOf('quiet')).toBeLessThan(4);
    expect(fairness.executing).toBe(0);
  });

  it('rests while those that wait are blocked by requests of their own', async () => {
    const fairness = new Fairness({ seats: 2, seatsPerFlow: 1, queuePerFlow: 10 }, new Turn(() => 0));
    expect(fairness.acquire('a')).toBeUndefined();
    const second = fairness.acquire('a');
    await turn();
    const turns = vi.spyOn(globalThis, 'setImmediate');
    for (let i = 0; i < 10; i++) await new Promise((resolve) => setTimeout(resolve, 1));
    expect(turns).not.toHaveBeenCalled();
    turns.mockRestore();
    fairness.release('a');
    await second;
    expect(fairness.executing).toBe(1);
  });

  it('tells a flow with a full queue to come back, and only that one', () => {
    const fairness = new Fairness({ seats: 1, seatsPerFlow: 1, queuePerFlow: 2 }, new Turn(() => 0));
    void fairness.acquire('noisy');
    void fairness.acquire('noisy');
    void fairness.acquire('noisy');
    expect(() => fairness.acquire('noisy')).toThrow(/too many requests/);
    expect(fairness.acquire('quiet')).toBeInstanceOf(Promise);
    expect(fairness.rejected).toBe(1);
  });

  it('lets no more requests go on in a turn than fit into it', async () => {
    let now = 0;
    const fairness = new Fairness({ seats: 1, seatsPerFlow: 100, queuePerFlow: 100 }, new Turn(() => now));
    void fairness.acquire('first');
    const perTurn: number[] = [];
    const served: string[] = [];
    const run = async () => {
      await fairness.acquire('crowd');
      now += 1;
      served.push('crowd');
      fairness.release('crowd');
    };
    const all = Promise.all(Array.from({ length: 12 }, run));
    await turn();
    fairness.release('first');
    while (served.length < 12) {
      const before = served.length;
      await turn();
      perTurn.push(served.length - before);
    }
    await all;
    expect(Math.max(...perTurn)).toBeLessThanOrEqual(4);
  });
});
