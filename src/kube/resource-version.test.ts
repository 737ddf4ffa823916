import { expect, it } from 'vitest';
import { versionOrder } from './resource-version.ts';

it.each([
  { name: 'older', a: '9', b: '10', expected: -1 },
  { name: 'newer, beyond what a double holds', a: '9007199254740993', b: '9007199254740992', expected: 1 },
  { name: 'the same', a: '7', b: '7', expected: 0 },
  { name: 'not a number', a: 'x7', b: '8', expected: undefined },
  { name: 'none', a: '7', b: undefined, expected: undefined },
])('versionOrder, $name', ({ a, b, expected }) => {
  expect(versionOrder(a, b)).toBe(expected);
});
