import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { covers, difference, forEachPath, intersection, intersects, readFieldSet, union, type FieldSet } from './field-set.ts';

const paths = (set: FieldSet | undefined): string[] => {
  const found: string[] = [];
  forEachPath(set, (path) => found.push(path.join(' ')));
  return found.sort();
};

/** A set from paths, made the slow and obvious way. */
const setOf = (members: string[][]): FieldSet | undefined => {
  const root: Record<string, object> = {};
  for (const path of members) {
    let level = root as Record<string, Record<string, object>>;
    path.forEach((element, i) => {
      level = (level[element] ??= {}) as Record<string, Record<string, object>>;
      if (i === path.length - 1) level['.'] = {};
    });
  }
  return readFieldSet(root);
};

const element = fc.constantFrom('f:a', 'f:b', 'k:{"name":"x"}', 'v:1', 'f:c');
const aSet = fc.array(fc.array(element, { minLength: 1, maxLength: 3 }), { maxLength: 8 }).map(setOf);

describe('sets behave as sets of paths', () => {
  it('for all operations', () => {
    fc.assert(
      fc.property(aSet, aSet, (a, b) => {
        const [inA, inB] = [paths(a), paths(b)];
        expect(paths(union(a, b))).toEqual([...new Set([...inA, ...inB])].sort());
        expect(paths(difference(a, b))).toEqual(inA.filter((path) => !inB.includes(path)));
        expect(paths(intersection(a, b))).toEqual(inA.filter((path) => inB.includes(path)));
        expect(intersects(a ?? {}, b ?? {})).toBe(inA.some((path) => inB.includes(path)));
        expect(covers(a ?? {}, b ?? {})).toBe(inB.every((path) => inA.includes(path)));
      }),
    );
  });

  it('keep their canonical form', () => {
    fc.assert(
      fc.property(aSet, aSet, (a, b) => {
        for (const set of [union(a, b), difference(a, b), intersection(a, b)]) {
          expect(JSON.stringify(set)).toBe(JSON.stringify(set && readFieldSet(set)));
        }
      }),
    );
  });
});

describe('readFieldSet', () => {
  it('orders steps and drops what it does not know', () => {
    const read = readFieldSet({ 'v:1': {}, 'f:b': { 'f:d': {}, 'f:c': {}, '.': {} }, 'x:y': {}, 'f:a': {} });
    expect(JSON.stringify(read)).toBe('{"f:a":{},"f:b":{".":{},"f:c":{},"f:d":{}},"v:1":{}}');
  });

  it('an empty set is none', () => expect([readFieldSet({}), readFieldSet({ '.': {} })]).toEqual([undefined, undefined]));

  it.each([[null], ['x'], [[]], [{ 'f:a': 1 }], [{ nonsense: {} }]])('refuses %j', (value) => expect(() => readFieldSet(value)).toThrow());

  it('refuses bottomless sets', () => {
    const bottomless: unknown = JSON.parse(`${'{"f:a":'.repeat(2000)}{}${'}'.repeat(2000)}`);
    expect(() => readFieldSet(bottomless)).toThrow('nests too deeply');
  });
});
