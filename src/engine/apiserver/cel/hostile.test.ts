import { describe, expect, it } from 'vitest';
import { compileCel } from './cel.ts';
import { fromJson } from './json-values.ts';
import { DYN } from './types.ts';
import type { CelValue } from './values.ts';

const variables = { self: DYN };
/** Enough for the costs of the expressions below, were there nothing else. */
const LIMIT = 200_000;
const EXCEEDED = 'operation cancelled: actual cost limit exceeded';

function evaluate(expression: string, self: unknown): { error?: string; value?: CelValue; pauses: number } {
  const { program, errors } = compileCel(expression, { variables });
  expect(errors).toBeUndefined();
  const work = program!.evaluateSliced(new Map([['self', fromJson(self)]]), LIMIT);
  for (let pauses = 0; ; pauses++) {
    const step = work.next();
    if (step.done) return { ...step.value, pauses };
  }
}

describe('work that costs little comes to an end', () => {
  const many = Array.from({ length: 20_000 }, (_, at) => at);
  it.each<[string, string, unknown]>([
    ['the size of a long text', 'self.l.all(x, self.s.size() > 0)', { s: 'a'.repeat(1_000_000), l: many }],
    ['the size of a large map', 'self.l.all(x, self.m.size() > 0)', { m: Object.fromEntries(many.map((at) => [`k${at}`, 1])), l: many }],
    ['sorting out empty texts', 'self.all(x, self.isSorted())', many.map(() => '')],
    ['putting a list into words', 'self.all(x, "%s".format([self]).size() > 0)', many],
    ['joining empty texts', 'self.all(x, self.join("") == "")', many.map(() => '')],
    ['replacing by a long text', 'self.replace("a", self).size() > 0', 'a'.repeat(100_000)],
    ['a long separator', 'self.split("").join(self).size() > 0', 'a'.repeat(100_000)],
    ['all matches of a pattern that looks ahead', 'self.findAll("a*b|a").size() > 0', 'a'.repeat(50_000)],
  ])('%s', (_, expression, self) => {
    expect(evaluate(expression, self).error).toBe(EXCEEDED);
  });
});

it('a long text is trimmed in linear time', () => {
  expect(evaluate('self.trim().size()', `a${' '.repeat(500_000)}b`).value).toBe(500_002n);
});

it('a pattern that takes long pauses', () => {
  const { value, pauses } = evaluate('self.matches("^(a+)+$")', 'a'.repeat(500_000));
  expect(value).toBe(true);
  expect(pauses).toBeGreaterThan(0);
});

describe('expressions that only grow are refused', () => {
  it.each([
    ['doubled by each optMap', `optional.of(1)${'.optMap(x, x)'.repeat(40)}`, 'expression has too many parts'],
    ['a long sum', `${'1 + '.repeat(1000)}1`, 'expression nests too deeply'],
    ['a long list', `self in [${'1,'.repeat(5000)}1]`, 'expression has too many parts'],
    ['types doubled by each map', `self${'.map(x, {x: x})'.repeat(40)}`, 'type of the map is too large'],
    ['a pattern without bounds', `'a'.matches('${'a{1000}'.repeat(20)}')`, 'invalid matches argument'],
  ])('%s', (_, expression, complaint) => {
    expect(compileCel(expression, { variables }).errors).toContain(complaint);
  });
});

it('many errors in a long line are not all shown', () => {
  const errors = compileCel(`[${'undeclared, '.repeat(1200)}1]`, { variables }).errors!;
  expect(errors).toMatch(/more errors were truncated$/);
  expect(errors.length).toBeLessThan(100_000);
});
