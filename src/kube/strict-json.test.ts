import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { findDuplicateFields } from './json-scanner.ts';
import { JsonSyntaxError, parseStrict } from './strict-json.ts';

const duplicatesOf = (text: string): string[] => {
  const found: string[] = [];
  parseStrict(text, { onDuplicate: (path) => found.push(path) });
  return found;
};

describe('malformed JSON is refused in the words of Go', () => {
  it.each([
    ['', 'unexpected end of JSON input'],
    ['{', 'unexpected end of JSON input'],
    ['{"a":', 'unexpected end of JSON input'],
    ['"abc', 'unexpected end of JSON input'],
    ['tru', 'unexpected end of JSON input'],
    ['{"a":}', "invalid character '}' looking for beginning of value"],
    ['[1,]', "invalid character ']' looking for beginning of value"],
    ['{,}', "invalid character ',' looking for beginning of object key string"],
    ['{"a":1,}', "invalid character '}' looking for beginning of object key string"],
    ['{"a" 1}', "invalid character '1' after object key"],
    ['{"a":1 "b":2}', `invalid character '"' after object key:value pair`],
    ['[1 2]', "invalid character '2' after array element"],
    ['{} x', "invalid character 'x' after top-level value"],
    ['01', "invalid character '1' after top-level value"],
    ['-x', "invalid character 'x' in numeric literal"],
    ['1.e', "invalid character 'e' after decimal point in numeric literal"],
    ['1ex', "invalid character 'x' in exponent of numeric literal"],
    ['trux', "invalid character 'x' in literal true (expecting 'e')"],
    ['nil', "invalid character 'i' in literal null (expecting 'u')"],
    ['"a\nb"', "invalid character '\\n' in string literal"],
    ['"\\x"', "invalid character 'x' in string escape code"],
    ['"\\u12g4"', "invalid character 'g' in \\u hexadecimal character escape"],
    ["'a'", "invalid character '\\'' looking for beginning of value"],
    ['é', "invalid character 'Ã' looking for beginning of value"],
    ['\ufeff{}', "invalid character 'ï' looking for beginning of value"],
  ])('%j', (text, message) => {
    expect(() => parseStrict(text)).toThrow(JsonSyntaxError);
    expect(() => parseStrict(text)).toThrow(message);
  });
});

describe('duplicate fields', () => {
  it.each<[string, string[]]>([
    ['{"a":1,"b":{"a":2}}', []],
    ['{"a":1,"a":2}', ['a']],
    ['{"spec":{"replicas":1,"replicas":1,"replicas":3}}', ['spec.replicas']],
    ['{"spec":{"containers":[{"name":"a"},{"name":"a","name":"b"}]}}', ['spec.containers[1].name']],
    ['{"a":1,"\\u0061":2}', ['a']],
    ['{"a\\":{\\"":1,"b":"x:y","b":2}', ['b']],
    ['[{"a":1,"a":2}]', ['[0].a']],
  ])('%s', (text, paths) => expect(duplicatesOf(text)).toEqual(paths));

  it('the last value wins', () => expect(parseStrict('{"a":1,"a":2}')).toEqual({ a: 2 }));
});

describe('limits', () => {
  it('depth is refused where it is exceeded, and stays safe at a million', () => {
    expect(parseStrict('[[[]]]', { maxDepth: 3 })).toEqual([[[]]]);
    expect(() => parseStrict('[[[[]]]]', { maxDepth: 3 })).toThrow("invalid character '[' exceeded max depth");
    expect(() => parseStrict(`${'{"a":'.repeat(1e6)}1${'}'.repeat(1e6)}`)).toThrow("invalid character '{' exceeded max depth");
    expect(() => parseStrict('['.repeat(1e6))).toThrow("invalid character '[' exceeded max depth");
  });

  it('numbers beyond a float are refused', () => expect(() => parseStrict('{"a":1e999}')).toThrow('cannot unmarshal number'));

  it('__proto__ is a field like others', () => {
    const value = parseStrict('{"__proto__":{"polluted":true}}');
    expect(Object.keys(value)).toEqual(['__proto__']);
    expect(({} as Record<string, unknown>)['polluted']).toBeUndefined();
  });
});

it('reads bytes too', () => expect(parseStrict(new TextEncoder().encode('{"a":"é"}'))).toEqual({ a: 'é' }));

it('agrees with JSON.parse on every text', () => {
  fc.assert(
    fc.property(fc.jsonValue(), fc.nat(), fc.string({ maxLength: 2 }), (value, cut, junk) => {
      const whole = JSON.stringify(value, null, cut % 3);
      const at = cut % (whole.length + 1);
      for (const text of [whole, whole.slice(0, at), whole.slice(0, at) + junk + whole.slice(at)]) {
        let good = true;
        try {
          JSON.parse(text);
        } catch {
          good = false;
        }
        if (good) findDuplicateFields(text, 1000);
        else expect(() => findDuplicateFields(text, 1000)).toThrow(JsonSyntaxError);
      }
      const found: string[] = [];
      expect(parseStrict(whole, { onDuplicate: (p) => found.push(p) })).toEqual(JSON.parse(whole));
      expect(found).toEqual([]);
    }),
  );
});
