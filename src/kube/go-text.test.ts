import { describe, expect, it } from 'vitest';
import { byteLength, marshal, printNumber, printStrings, quote, quoteRune, unicodeNotation } from './go-text.ts';

describe('quote prints as Go %q', () => {
  it.each([
    ['plain', '"plain"'],
    ['a"b\\c', '"a\\"b\\\\c"'],
    ['tab\tnew\nbell\x07', '"tab\\tnew\\nbell\\a"'],
    ['\x01\x7f', '"\\x01\\x7f"'],
    ['māori', '"māori"'],
    ['\u00a0\u200b', '"\\u00a0\\u200b"'],
    ['\u{e0001}', '"\\U000e0001"'],
    ['\ud800', '"\\ufffd"'],
    ['<&>', '"<&>"'],
  ])('%j', (text, printed) => expect(quote(text)).toBe(printed));
});

describe('printNumber prints as Go %v', () => {
  it.each([
    [0, '0'],
    [-3, '-3'],
    [1.5, '1.5'],
    [0.0001, '0.0001'],
    [0.00001, '1e-05'],
    [1e21, '1e+21'],
    [1e20, '100000000000000000000'],
  ])('%d', (value, printed) => expect(printNumber(value)).toBe(printed));
});

it('runes, JSON and string lists print as Go does', () => {
  expect(quoteRune('}')).toBe("'}'");
  expect(quoteRune("'")).toBe("'\\''");
  expect(quoteRune('"')).toBe(`'"'`);
  expect(unicodeNotation('A')).toBe("U+0041 'A'");
  expect(unicodeNotation('\x07')).toBe('U+0007');
  expect(marshal({ a: '<b>&' })).toBe('{"a":"\\u003cb\\u003e\\u0026"}');
  expect(printStrings(['a', 'b'])).toBe('[]string{"a", "b"}');
});

it('byteLength counts UTF-8 bytes', () => {
  for (const text of ['', 'abc', 'é', '€', '😀', 'a\ud800', '\udc00b', 'x😀y€']) expect(byteLength(text)).toBe(Buffer.byteLength(text));
});
