import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { LogFormatter, type LogFilter } from './log-formatter.ts';

const ALL: LogFilter = { stream: 'All', timestamps: false };
const LINES = [
  '2026-11-15T12:00:00.5Z stdout F one',
  '2026-11-15T12:00:01.123456789Z stderr F two',
  '2026-11-15T12:00:02Z stdout P thr',
  '2026-11-15T12:00:02Z stdout F ee',
  '2026-11-15T12:00:03Z stdout F ',
  '2026-11-15T12:00:04Z stdout F four five  ',
].map((line) => `${line}\n`);

function format(filter: Partial<LogFilter>, text = LINES.join('')): string {
  return new LogFormatter({ ...ALL, ...filter }).format(Buffer.from(text)).toString();
}

describe('LogFormatter', () => {
  it.each<[string, Partial<LogFilter>, string]>([
    ['everything, parts joined', {}, 'one\ntwo\nthree\n\nfour five  \n'],
    ['only stdout', { stream: 'Stdout' }, 'one\nthree\n\nfour five  \n'],
    ['only stderr', { stream: 'Stderr' }, 'two\n'],
    ['from a time on', { since: Date.parse('2026-11-15T12:00:02Z') }, 'three\n\nfour five  \n'],
    ['nothing is as new as that', { since: Date.parse('2027-01-01T00:00:00Z') }, ''],
  ])('%s', (_, filter, expected) => {
    expect(format(filter)).toBe(expected);
  });

  it('times have nine digits and stand before whole lines only', () => {
    expect(format({ timestamps: true }).split('\n').slice(0, 3)).toEqual([
      '2026-11-15T12:00:00.500000000Z one',
      '2026-11-15T12:00:01.123456789Z two',
      '2026-11-15T12:00:02.000000000Z three',
    ]);
  });

  it.each([
    ['a line that is no log line', `nonsense\n${LINES[0]}`],
    ['an empty line', `\n${LINES[0]}`],
    ['a very long line without head', `${'x'.repeat(5000)}\n${LINES[0]}`],
    ['an unknown stream', `2026-11-15T12:00:00Z stdin F no\n${LINES[0]}`],
  ])('%s is passed over', (_, text) => {
    expect(format({}, text)).toBe('one\n');
  });

  it('a line that is still being written is shown as far as it is there', () => {
    expect(format({}, `${LINES[0]}2026-11-15T12:00:09Z stdout F beg`)).toBe('one\nbeg');
  });

  it('comes out the same however the bytes are cut', () => {
    const bytes = Buffer.from(LINES.join('') + LINES.join(''));
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 1, max: 50 }), { minLength: 1, maxLength: 8 }), fc.boolean(), (sizes, timestamps) => {
        const formatter = new LogFormatter({ ...ALL, timestamps });
        let text = '';
        for (let at = 0, index = 0; at < bytes.length; index++) {
          const size = sizes[index % sizes.length];
          text += formatter.format(bytes.subarray(at, at + size)).toString();
          at += size;
        }
        expect(text).toBe(format({ timestamps }, bytes.toString()));
      }),
    );
  });
});
