import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { endOfPrefix, KeyIndex } from './key-index.ts';
import { Version } from './version.ts';

const version = (key: string, revision: number, removed = false) => new Version(key, new Uint8Array(0), revision, 1, removed);

function keysIn(index: KeyIndex, from: string, end?: string): string[] {
  const keys: string[] = [];
  index.visit(from, end, ({ key }) => keys.push(key) > 0);
  return keys;
}

describe('KeyIndex', () => {
  it('visit, collect and count agree with a sorted list, for any sequence of sets and deletes', () => {
    const key = fc.nat(2500).map((n) => `/k/${n.toString(36)}`);
    const operation = fc.record({ key, removed: fc.boolean(), action: fc.constantFrom('set', 'set', 'set', 'delete') });
    fc.assert(
      fc.property(fc.array(operation, { minLength: 800, maxLength: 4000, size: 'max' }), key, key, (operations, from, end) => {
        const index = new KeyIndex();
        const model = new Map<string, boolean>();
        for (const [revision, { key, removed, action }] of operations.entries()) {
          if (action === 'delete') index.delete(key);
          else index.set(version(key, revision, removed));
          if (action === 'delete') model.delete(key);
          else model.set(key, removed);
        }
        const expected = [...model.keys()].sort().filter((each) => each >= from && each < end);
        expect(keysIn(index, from, end)).toEqual(expected);
        const live = expected.filter((each) => !model.get(each));
        expect(index.count(from, end)).toBe(live.length);
        for (const limit of [Number.POSITIVE_INFINITY, 700, 1]) {
          expect(index.collect(from, end, limit).map(({ key }) => key)).toEqual(live.slice(0, limit));
        }
        expect(index.live).toBe([...model.values()].filter((removed) => !removed).length);
        expect(index.count('', undefined)).toBe(index.live);
        for (const each of expected.slice(0, 50)) expect(index.get(each)?.key).toBe(each);
      }),
      { numRuns: 30 },
    );
  });

  it('set keeps the order when keys arrive in order, in reverse and shuffled', () => {
    const sorted = Array.from({ length: 3000 }, (_, n) => String(n).padStart(6, '0'));
    for (const order of [sorted, sorted.toReversed(), sorted.map((_, n) => sorted[(n * 1009) % 3000])]) {
      const index = new KeyIndex();
      order.forEach((key, n) => index.set(version(key, n)));
      expect(keysIn(index, '')).toEqual(sorted);
    }
  });

  it('visit stops when told to', () => {
    const index = new KeyIndex();
    for (const key of ['a', 'b', 'c']) index.set(version(key, 1));
    const seen: string[] = [];
    index.visit('', undefined, ({ key }) => seen.push(key) < 2);
    expect(seen).toEqual(['a', 'b']);
  });
});

describe('endOfPrefix', () => {
  it.each([
    ['/a/', '/a0'],
    ['a', 'b'],
    ['', undefined],
    ['\uffff', undefined],
    ['a\uffff', 'b'],
  ])('endOfPrefix of %j is %j', (prefix, end) => {
    expect(endOfPrefix(prefix)).toBe(end);
  });
});
