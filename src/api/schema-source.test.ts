import { expect, it } from 'vitest';
import { amount } from './schema-source.ts';

it.each<[string, boolean]>([
  ['2Gi', true],
  ['+500m', true],
  ['1e-3', true],
  ['0', true],
  ['-1', false],
  ['-2Gi', false],
  ['two', false],
])('amount, "%s" is one: %s', (text, expected) => {
  const { pattern, minimum } = amount().schema;
  expect(new RegExp(pattern!).test(text)).toBe(expected);
  expect(minimum).toBe(0);
});
