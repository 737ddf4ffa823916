import { expect, it } from 'vitest';
import { Turns } from './turns.ts';

it('Turns does what one key asks for one after the other, also after a failure, and keeps nobody else waiting', async () => {
  const turns = new Turns();
  const story: string[] = [];
  let fail!: () => void;
  const first = turns.take('a', () => new Promise<void>((_, reject) => (fail = () => reject(new Error('no')))));
  const second = turns.take('a', () => Promise.resolve(story.push('second')));
  await turns.take('b', () => Promise.resolve(story.push('other')));
  expect(story).toEqual(['other']);
  fail();
  await expect(first).rejects.toThrow('no');
  await second;
  await turns.settled();
  expect(story).toEqual(['other', 'second']);
});
