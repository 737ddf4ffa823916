import type { Socket } from 'node:net';
import { expect, it } from 'vitest';
import { FakeClock } from '../../../lib/clock-fake.ts';
import { Handshakes } from './handshakes.ts';

const socket = (name: string) => ({ name }) as unknown as Socket;

it('Handshakes begins a few at once and the rest in their order, a few every five milliseconds', async () => {
  const clock = new FakeClock();
  const begun: string[] = [];
  const handshakes = new Handshakes(clock, (one) => begun.push((one as unknown as { name: string }).name));
  for (let i = 0; i < 8; i++) handshakes.add(socket(`c${i}`));
  expect(begun).toHaveLength(3);
  await clock.advance(5);
  expect(begun).toHaveLength(6);
  await clock.advance(5);
  expect(begun).toEqual(Array.from({ length: 8 }, (_, i) => `c${i}`));
  await clock.advance(5);
  handshakes.add(socket('later'));
  expect(begun.at(-1)).toBe('later');
});
