import { describe, expect, it } from 'vitest';
import { attributeStreams, lastLines, unshownPart } from './attribute-streams.ts';
import type { LogLine } from './log-lines.ts';

const out = (message: string, more: Partial<LogLine> = {}): LogLine => ({ stream: 'stdout', message, ...more });
const err = (message: string, more: Partial<LogLine> = {}): LogLine => ({ stream: 'stderr', message, ...more });

describe('attributeStreams', () => {
  it.each<[string, string, LogLine[], [string, string][] | undefined]>([
    ['nothing', '', [], []],
    ['one stream', 'a\nb\n', [out('a'), out('b')], [['stdout', 'a\nb\n']]],
    [
      'two streams',
      'a\ne\nb\n',
      [out('a'), err('e'), out('b')],
      [
        ['stdout', 'a\n'],
        ['stderr', 'e\n'],
        ['stdout', 'b\n'],
      ],
    ],
    ['empty lines, which the log leaves out', '\na\n\n\nb\n\n', [out('a'), out('b')], [['stdout', '\na\n\n\nb\n\n']]],
    ['a last line without an end', 'a\nb', [out('a'), out('b', { partial: true })], [['stdout', 'a\nb']]],
    ['a line in parts', 'abcd\n', [out('ab', { partial: true }), out('cd')], [['stdout', 'abcd\n']]],
    [
      'parts with the other stream between them',
      'abcd\ne\n',
      [out('ab', { partial: true }), err('e'), out('cd')],
      [
        ['stdout', 'abcd\n'],
        ['stderr', 'e\n'],
      ],
    ],
    ['lines that are missing', 'a\nb\n', [out('a')], undefined],
    ['lines that are too many', 'a\n', [out('a'), out('b')], undefined],
    ['other lines', 'a\n', [out('x')], undefined],
  ])('%s', (_name, text, lines, expected) => {
    expect(attributeStreams(text, lines)?.map(({ stream, text: part }) => [stream, part])).toEqual(expected);
  });
});

describe('unshownPart', () => {
  it.each([
    ['what follows the lines that were shown', 'a\nb\n\nc\n', { count: 2, last: 'b' }, false, '\nc\n'],
    ['nothing, when all were shown', 'a\nb\n', { count: 2, last: 'b' }, false, ''],
    ['nothing, when the lines do not belong together', 'a\nb\nc\n', { count: 2, last: 'x' }, false, ''],
    ['of a cut text what follows the last one', 'b\nc\nd\n', { count: 900, last: 'c' }, true, 'd\n'],
    ['repeated lines by their number', 'x\nx\nx\n', { count: 2, last: 'x' }, false, 'x\n'],
  ])('is %s', (_name, text, shown, isTruncated, expected) => {
    expect(unshownPart(text, shown, isTruncated)).toBe(expected);
  });
});

describe('lastLines', () => {
  it.each([
    ['none', 'a\nb\n', 0, ''],
    ['one', 'a\nb\n', 1, 'b\n'],
    ['some, with the empty ones between and after them', 'a\n\nb\n\nc\n\n', 2, 'b\n\nc\n\n'],
    ['one without an end', 'a\nb', 1, 'b'],
    ['more than there are', 'a\nb\n', 5, 'a\nb\n'],
  ])('%s', (_name, text, missing, expected) => {
    expect(lastLines(text, missing)).toBe(expected);
  });
});
