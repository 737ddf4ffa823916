import { expect, test } from 'vitest';
import { covers, digestOf, readSettled, type Settled } from './settled.ts';

const file = (name: string, sql = name) => ({ name, sql });
const applied = (name: string, isContract = false, sql = name) => ({ name, digest: digestOf(sql), isContract });
const settled = (...all: Settled['applied']): Settled => ({ state: 'a', applied: all });

test.each<[string, boolean, Settled | undefined, ReturnType<typeof file>[]]>([
  ['nothing is known', false, undefined, []],
  ['there are no migrations', true, settled(), []],
  ['all are applied', true, settled(applied('1'), applied('2')), [file('1'), file('2')]],
  ['a version after it applied more', true, settled(applied('1'), applied('2')), [file('1')]],
  ['one is to be applied', false, settled(applied('1')), [file('1'), file('2')]],
  ['another file of the name was applied', false, settled(applied('1')), [file('1', 'another')]],
  ['a version after it took something away', false, settled(applied('1'), applied('2', true)), [file('1')]],
  ['it took something away itself', true, settled(applied('1'), applied('2', true)), [file('1'), file('2')]],
])('a database is as a version wants it, or not: %s', (_, expected, known, files) => {
  expect(covers(known, 'a', files)).toBe(expected);
});

test('a database with another login, limit or address is not as a version wants it', () => {
  expect(covers(settled(), 'b', [])).toBe(false);
});

test.each([null, 'something', '{}', '{"state": 1, "applied": []}'])('a remark of somebody else says nothing: %s', (text) => {
  expect(readSettled(text)).toEqual([]);
});
