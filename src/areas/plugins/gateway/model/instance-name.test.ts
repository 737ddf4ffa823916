import { expect, test } from 'vitest';
import { instanceName } from './instance-name.ts';

test.each([
  ['worker-1', 'worker-1-c0ffee'],
  ['Annas_MacBook.local', 'annas-macbook-local-c0ffee'],
  ['-x-', 'x-c0ffee'],
  [`${'a'.repeat(39)}.b`, `${'a'.repeat(39)}-c0ffee`],
  ['ядро', 'c0ffee'],
])('instanceName of %s is a name of an object', (host, expected) => {
  expect(instanceName(host, 'c0ffee')).toBe(expected);
});
