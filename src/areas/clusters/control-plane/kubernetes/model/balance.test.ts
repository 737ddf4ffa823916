import { describe, expect, it } from 'vitest';
import { HUNG_MS, inOrder, SILENT_MS, START_MS, verdictOf } from './balance.ts';

const backend = (address: string, ready: boolean, connections: number) => ({ address, ready, connections });

describe('inOrder', () => {
  it('has those that are ready first, and of them the one with the fewest connections', () => {
    const order = inOrder([backend('a', true, 5), backend('b', false, 0), backend('c', true, 2)]);
    expect(order.map(({ address }) => address)).toEqual(['c', 'a', 'b']);
  });

  it('tries those that are not ready when none is', () => {
    expect(inOrder([backend('a', false, 5), backend('b', false, 1)]).map(({ address }) => address)).toEqual(['b', 'a']);
  });
});

const NOW = 1_000_000;
const answered = (msAgo: number, ready = true) => ({ ready, answeredAt: NOW - msAgo, starting: false });
const started = (msAgo: number) => ({ ready: false, answeredAt: NOW - msAgo, starting: true });

it.each([
  ['one that answered just now', answered(0), [answered(0)], 'fine'],
  ['one that is silent while another answers', answered(SILENT_MS, false), [answered(500)], 'silent'],
  ['one that is silent for long while another answers', answered(HUNG_MS, false), [answered(500)], 'hung'],
  ['one that has been starting for long', started(START_MS - 1), [answered(500)], 'silent'],
  ['one that does not come to start', started(START_MS), [answered(500)], 'hung'],
  ['one that is silent like all others', answered(HUNG_MS, false), [answered(HUNG_MS, false)], 'fine'],
  ['one that is silent while the other answers that it is not ready', answered(HUNG_MS, false), [answered(0, false)], 'fine'],
])('verdictOf, %s', (_, one, others, verdict) => {
  expect(verdictOf(one, others, NOW)).toBe(verdict);
});
