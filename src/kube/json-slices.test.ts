import * as fc from 'fast-check';
import { describe, expect, it, test } from 'vitest';
import { parseStrictInSlices } from './json-parse-slices.ts';
import { copyInSlices, countInSlices, equalInSlices, stringifyInSlices, weigh } from './json-slices.ts';
import type { Json } from './object.ts';
import { parseStrict } from './strict-json.ts';

/** Drives work to its end, and tells how often it paused. */
function run<T>(work: Generator<void, T, void>): { result: T; pauses: number } {
  for (let pauses = 0; ; pauses++) {
    const step = work.next();
    if (step.done) return { result: step.value, pauses };
  }
}

const repeat = <T>(count: number, make: (i: number) => T): T[] => Array.from({ length: count }, (_, i) => make(i));
const wide = (count: number, value: Json): Json => Object.fromEntries(repeat(count, (i) => [`key-${i}`, value]));

const large: [string, Json][] = [
  ['a wide object', wide(5000, 'v')],
  ['a wide list', repeat(5000, (i) => i)],
  ['a list of objects', repeat(2000, (i) => ({ name: `n${i}`, value: null, more: [1, { a: 'é"\\\n' }] }))],
  ['large things in large things', { a: wide(800, wide(3, [1, 2])), b: [wide(900, 'x'), 'y', repeat(900, () => ({}))], c: 1 }],
  ['nothing but large things', { a: wide(900, 1), b: wide(900, 2) }],
  ['a long text among short ones', { a: 'x'.repeat(100_000), b: { c: 'é'.repeat(50_000) }, d: wide(900, '}') }],
  ['hostile names', JSON.parse(`{"__proto__":${JSON.stringify(wide(900, 1))},"constructor":{"__proto__":2},"a":"{[,:]}\\\\"}`)],
];

const json = fc.jsonValue({ maxDepth: 4 }).map((value) => [value, large.map(([, item]) => item), value] as Json);
const encode = (text: string): Uint8Array => new TextEncoder().encode(text);

describe('large values, in slices', () => {
  it.each(large)('%s: the same as at once', (_, value) => {
    expect(run(copyInSlices(value)).result).toEqual(value);
    expect(run(equalInSlices(value, structuredClone(value))).result).toBe(true);
    expect(run(stringifyInSlices(value)).result).toBe(JSON.stringify(value));
    expect(run(countInSlices(value, Infinity)).result).toBe(weigh(value, Infinity));
    expect(run(parseStrictInSlices(encode(JSON.stringify(value)))).result).toEqual(value);
    expect(JSON.stringify(run(parseStrictInSlices(encode(JSON.stringify(value, null, 3)))).result)).toBe(JSON.stringify(value));
  });

  test('whatever is beside them', () => {
    fc.assert(
      fc.property(json, (value) => {
        const text = JSON.stringify(value);
        expect(run(stringifyInSlices(value)).result).toBe(text);
        expect(JSON.stringify(run(parseStrictInSlices(encode(text))).result)).toBe(text);
        expect(run(equalInSlices(value, run(copyInSlices(value)).result)).result).toBe(true);
      }),
      { numRuns: 5 },
    );
  });

  test('they pause often', () => {
    const value = wide(10_000, 'v');
    for (const work of [copyInSlices(value), equalInSlices(value, wide(10_000, 'v')), stringifyInSlices(value), countInSlices(value, 1e9)])
      expect(run<unknown>(work).pauses).toBeGreaterThan(30);
    expect(run(parseStrictInSlices(encode(JSON.stringify(value)))).pauses).toBeGreaterThan(10);
  });

  test('one difference anywhere makes them unequal', () => {
    const value = { a: wide(2000, 'v'), b: repeat(2000, (i) => i) };
    expect(run(equalInSlices(value, { a: { ...(value.a as object), 'key-1999': 'w' }, b: value.b })).result).toBe(false);
    expect(run(equalInSlices(value, { a: { ...(value.a as object), more: 1 }, b: value.b })).result).toBe(false);
    expect(run(equalInSlices(value, { a: value.a, b: repeat(2001, (i) => i) })).result).toBe(false);
  });
});

const filler = `"filler":${JSON.stringify(wide(3000, 'v'))}`;

test('blanks are no more than blanks', () => {
  const text = `{"a":{${' '.repeat(20_000)}},"b":[${' '.repeat(20_000)}] , ${filler} } `;
  expect(run(parseStrictInSlices(encode(text))).result).toEqual(parseStrict(text));
});

describe('large texts that are not as they should be', () => {
  it.each([
    ['a comma too many', `{${filler},}`],
    ['two commas far apart', `{${filler},${' '.repeat(20_000)},"a":1}`],
    ['a comma too few', `{${filler} "a":1}`],
    ['a comma too few behind something large', `{"a":[{${filler}} 1]}`],
    ['no value', `{${filler},"a":}`],
    ['no name', `{${filler},1}`],
    ['text before something large in a list', `{"a":[1 {${filler}}]}`],
    ['a name before something large in a list', `{"a":["b":{${filler}}]}`],
    ['no name before something large', `{{${filler}}}`],
    ['a bracket of the other kind', `{${filler}]`],
    ['a bracket too many', `{${filler}}}`],
    ['a bracket too few', `{"a":{${filler}}`],
    ['something behind it', `{${filler}} x`],
    ['a text without end', `{${filler},"a":"b}`],
    ['a line break in a text', `{${filler},"a":"b\n"}`],
    ['a number that is none', `{${filler},"a":01}`],
    ['a number out of range', `{${filler},"a":1e999}`],
    ['too many levels', `{${filler},"a":${'['.repeat(1001)}${']'.repeat(1001)}}`],
  ])('%s: the same message', (_, text) => {
    const outcome = (work: () => unknown): string => {
      try {
        work();
        return 'read';
      } catch (error) {
        return (error as Error).message;
      }
    };
    const expected = outcome(() => parseStrict(text));
    expect(expected).not.toBe('read');
    expect(outcome(() => run(parseStrictInSlices(encode(text))))).toBe(expected);
  });

  it.each([
    ['small names', `{${filler},"a":1,"a":2}`],
    ['names inside', `{${filler},"a":{"b":{"c":1,"c":1}}}`],
    ['large values', `{${filler},${filler}}`],
    ['far apart', `{"a":1,${filler},"a":2}`],
    ['inside what is replaced', `{"x":{"a":1,"a":2},${filler},"x":{}}`],
    ['in lists', `[{${filler},"a":1,"a":{"b":1}},{"a":1,"a":1}]`],
  ])('repeated %s are found, and the last one counts', (_, text) => {
    const found: [string[], string[]] = [[], []];
    const expected = parseStrict(text, { onDuplicate: (path) => void found[0].push(path) });
    const { result } = run(parseStrictInSlices(encode(text), { onDuplicate: (path) => void found[1].push(path) }));
    expect(JSON.stringify(result)).toBe(JSON.stringify(expected));
    expect(found[1]).toEqual(found[0]);
    expect(found[0].length).toBeGreaterThan(0);
  });
});
