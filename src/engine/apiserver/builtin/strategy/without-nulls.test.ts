import { expect, test } from 'vitest';
import { withoutNulls } from './without-nulls.ts';

test('withoutNulls gives back the object itself when there is nothing to leave out', () => {
  const object = { metadata: { name: 'x' }, list: [{ a: 1 }] };
  expect(withoutNulls(object)).toBe(object);
});

test('withoutNulls leaves out nulls at any depth and leaves the object alone', () => {
  const object = Object.freeze({ kept: { a: 1 }, time: null, list: [{ b: null, c: 2 }] });
  const result = withoutNulls(object);
  expect(result).toEqual({ kept: { a: 1 }, list: [{ c: 2 }] });
  expect(result.kept).toBe(object.kept);
  expect(object.time).toBeNull();
});
