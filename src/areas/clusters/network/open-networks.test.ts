import { describe, expect, it } from 'vitest';
import { freeTransit } from './open-networks.ts';

describe('freeTransit', () => {
  it.each([
    ['takes the part that it begins with', 5, [], '100.65.64.0/18'],
    ['leaves out those of control planes', 9, [], '100.67.0.0/18'],
    ['begins again behind the last', 256 + 1, [], '100.64.64.0/18'],
    ['leaves out what this machine uses', 0, ['100.64.0.2', '100.64.70.1', '10.0.0.1'], '100.64.128.0/18'],
  ])('%s', (_name, start, addresses, transit) => expect(freeTransit(start, addresses)).toBe(transit));

  it('says so when all of it is in use', () => {
    const addresses = Array.from({ length: 256 }, (_, part) => `100.${64 + Math.floor(part / 4)}.${64 * (part % 4)}.1`);
    expect(() => freeTransit(7, addresses)).toThrow('this machine uses all of 100.64.0.0/10');
  });
});
