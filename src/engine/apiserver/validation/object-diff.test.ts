import { describe, expect, test } from 'vitest';
import { objectDiff } from './object-diff.ts';

describe('objectDiff', () => {
  test('shows three lines around a change', () => {
    const before = { a: 1, b: 2, c: 3, d: 4, e: 5, f: 6, g: 7, h: 8 };
    expect(objectDiff(before, { ...before, e: 0 })).toBe(
      '@@ -3,7 +3,7 @@\n  "b": 2,\n  "c": 3,\n  "d": 4,\n- "e": 5,\n+ "e": 0,\n  "f": 6,\n  "g": 7,\n  "h": 8\n',
    );
  });

  test('joins changes that are close and separates those that are not', () => {
    const numbers = Array.from({ length: 30 }, (_, i) => i);
    const changed = numbers.map((n) => (n === 2 || n === 5 || n === 25 ? n + 100 : n));
    expect(objectDiff(numbers, changed).match(/^@@ /gm)).toHaveLength(2);
  });

  test('is empty for equal objects', () => {
    expect(objectDiff({ a: [1, 2] }, { a: [1, 2] })).toBe('');
  });

  test('escapes what matters in HTML, as encoding/json does', () => {
    expect(objectDiff('<a>', '&')).toContain('-"\\u003ca\\u003e"\n+"\\u0026"');
  });

  test('settles for one large change when the best diff would cost too much', () => {
    const line = (i: number): string => `x${i % 150}`;
    const before = Array.from({ length: 15_000 }, (_, i) => line(i));
    const after = ['first', ...before.toReversed(), 'last'];
    expect(objectDiff(before, after).match(/^@@ /gm)).toHaveLength(1);
  });
});
