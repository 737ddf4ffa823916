import { describe, expect, it } from 'vitest';
import { patternSize } from './pattern-size.ts';
import { compileRegExp, regExpComplaint } from './regular-expression.ts';
import { Pace, runToEnd } from './slices.ts';

const pace = (): Pace => new Pace(Infinity);
const matches = (pattern: string, text: string): boolean => runToEnd(compileRegExp(pattern).test(text, pace()));

describe('a pattern matches as in Go', () => {
  it.each([
    ['a', 'bab', true],
    ['^a', 'ba', false],
    ['a$', 'ba', true],
    ['^$', '', true],
    ['^a*$', 'aaab', false],
    ['^(a|bc)+$', 'abcbca', true],
    ['^.$', '\n', false],
    ['(?s)^.$', '\n', true],
    ['(?m)^b$', 'a\nb\nc', true],
    ['^b$', 'a\nb\nc', false],
    [String.raw`\bfoo\b`, 'a foo b', true],
    [String.raw`\bfoo\b`, 'afoo b', false],
    ['^.$', '😀', true],
    ['(?i)straße', 'STRAßE', true],
    [String.raw`^\pL+$`, 'äöü', true],
    ['^[^a]{2}$', '€€', true],
    ['x{2,3}y', 'xxxxy', true],
  ])('%s on %j: %s', (pattern, text, expected) => {
    expect(matches(pattern, text)).toBe(expected);
  });
});

describe('the first match is the one that Go finds', () => {
  it.each([
    ['a+', 'baab', 'aa'],
    ['a+?', 'baab', 'a'],
    ['a|ab', 'xab', 'a'],
    ['ab|a', 'xab', 'ab'],
    ['(a*)*', 'b', ''],
    ['c', 'ab', undefined],
    [String.raw`\b\w+$`, 'one two', 'two'],
  ])('%s in %j: %s', (pattern, text, expected) => {
    expect(runToEnd(compileRegExp(pattern).find(text, pace()))).toBe(expected);
  });

  it.each([
    ['a*', 'baac', -1, ['', 'aa', '']],
    ['a', 'aaa', 2, ['a', 'a']],
    ['', 'ab', -1, ['', '', '']],
    ['x', 'ab', -1, []],
    ['.', 'a😀', -1, ['a', '😀']],
  ])('all of %j in %j, at most %d', (pattern, text, limit, expected) => {
    expect(runToEnd(compileRegExp(pattern).findAll(text, limit, pace()))).toEqual(expected);
  });
});

describe('hostile patterns', () => {
  let random = 1;
  const text = Array.from({ length: 10_000 }, () => 'ab'[(random = (random * 48_271) % 2_147_483_647) & 1]).join('');

  it.each([
    ['nested repetition', '^(a+)+$', 'a'.repeat(100_000)],
    ['many states', '(a|b)*a(a|b){12}c', text],
    ['overlapping ranges', '^.*(a.{1,300}b.{1,300}a).*c$', text],
    ['line assertions', '(?m)(^(a|b)+$)+c', text],
  ])('%s take a number of steps that is bounded, and pause', (_, pattern, hostile) => {
    let steps = 0;
    let pauses = 0;
    const counter = { tick: (more: number) => (steps += more) > 0 };
    const work = compileRegExp(pattern).test(hostile, counter);
    while (work.next().done !== true) pauses++;
    expect(pauses).toBeGreaterThan(0);
    expect(steps).toBeLessThan(hostile.length * compileRegExp(pattern).size);
  });

  it('stop when the counter says so', () => {
    const work = compileRegExp('^.*(a.{1,300}b.{1,300}a).*c$').test(text, new Pace(10_000));
    expect(() => runToEnd(work)).toThrow('more than 10000 steps');
  });

  it.each([['a{1000}'.repeat(20)], ['((a{30}){30}b){9}'.repeat(3)], ['x'.repeat(20_000)], ['(\\pL|\\pN){200}']])(
    'that would compile to too much are refused: %.30s',
    (pattern) => {
      expect(regExpComplaint(pattern)).toBe('error parsing regexp: expression too large');
    },
  );
});

it.each([['^[a-z]([-a-z0-9]*[a-z0-9])?$'], ['[a-z]{1,63}'], ['(a|b|c){10}'], ['((a{10}){10}){10}'], ['[]a]{5}'], ['[[:alpha:]]{7}|b*']])(
  'the size of %s is not underestimated by much',
  (pattern) => {
    expect(patternSize(pattern) * 1.5 + 10).toBeGreaterThanOrEqual(compileRegExp(pattern).size);
  },
);
