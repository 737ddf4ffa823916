import { describe, expect, it } from 'vitest';
import { FairOrder } from './fair-order.ts';

function turns(order: FairOrder<string>, count: number): string[] {
  return Array.from({ length: count }, () => {
    const { key } = order.next()!;
    order.served(key);
    return key;
  });
}

describe('FairOrder', () => {
  it('equal members alternate', () => {
    const order = new FairOrder<string>();
    order.add('a', 'a', 1);
    order.add('b', 'b', 1);
    expect(turns(order, 6)).toEqual(['a', 'b', 'a', 'b', 'a', 'b']);
  });

  it('a member of three times the weight gets three turns of four', () => {
    const order = new FairOrder<string>();
    order.add('heavy', '', 3);
    order.add('light', '', 1);
    const taken = turns(order, 400);
    expect(taken.filter((key) => key === 'heavy')).toHaveLength(300);
  });

  it('who comes late is served next, but does not make up for lost time', () => {
    const order = new FairOrder<string>();
    order.add('flood', '', 1);
    turns(order, 1000);
    order.add('quiet', '', 1);
    expect(turns(order, 4).filter((key) => key === 'quiet')).toHaveLength(2);
    expect(turns(order, 100).filter((key) => key === 'quiet')).toHaveLength(50);
  });

  it('there is no turn without members', () => {
    const order = new FairOrder<string>();
    expect(order.next()).toBeUndefined();
    order.add('a', '', 1);
    order.remove('a');
    expect(order.next()).toBeUndefined();
  });
});
