import { describe, expect, it } from 'vitest';
import { applyMergePatch } from './merge-patch.ts';

/** The examples of RFC 7396, appendix A, whose documents are objects. */
const RFC: [object, object, object][] = [
  [{ a: 'b' }, { a: 'c' }, { a: 'c' }],
  [{ a: 'b' }, { b: 'c' }, { a: 'b', b: 'c' }],
  [{ a: 'b' }, { a: null }, {}],
  [{ a: 'b', b: 'c' }, { a: null }, { b: 'c' }],
  [{ a: ['b'] }, { a: 'c' }, { a: 'c' }],
  [{ a: 'c' }, { a: ['b'] }, { a: ['b'] }],
  [{ a: { b: 'c' } }, { a: { b: 'd', c: null } }, { a: { b: 'd' } }],
  [{ a: [{ b: 'c' }] }, { a: [1] }, { a: [1] }],
  [{ e: null }, { a: 1 }, { e: null, a: 1 }],
  [{}, { a: { bb: { ccc: null } } }, { a: { bb: {} } }],
  [{ a: null }, { a: { b: null, c: 1 } }, { a: { c: 1 } }],
  [{}, { a: [{ b: null }, null] }, { a: [{}, null] }],
];

describe('applyMergePatch', () => {
  it.each(RFC)('%j merged with %j', (doc, patch, expected) => {
    const before = JSON.stringify([doc, patch]);
    expect(applyMergePatch(doc, patch)).toEqual(expected);
    expect(JSON.stringify([doc, patch])).toBe(before);
  });

  it('the result shares nothing with the object or the patch', () => {
    const [doc, patch] = [{ a: { b: [1] } }, { c: { d: [2] } }];
    const result = applyMergePatch(doc, patch);
    expect([result.a === doc.a, result.a.b === doc.a.b, result.c === patch.c]).toEqual([false, false, false]);
  });

  it.each([[null], [[]], ['x'], [1]])('refuses %j', (patch) => expect(() => applyMergePatch({}, patch)).toThrow('Invalid JSON Patch'));

  it('never reaches a prototype', () => {
    const patch = JSON.parse('{"__proto__":{"polluted":1},"constructor":{"prototype":{"polluted":1}}}') as object;
    const result = applyMergePatch({}, patch);
    expect(Object.keys(result)).toEqual(['__proto__', 'constructor']);
    expect(({} as Record<string, unknown>)['polluted']).toBeUndefined();
  });
});
