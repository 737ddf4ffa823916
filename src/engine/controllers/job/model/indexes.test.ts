import { expect, test } from 'vitest';
import { Indexes } from './indexes.ts';

test.each<[string, number[], string]>([
  ['nothing', [], ''],
  ['one', [4], '4'],
  ['neighbours', [1, 2], '1,2'],
  ['a range', [5, 3, 4, 0], '0,3-5'],
])('Indexes writes %s as Kubernetes does', (_name, indexes, text) => {
  expect(Indexes.of(indexes).toString()).toBe(text);
});

test.each<[string, string, number, string, number]>([
  ['ranges and single ones', '0,2-5,7', 10, '0,2-5,7', 6],
  ['touching ranges as one', '0,1-3,4', 10, '0-4', 5],
  ['nothing beyond the completions', '0,3-9,12', 5, '0,3,4', 3],
  ['around what is no index', '1,x,3-y,5', 10, '1,5', 2],
])('Indexes.parse reads %s', (_name, text, completions, expected, size) => {
  const parsed = Indexes.parse(text, completions);
  expect([parsed.toString(), parsed.size]).toEqual([expected, size]);
});

test('missing gives the lowest free ones', () => {
  expect(Indexes.parse('0,2-3', 10).missing(3, 6)).toEqual([1, 4, 5]);
  expect(Indexes.parse('0,2-3', 10).missing(1, 6)).toEqual([1]);
  expect(Indexes.none.missing(2, 1)).toEqual([0]);
  expect(Indexes.parse('0-5', 6).missing(2, 6)).toEqual([]);
});

test('union, overlap and has', () => {
  const [a, b] = [Indexes.parse('0-4', 10), Indexes.parse('3-6,9', 10)];
  expect(a.union(b).toString()).toBe('0-6,9');
  expect(a.overlap(b)).toBe(2);
  expect([a.has(4), a.has(5), b.has(9)]).toEqual([true, false, true]);
});
