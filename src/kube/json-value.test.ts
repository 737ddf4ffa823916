import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { deepCopy, deepEqual, deepFreeze, getField, semanticEqual, setField } from './json-value.ts';

const proto = (): Record<string, unknown> => JSON.parse('{"__proto__":{"polluted":1},"a":[1,{"b":null}]}') as Record<string, unknown>;

describe('deepCopy', () => {
  it('copies everything and shares nothing', () => {
    const value = { a: [1, { b: 'c' }], d: null };
    const copy = deepCopy(value);
    expect(copy).toEqual(value);
    expect(copy.a).not.toBe(value.a);
    expect(copy.a[1]).not.toBe(value.a[1]);
  });

  it('keeps __proto__ as a field', () => {
    const copy = deepCopy(proto());
    expect(Object.keys(copy)).toEqual(['__proto__', 'a']);
    expect(Object.getPrototypeOf(copy)).toBe(Object.prototype);
  });
});

it('deepFreeze freezes what is inside and accepts what is frozen', () => {
  const value = deepFreeze({ a: [{ b: 1 }] });
  expect([Object.isFrozen(value), Object.isFrozen(value.a), Object.isFrozen(value.a[0])]).toEqual([true, true, true]);
  expect(deepFreeze(value)).toBe(value);
});

describe('deepEqual', () => {
  it('agrees with the text of the values', () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.jsonValue(), (a, b) => {
        expect(deepEqual(a, deepCopy(a))).toBe(true);
        if (JSON.stringify(a) !== JSON.stringify(b) && JSON.stringify(a).length !== JSON.stringify(b).length) {
          expect(deepEqual(JSON.parse(JSON.stringify(a)), JSON.parse(JSON.stringify(b)))).toBe(false);
        }
      }),
    );
  });

  it.each([
    [{ a: 1, b: 2 }, { b: 2, a: 1 }, true],
    [{ a: 1 }, { a: 1, b: 2 }, false],
    [{ a: undefined }, { b: undefined }, false],
    [[], {}, false],
    [{}, [], false],
    [null, {}, false],
    [{ a: {} }, { a: null }, false],
  ])('%j and %j', (a, b, equal) => expect(deepEqual(a, b)).toBe(equal));
});

describe('semanticEqual', () => {
  it.each([
    [{ a: [] }, {}, true],
    [{}, { a: {} }, false],
    [{ a: null }, { a: [] }, true],
    [{ a: { b: [] } }, { a: {} }, true],
    [{ a: '' }, {}, false],
    [{ a: 0 }, {}, false],
    [[1, { x: [] }], [1, {}], true],
    [[1], [1, 1], false],
    [{ a: [1] }, { a: {} }, false],
  ])('%j and %j', (a, b, equal) => {
    expect(semanticEqual(a, b)).toBe(equal);
    expect(semanticEqual(b, a)).toBe(equal);
  });
});

it('fields are own fields', () => {
  const target = {};
  setField(target, '__proto__', { polluted: 1 });
  expect(({} as Record<string, unknown>)['polluted']).toBeUndefined();
  expect([getField(target, '__proto__'), getField(target, 'constructor')]).toEqual([{ polluted: 1 }, undefined]);
});
