import { describe, expect, it } from 'vitest';
import { parseYamlText } from './yaml-body.ts';

describe('parseYamlText', () => {
  it('finds nothing in a document without repeated keys', () => {
    expect(parseYamlText('a: 1\nb: {a: 1}\nc: [{a: 1}, {a: 2}]')).toEqual({
      value: { a: 1, b: { a: 1 }, c: [{ a: 1 }, { a: 2 }] },
      duplicates: [],
    });
  });

  it('names the lines of repeated keys and keeps their last values', () => {
    expect(parseYamlText('a:\n  b: 1\n  b: 2\nc: 1\nc:\n  d: 1')).toEqual({
      value: { a: { b: 2 }, c: { d: 1 } },
      duplicates: ['yaml: unmarshal errors:\n  line 3: key "b" already set in map\n  line 6: key "c" already set in map'],
    });
  });

  it('refuses what is not YAML', () => {
    expect(() => parseYamlText('a: [1')).toThrow('error converting YAML to JSON: ');
  });

  it('refuses aliases that multiply', () => {
    const bomb = [
      'a: &a [x,x,x,x,x,x,x,x,x,x]',
      ...'bcdefghi'.split('').map((name, at) => `${name}: &${name} [${Array(10).fill(`*${'abcdefgh'[at]}`).join(',')}]`),
    ];
    expect(() => parseYamlText(bomb.join('\n'))).toThrow('Excessive alias count');
  });
});
