import { describe, expect, it, vi } from 'vitest';
import { FakeClock } from '../../../lib/clock-fake.ts';
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

  it('serves who may go on, whoever cannot before it', async () => {
    const fairness = new Fairness({ seats: 10, seatsPerFlow: 2, queuePerFlow: 10 }, new Turn(() => 0));
    const begun: string[] = [];
    const begin = async (name: string) => {
      await fairness.acquire(name);
      begun.push(name);
    };
    for (const name of ['a', 'a', 'a', 'b', 'b', 'c', 'c']) void begin(name);
    for (let i = 0; i < 3; i++) await turn();
    expect(begun.toSorted()).toEqual(['a', 'a', 'b', 'b', 'c', 'c']);
  });

  describe('while somebody asks for little', () => {
    function world(inUse: number) {
      const clock = new FakeClock();
      const fairness = new Fairness(undefined, new Turn(() => 0), clock, () => inUse);
      let begun = 0;
      const many = (name: string, count: number) => {
        for (let i = 0; i < count; i++) void Promise.resolve(fairness.acquire(name)).then(() => begun++);
      };
      const ask = async (name: string) => {
        await fairness.acquire(name);
        fairness.spare(name);
        fairness.release(name);
      };
      return { clock, fairness, many, ask, begun: () => begun };
    }

    it('who asks for much begins as much as leaves the event loop time to spare', async () => {
      const { clock, many, ask, begun } = world(0.9);
      await ask('calm');
      many('busy', 100);
      for (let i = 0; i < 3; i++) await turn();
      expect(begun()).toBeLessThan(10);
      for (let i = 0; i < 10; i++) {
        await clock.advance(5);
        await turn();
      }
      expect(begun()).toBeGreaterThan(10);
      expect(begun()).toBeLessThan(40);
    });

    it('who asks for much is not held back by those who wait for somebody else', async () => {
      const { clock, many, ask, begun } = world(0.1);
      for (let i = 0; i < 40; i++) {
        await ask('calm');
        many('busy', 20);
        await clock.advance(50);
        await turn();
      }
      expect(begun()).toBeGreaterThan(300);
    });

    it('it does not wait behind those who may not go on', async () => {
      const { fairness, many, ask } = world(0.9);
      await ask('calm');
      many('busy', 100);
      for (let i = 0; i < 3; i++) await turn();
      expect(fairness.acquire('calm')).toBeUndefined();
    });

    it('all goes on when it is gone', async () => {
      const { clock, many, ask, begun } = world(0.9);
      await ask('calm');
      many('busy', 50);
      for (let i = 0; i < 25; i++) {
        await clock.advance(5);
        await turn();
      }
      expect(begun()).toBe(50);
    });
  });
});
