import { expect, test } from 'vitest';
import { sortedKeys } from './sorted-keys.ts';

test('keys come in order at every depth, and nothing else changes', () => {
  const value = { spec: { b: [{ z: 1, a: null }, 2], a: 'x' }, metadata: {}, $patch: 'replace' };
  expect(JSON.stringify(sortedKeys(value))).toBe('{"$patch":"replace","metadata":{},"spec":{"a":"x","b":[{"a":null,"z":1},2]}}');
});
