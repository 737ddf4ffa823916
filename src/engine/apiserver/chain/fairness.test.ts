import { describe, expect, it, vi } from 'vitest';
import { FakeClock } from '../../../lib/clock-fake.ts';
import { Turn } from '../../../lib/turn-queue.ts';
import { Fairness, type Seat } from './fairness.ts';

const turn = () => new Promise(setImmediate);

describe('Fairness', () => {
  it('lets requests run at once while there are seats', () => {
    const fairness = new Fairness({ seats: 2, seatsPerFlow: 2, queuePerFlow: 10 }, new Turn(() => 0));
    expect(fairness.acquire('a')).not.toBeInstanceOf(Promise);
    expect(fairness.acquire('a')).not.toBeInstanceOf(Promise);
    expect(fairness.acquire('a')).toBeInstanceOf(Promise);
    expect(fairness.waiting).toBe(1);
  });

  it('serves waiting flows in turn, so that one request of a quiet client is not behind a hundred of a noisy one', async () => {
    const fairness = new Fairness({ seats: 1, seatsPerFlow: 1, queuePerFlow: 200 }, new Turn(() => 0));
    const order: string[] = [];
    const run = async (name: string) => {
      const seat = await fairness.acquire(name);
      order.push(name);
      await turn();
      fairness.release(seat);
    };
    const all = Array.from({ length: 100 }, () => run('noisy'));
    all.push(run('quiet'));
    await Promise.all(all);
    expect(order.indexOf('quiet')).toBeLessThan(4);
    expect(fairness.executing).toBe(0);
  });

  it('rests while those that wait are blocked by requests of their own', async () => {
    const fairness = new Fairness({ seats: 2, seatsPerFlow: 1, queuePerFlow: 10 }, new Turn(() => 0));
    const first = await fairness.acquire('a');
    const second = fairness.acquire('a');
    await turn();
    const turns = vi.spyOn(globalThis, 'setImmediate');
    for (let i = 0; i < 10; i++) await new Promise((resolve) => setTimeout(resolve, 1));
    expect(turns).not.toHaveBeenCalled();
    turns.mockRestore();
    fairness.release(first);
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
    const first = await fairness.acquire('first');
    const perTurn: number[] = [];
    const served: string[] = [];
    const run = async () => {
      const seat = await fairness.acquire('crowd');
      now += 1;
      served.push('crowd');
      fairness.release(seat);
    };
    const all = Promise.all(Array.from({ length: 12 }, run));
    await turn();
    fairness.release(first);
    while (served.length < 12) {
      const before = served.length;
      await turn();
      perTurn.push(served.length - before);
    }
    await all;
    expect(Math.max(...perTurn)).toBeLessThanOrEqual(4);
  });

  describe('beside a flow that asks for little', () => {
    function world() {
      const clock = new FakeClock();
      const fairness = new Fairness(undefined, new Turn(() => clock.monotonic()), clock);
      const begun: string[] = [];
      const begin = async (name: string): Promise<Seat> => {
        const seat = await fairness.acquire(name);
        begun.push(name);
        return seat;
      };
      const many = (name: string, count: number) => Array.from({ length: count }, () => begin(name));
      return { clock, fairness, begun, begin, many };
    }

    it('one that asks for much has two requests under way, and all of them one after the other', async () => {
      const { fairness, begun, begin, many } = world();
      fairness.release(await begin('calm'));
      const busy = many('busy', 5);
      for (let i = 0; i < 3; i++) await turn();
      expect(begun).toEqual(['calm', 'busy', 'busy']);
      for (const request of busy) fairness.release(await request);
      expect(fairness.executing).toBe(0);
    });

    it('it does not wait behind those of the other', async () => {
      const { fairness, begin, many } = world();
      fairness.release(await begin('calm'));
      void many('busy', 5);
      for (let i = 0; i < 3; i++) await turn();
      expect(fairness.acquire('calm')).not.toBeInstanceOf(Promise);
    });

    it('requests that take long do not count: they wait for somebody else', async () => {
      const { clock, fairness, begun, begin, many } = world();
      fairness.release(await begin('calm'));
      void many('busy', 5);
      await turn();
      await clock.advance(26);
      await turn();
      expect(begun.length).toBe(5);
    });

    it('it is remembered for a moment only', async () => {
      const { clock, fairness, begun, begin, many } = world();
      fairness.release(await begin('calm'));
      await clock.advance(200);
      void many('busy', 5);
      await turn();
      expect(begun.length).toBe(6);
    });

    it('one that asks for much, one request after the other, counts as such', async () => {
      const { clock, fairness, begun, begin, many } = world();
      for (let i = 0; i < 30; i++) {
        fairness.release(await begin('brisk'));
        await clock.advance(10);
      }
      const before = begun.length;
      void many('busy', 5);
      await turn();
      expect(begun.length - before).toBe(5);
    });

    it('flows that all ask for much are not held back', async () => {
      const { clock, begun, many } = world();
      for (let i = 0; i < 3; i++) {
        void many('one', 3);
        void many('two', 3);
        await clock.advance(60);
        await turn();
      }
      const before = begun.length;
      void many('one', 5);
      void many('two', 5);
      await turn();
      expect(begun.length - before).toBe(10);
    });
  });
});
