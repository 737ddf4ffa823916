import { describe, expect, it } from 'vitest';
import { formatTable } from './table.ts';

describe('formatTable', () => {
  it('sets columns three spaces apart, with no space at the end of a line', () => {
    expect(
      formatTable(
        ['NAME', 'AGE', 'LAST'],
        [
          ['long-name', '5s', ''],
          ['a', '10m', 'x'],
        ],
      ),
    ).toEqual(['NAME        AGE   LAST', 'long-name   5s', 'a           10m   x']);
  });

  it('counts characters, not bytes', () => {
    expect(formatTable(['A', 'B'], [['äöü€', '1']])[1]).toBe('äöü€   1');
  });

  it('colours what has a colour, only where colours are shown, and keeps the columns', () => {
    const row = [{ text: 'Failed', colour: 'red' as const }, 'x'];
    expect(formatTable(['PHASE', 'B'], [row], { isColoured: true })[1]).toBe('\u001b[31mFailed\u001b[0m   x');
    expect(formatTable(['PHASE', 'B'], [row])[1]).toBe('Failed   x');
  });

  it('gives the terminal no orders and keeps a cell on its line', () => {
    expect(formatTable(['A', 'B'], [['a\nb', '\u001b[2Jx']])[1]).toBe('a b    [2Jx');
  });
});
