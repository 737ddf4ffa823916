import { describe, expect, it } from 'vitest';
import { formatFieldSelector, matchesFields, parseFieldSelector, requiresExactField } from './field-selector.ts';

describe('parseFieldSelector', () => {
  it.each([
    ['', ''],
    ['x=a,y=b,z=c', 'x=a,y=b,z=c'],
    ['y==b,x!=a', 'x!=a,y=b'],
    ['x=', 'x='],
    ['x=a\\,b\\=c\\\\', 'x=a\\,b\\=c\\\\'],
    [',,a=b,', 'a=b'],
  ])('%j', (text, printed) => expect(formatFieldSelector(parseFieldSelector(text))).toBe(printed));

  it('unescapes values', () => expect(parseFieldSelector('x=a\\,b\\=c')).toEqual([{ field: 'x', operator: '=', value: 'a,b=c' }]));

  it.each([
    ['x', "invalid selector: 'x'; can't understand 'x'"],
    ['a=b,x||y', "invalid selector: 'a=b,x||y'; can't understand 'x||y'"],
    ['x==a==b', 'invalid field selector: unescaped character in value: 61'],
    ['x=\\a', 'invalid field selector: invalid escape sequence: \\a'],
    ['x=a\\', 'invalid field selector: invalid escape sequence: \\'],
  ])('refuses %j', (text, message) => expect(() => parseFieldSelector(text)).toThrow(message));
});

it('matchesFields needs every term', () => {
  const fields: Record<string, string> = { a: '1', b: '' };
  const matches = (text: string): boolean => matchesFields(parseFieldSelector(text), (f) => fields[f] ?? '');
  expect([matches('a=1'), matches('a!=1'), matches('a=1,b='), matches('a=1,c!=x'), matches('a=1,c=x')]).toEqual([
    true,
    false,
    true,
    true,
    false,
  ]);
});

it('requiresExactField finds the value of an equality only', () => {
  const requirements = parseFieldSelector('metadata.name=x,a!=b');
  expect([requiresExactField(requirements, 'metadata.name'), requiresExactField(requirements, 'a')]).toEqual(['x', undefined]);
});
