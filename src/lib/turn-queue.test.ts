import { describe, expect, it } from 'vitest';
import { Turn, TurnQueue } from './turn-queue.ts';

/** A clock that steps move on: each takes `ms`. */
function countedTurns(ms: number) {
  let now = 0;
  const queue = new TurnQueue(new Turn(() => now));
  const perTurn: number[] = [];
  let inTurn = 0;
  const step = async () => {
    await queue.pause();
    now += ms;
    inTurn++;
  };
  return {
    queue,
    async run(steps: number): Promise<number[]> {
      const done = new AbortController();
      const all = Promise.all(Array.from({ length: steps }, step)).then(() => done.abort());
      while (!done.signal.aborted) {
        await new Promise(setImmediate);
        if (inTurn > 0) perTurn.push(inTurn);
        inTurn = 0;
      }
      await all;
      return perTurn;
    },
  };
}

describe('TurnQueue', () => {
  it('lets the first one of a turn go on at once, and the others later', async () => {
    const queue = new TurnQueue();
    expect(queue.enter()).toBeUndefined();
    const second = queue.enter();
    expect(second).toBeInstanceOf(Promise);
    await second;
    await new Promise(setImmediate);
    expect(queue.enter()).toBeUndefined();
  });

  it('lets many short steps go on in one turn', async () => {
    expect(await countedTurns(0.1).run(10)).toEqual([10]);
  });

  it('lets one step go on per turn when each takes long', async () => {
    expect(await countedTurns(5).run(4)).toEqual([1, 1, 1, 1]);
  });

  it('fills a turn and no more', async () => {
    const perTurn = await countedTurns(1).run(10);
    expect(Math.max(...perTurn)).toBe(3);
    expect(perTurn.reduce((sum, steps) => sum + steps)).toBe(10);
  });

  it('lets short work go on at once while the turn has time, and later when it has not', async () => {
    let now = 0;
    const queue = new TurnQueue(new Turn(() => now));
    expect(queue.share()).toBeUndefined();
    now = 2;
    expect(queue.share()).toBeUndefined();
    now = 4;
    const later = queue.share();
    expect(later).toBeInstanceOf(Promise);
    await later;
  });

  it('lets short work pass long work, which still gets a step per turn', async () => {
    let now = 0;
    const queue = new TurnQueue(new Turn(() => now));
    const order: string[] = [];
    const step = async (name: string, ready: Promise<void>) => {
      await ready;
      now += 2;
      order.push(name);
    };
    await Promise.all([
      ...['long 1', 'long 2'].map((name) => step(name, queue.pause())),
      ...['short 1', 'short 2', 'short 3'].map((name) => step(name, queue.next())),
    ]);
    expect(order).toEqual(['short 1', 'short 2', 'long 1', 'short 3', 'long 2']);
  });
});

describe('Turn', () => {
  it('gives those who wait a millisecond each even when it is used up', async () => {
    let now = 0;
    const turn = new Turn(() => now);
    expect(turn.hasTime()).toBe(true);
    now = 9;
    expect(turn.hasTime()).toBe(false);
    const had: boolean[] = [];
    await new Promise<void>((resolve) => {
      for (const last of [false, true]) {
        turn.atEnd((hasTime) => {
          had.push(hasTime());
          now += 1;
          had.push(hasTime());
          if (last) resolve();
          return Promise.resolve();
        });
      }
    });
    expect(had).toEqual([true, false, true, false]);
  });
});
