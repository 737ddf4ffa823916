import { describe, expect, it } from 'vitest';
import { freeUser } from './free-user.ts';

describe('freeUser', () => {
  it('gives one that nobody has, and the same one when asked again', () => {
    const first = freeUser('/data', [])!;
    expect(freeUser('/data', [])).toBe(first);
    expect(freeUser('/data', [first])).not.toBe(first);
  });

  it('begins elsewhere for another instance', () => {
    expect(freeUser('/data', [])).not.toBe(freeUser('/other', []));
  });

  it('gives none when all are taken', () => {
    const all = Array.from({ length: 100_000 }, (_, index) => 1_900_100_000 + index);
    expect(freeUser('/data', all)).toBeUndefined();
    expect(freeUser('/data', all.slice(1))).toBe(all[0]);
  });
});
