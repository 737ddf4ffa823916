import { expect, it } from 'vitest';
import { Slots } from './slots.ts';

function aWork() {
  let end!: () => void;
  const ended = new Promise<void>((resolve) => (end = resolve));
  return { ended, end };
}

it('Slots lets so many work at once, and then those that wait in the order in which they came, also after one that failed', async () => {
  const slots = new Slots(2);
  const begun: string[] = [];
  const works = ['a', 'b', 'c', 'd'].map((name) => {
    const { ended, end } = aWork();
    const used = slots.use(async () => {
      begun.push(name);
      await ended;
      if (name === 'a') throw new Error('it failed');
    });
    return { end, used };
  });
  await Promise.resolve();
  expect(begun).toEqual(['a', 'b']);
  works[0].end();
  await expect(works[0].used).rejects.toThrow('it failed');
  await expect.poll(() => begun).toEqual(['a', 'b', 'c']);
  for (const { end } of works) end();
  await Promise.all(works.slice(1).map(({ used }) => used));
  expect(begun).toEqual(['a', 'b', 'c', 'd']);
});

it('Slots gives the turn of one that was told to stop, to the next', async () => {
  const slots = new Slots(1);
  const first = aWork();
  const using = slots.use(() => first.ended);
  const stop = [new AbortController(), new AbortController()];
  const begun: string[] = [];
  const waits = (name: string, signal?: AbortSignal) => slots.use(() => Promise.resolve(void begun.push(name)), signal);
  const [early, late, last] = [waits('early', stop[0].signal), waits('late', stop[1].signal), waits('last')];
  stop[0].abort();
  await expect(early).rejects.toThrow('abort');
  first.end();
  await using;
  await Promise.all([late, last]);
  expect(begun).toEqual(['late', 'last']);
  stop[1].abort();
  await expect(waits('never', stop[1].signal)).rejects.toThrow('abort');
  await waits('again');
});
