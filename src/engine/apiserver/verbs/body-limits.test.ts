import { describe, expect, it } from 'vitest';
import { countValues, measureJson, measureValue } from './body-limits.ts';
import { SLICED_VALUE_LIMIT, VALUE_LIMIT } from './value-limits.ts';

const bytes = (text: string): Uint8Array => Buffer.from(text);
const padding = ' '.repeat(20_000);

describe('measureJson', () => {
  it.each([
    { name: 'a long text is one value', text: JSON.stringify({ a: '{[,'.repeat(20_000) }), large: false },
    { name: 'a text of a tenth of a megabyte is large', text: JSON.stringify({ a: 'x'.repeat(100_000) }), large: true },
    { name: 'thousands of values are large', text: JSON.stringify(Array(3000).fill('some text')), large: true },
    { name: 'quotes and backslashes inside texts', text: JSON.stringify({ a: '\\"'.repeat(9000) }), large: true },
    { name: 'text that is no JSON is left to the parser', text: `}}}]]]"${padding}`, large: false },
  ])('$name', async ({ text, large }) => {
    expect(await measureJson(bytes(text), VALUE_LIMIT)).toBe(large);
  });

  it.each([
    { name: 'one value too many', text: `[${'0,'.repeat(VALUE_LIMIT)}0]`, message: /more than 10000 values/ },
    { name: 'depth, in objects', text: '{"a":'.repeat(5000), message: /invalid character '\{' exceeded max depth/ },
    { name: 'depth, in lists', text: `${padding}${'['.repeat(1001)}`, message: /invalid character '\[' exceeded max depth/ },
    { name: 'escapes without end', text: JSON.stringify({ a: '\u0001'.repeat(200_000) }), message: /values/ },
  ])('refuses $name', async ({ text, message }) => {
    await expect(measureJson(bytes(text), VALUE_LIMIT)).rejects.toThrow(message);
  });

  it('sees a text that is cut by a slice as one', async () => {
    const text = JSON.stringify({ a: `${'x'.repeat(128 * 1024 - 7)}\\",[[[[`, b: '['.repeat(2000) });
    expect(await measureJson(bytes(text), 10)).toBe(true);
  });
});

describe('countValues', () => {
  it('counts what is below, and stops behind the limit', () => {
    expect(countValues({ a: 1, b: [2, { c: 3 }] }, 100)).toBe(6);
    expect(countValues(Array(100_000).fill(0), 10)).toBeLessThan(20);
    expect(countValues(undefined, 10)).toBe(1);
  });
});

describe('measureValue', () => {
  it('looks only at what came in many bytes', () => {
    expect(measureValue(Array(50_000).fill(0), 100, VALUE_LIMIT)).toBe(false);
    expect(measureValue(Array(5000).fill(0), 50_000, VALUE_LIMIT)).toBe(true);
    expect(() => measureValue(Array(50_000).fill(0), 100_000, VALUE_LIMIT)).toThrow(/values/);
    expect(measureValue(Array(50_000).fill(0), 100_000, SLICED_VALUE_LIMIT)).toBe(true);
  });
});
