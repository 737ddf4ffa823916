import { expect, test } from 'vitest';
import { isContained } from './is-contained.ts';

test.each([
  ['defaults of the server do not matter', { spec: { a: 1 } }, { spec: { a: 1, b: 2 } }, true],
  ['fields that are undefined do not matter', { spec: { a: 1, b: undefined } }, { spec: { a: 1 } }, true],
  ['a changed field does', { spec: { a: 1 } }, { spec: { a: 2 } }, false],
  ['an item too many does', { l: [1] }, { l: [1, 2] }, false],
  ['an amount too many does', { hard: { cpu: '1' } }, { hard: { cpu: '1', pods: '2' } }, false],
  ['an entry of data too many does', { data: { a: '' } }, { data: { a: '', b: '' } }, false],
  ['an absent object does', { a: 1 }, undefined, false],
])('isContained: %s', (_what, wanted, existing, expected) => {
  expect(isContained(wanted, existing)).toBe(expected);
});
