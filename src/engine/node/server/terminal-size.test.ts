import { describe, expect, it } from 'vitest';
import { TerminalSizes } from './terminal-size.ts';

function sizesOf(...pieces: string[]): [number, number][] {
  const seen: [number, number][] = [];
  const sizes = new TerminalSizes((columns, rows) => void seen.push([columns, rows]));
  for (const piece of pieces) sizes.push(Buffer.from(piece));
  return seen;
}

describe('TerminalSizes', () => {
  it.each([
    ['one', ['{"Width":80,"Height":24}\n'], [[80, 24]]],
    [
      'two at once',
      ['{"Width":80,"Height":24}{"Height":25,"Width":81}'],
      [
        [80, 24],
        [81, 25],
      ],
    ],
    ['cut in the middle', ['{"Wid', 'th":80,"Hei', 'ght":24}'], [[80, 24]]],
    ['nonsense between', ['{]}', '{"Width":80,"Height":24}'], [[80, 24]]],
    ['no size at all', ['{"Width":0,"Height":24}', '{"Width":"80","Height":24}', '{"Width":99999999,"Height":1}', 'null}'], []],
    ['something endless', ['x'.repeat(10_000), '{"Width":80,"Height":24}'], [[80, 24]]],
  ])('%s', (_, pieces, expected) => {
    expect(sizesOf(...pieces)).toEqual(expected);
  });
});
