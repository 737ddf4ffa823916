import { describe, expect, it } from 'vitest';
import { TurnQueue } from './turn-queue.ts';

/** A clock that steps move on: each takes `ms`. */
function countedTurns(ms: number) {
  let now = 0;
  const queue = new TurnQueue(() => now);
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
    expect(Math.max(...perTurn)).toBe(4);
    expect(perTurn.reduce((sum, steps) => sum + steps)).toBe(10);
  });
});
