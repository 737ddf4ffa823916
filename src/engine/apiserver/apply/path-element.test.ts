import { describe, expect, it } from 'vitest';
import { canonicalElement, compareElements, keyElement, printElement, valueElement } from './path-element.ts';

it('steps are written as FieldsV1 does', () => {
  expect(
    keyElement([
      ['containerPort', 80],
      ['protocol', 'TCP'],
    ]),
  ).toBe('k:{"containerPort":80,"protocol":"TCP"}');
  expect([valueElement('a'), valueElement(1), valueElement(true), valueElement('<"')]).toEqual([
    'v:"a"',
    'v:1',
    'v:true',
    'v:"\\u003c\\""',
  ]);
});

describe('printElement', () => {
  it.each([
    ['f:image', '.image'],
    ['k:{"name":"web"}', '[name="web"]'],
    ['k:{"containerPort":80,"protocol":"TCP"}', '[containerPort=80,protocol="TCP"]'],
    ['v:"a/b"', '[="a/b"]'],
    ['i:3', '[3]'],
  ])('%s', (element, text) => expect(printElement(element)).toBe(text));
});

it('compareElements orders fields, keys, values and indexes, numbers by size', () => {
  const ordered = [
    'f:a',
    'f:b',
    'k:{"containerPort":80,"protocol":"TCP"}',
    'k:{"containerPort":443,"protocol":"TCP"}',
    'k:{"containerPort":443,"protocol":"UDP"}',
    'k:{"name":"a"}',
    'k:{"name":"a b"}',
    'k:{"name":"ab"}',
    'v:9',
    'v:10',
    'v:"a"',
    'i:9',
    'i:10',
  ];
  expect([...ordered].reverse().sort(compareElements)).toEqual(ordered);
});

describe('canonicalElement', () => {
  it.each([
    ['f:a.b/c', 'f:a.b/c'],
    ['k:{"protocol":"TCP", "containerPort":80}', 'k:{"containerPort":80,"protocol":"TCP"}'],
    ['v: "a"', 'v:"a"'],
    ['i:+1', 'i:1'],
    ['x:future', undefined],
  ])('%s', (text, element) => expect(canonicalElement(text)).toBe(element));

  it.each(['', 'f', 'name', '__proto__', 'k:[1]', 'k:{', 'v:', 'i:x'])('refuses %j', (text) =>
    expect(() => canonicalElement(text)).toThrow(),
  );
});
