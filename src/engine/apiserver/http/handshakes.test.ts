import type { Socket } from 'node:net';
import { expect, it } from 'vitest';
import { FakeClock } from '../../../lib/clock-fake.ts';
import { Handshakes } from './handshakes.ts';

function crowd(size: number) {
  const clock = new FakeClock();
  const begun: string[] = [];
  const handshakes = new Handshakes(clock, (one) => begun.push((one as unknown as { name: string }).name));
  const add = (name: string, remoteAddress?: string) => handshakes.add({ name, remoteAddress } as unknown as Socket);
  for (let i = 0; i < size; i++) add(`c${i}`);
  return { clock, begun, handshakes, add };
}

it('Handshakes begins two, and the next one in their order whenever one has ended', () => {
  const { begun, handshakes } = crowd(4);
  expect(begun).toEqual(['c0', 'c1']);
  handshakes.ended();
  expect(begun).toEqual(['c0', 'c1', 'c2']);
  handshakes.ended();
  handshakes.ended();
  expect(begun).toEqual(['c0', 'c1', 'c2', 'c3']);
});

it('Handshakes goes on after ten milliseconds when clients take their time', async () => {
  const { clock, begun } = crowd(5);
  await clock.advance(9);
  expect(begun).toHaveLength(2);
  await clock.advance(1);
  expect(begun).toHaveLength(4);
  await clock.advance(10);
  expect(begun).toHaveLength(5);
});

it('Handshakes lets nobody begin in the place of one that took too long and ends after all', async () => {
  const { clock, begun, handshakes, add } = crowd(6);
  await clock.advance(10);
  expect(begun).toHaveLength(4);
  handshakes.ended();
  handshakes.ended();
  expect(begun).toHaveLength(4);
  handshakes.ended();
  expect(begun).toHaveLength(5);
  handshakes.ended();
  handshakes.ended();
  add('later');
  expect(begun).toEqual(['c0', 'c1', 'c2', 'c3', 'c4', 'c5', 'later']);
});

it('Handshakes serves addresses in turn, so that one with many connections keeps nobody else waiting', () => {
  const { begun, handshakes, add } = crowd(100);
  add('other', '10.0.0.9');
  handshakes.ended();
  handshakes.ended();
  expect(begun).toContain('other');
});
