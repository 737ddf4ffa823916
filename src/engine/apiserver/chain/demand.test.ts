import { describe, expect, it } from 'vitest';
import { Demands, type Demand } from './demand.ts';

function demand(name: string): Demand {
  return { name, count: 0, countedSince: 0, muchUntil: -Infinity };
}

function ask(demands: Demands, of: Demand, times: number, now: number): void {
  for (let i = 0; i < times; i++) demands.count(of, now);
}

describe('Demands', () => {
  it.each([
    { name: 'four requests in a moment are few', times: 4, at: 10, expected: false },
    { name: 'five are many', times: 5, at: 10, expected: true },
    { name: 'they were many for a second', times: 5, at: 900, expected: true },
    { name: 'and are forgotten after it', times: 5, at: 1001, expected: false },
  ])('$name', ({ times, at, expected }) => {
    const demands = new Demands();
    const busy = demand('busy');
    ask(demands, busy, times, 0);
    demands.waitsFor(demand('calm'), at);
    expect(demands.isInTheWay(busy, at)).toBe(expected);
  });

  it('nobody is in the way of itself, nor of one who asks for much too', () => {
    const demands = new Demands();
    const [one, two] = [demand('one'), demand('two')];
    demands.waitsFor(one, 0);
    for (const each of [one, two]) ask(demands, each, 9, 1);
    demands.waitsFor(two, 1);
    expect(demands.isInTheWay(one, 2)).toBe(false);
  });

  it('a moment after its last request nobody is spared', () => {
    const demands = new Demands();
    const busy = demand('busy');
    ask(demands, busy, 9, 0);
    demands.waitsFor(demand('calm'), 0);
    expect(demands.isInTheWay(busy, 99)).toBe(true);
    expect(demands.isInTheWay(busy, 100)).toBe(false);
  });

  it('is forgotten when it asks for nothing', () => {
    const demands = new Demands();
    const some = demand('some');
    ask(demands, some, 1, 0);
    expect([50, 100].map((now) => demands.isForgotten(some, now))).toEqual([false, true]);
  });
});
