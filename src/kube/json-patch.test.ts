import { describe, expect, it } from 'vitest';
import { applyJsonPatch, decodeJsonPatch } from './json-patch.ts';
import { StatusError } from './status.ts';

const apply = (doc: unknown, ...operations: object[]): unknown => {
  const before = JSON.stringify(doc);
  const result: unknown = applyJsonPatch(doc, operations);
  expect(JSON.stringify(doc)).toBe(before);
  return result;
};

const refusal = (doc: unknown, ...operations: object[]): string => {
  try {
    apply(doc, ...operations);
  } catch (error) {
    expect((error as StatusError).status).toMatchObject({ code: 422, reason: 'Invalid', details: {} });
    expect((error as Error).message).toBe('the server rejected our request due to an error in our request');
    return ((error as Error).cause as Error).message;
  }
  return 'applied';
};

describe('applyJsonPatch', () => {
  const cases: [string, unknown, object[], unknown][] = [
    ['add a field', { a: 1 }, [{ op: 'add', path: '/b', value: { c: [] } }], { a: 1, b: { c: [] } }],
    ['add into a list', { l: [1, 3] }, [{ op: 'add', path: '/l/1', value: 2 }], { l: [1, 2, 3] }],
    ['append to a list', { l: [1] }, [{ op: 'add', path: '/l/-', value: 2 }], { l: [1, 2] }],
    ['add at the end by a negative index', { l: [1] }, [{ op: 'add', path: '/l/-1', value: 2 }], { l: [1, 2] }],
    ['add without a value adds null', {}, [{ op: 'add', path: '/a' }], { a: null }],
    [
      'escaped tokens',
      { 'a/b': 1, 'c~d': 2 },
      [
        { op: 'remove', path: '/a~1b' },
        { op: 'remove', path: '/c~0d' },
      ],
      {},
    ],
    ['remove from a list', { l: [1, 2] }, [{ op: 'remove', path: '/l/0' }], { l: [2] }],
    ['replace', { a: { b: 1 } }, [{ op: 'replace', path: '/a/b', value: 2 }], { a: { b: 2 } }],
    ['replace of a missing field sets it', {}, [{ op: 'replace', path: '/a', value: 2 }], { a: 2 }],
    ['replace of the root', { a: 1 }, [{ op: 'replace', path: '', value: { b: 1 } }], { b: 1 }],
    ['move', { a: { b: 1 }, c: {} }, [{ op: 'move', from: '/a/b', path: '/c/d' }], { a: {}, c: { d: 1 } }],
    [
      'copy is independent',
      { a: { b: 1 } },
      [
        { op: 'copy', from: '/a', path: '/c' },
        { op: 'add', path: '/c/b', value: 2 },
      ],
      { a: { b: 1 }, c: { b: 2 } },
    ],
    ['test passes', { a: { b: [1] } }, [{ op: 'test', path: '/a', value: { b: [1] } }], { a: { b: [1] } }],
    ['test of a missing field for null passes', {}, [{ op: 'test', path: '/a', value: null }], {}],
    ['a field named with an empty key', { '': 1 }, [{ op: 'remove', path: '/' }], {}],
  ];
  it.each(cases)('%s', (_, doc, operations, expected) => expect(apply(doc, ...operations)).toEqual(expected));

  it.each<[string, object[], string]>([
    [
      'a missing parent',
      [{ op: 'add', path: '/x/y', value: 1 }],
      'add operation does not apply: doc is missing path: "/x/y": missing value',
    ],
    [
      'a scalar parent',
      [{ op: 'add', path: '/a/y', value: 1 }],
      'add operation does not apply: doc is missing path: "/a/y": missing value',
    ],
    [
      'a pointer without a slash',
      [{ op: 'remove', path: 'a' }],
      'remove operation does not apply: doc is missing path: "a": missing value',
    ],
    ['removing what is not there', [{ op: 'remove', path: '/x' }], 'Unable to remove nonexistent key: x: missing value'],
    ['an index out of range', [{ op: 'add', path: '/l/3', value: 1 }], 'Unable to access invalid index: 3: invalid index referenced'],
    ['a word as index', [{ op: 'remove', path: '/l/x' }], 'strconv.Atoi: parsing "x": invalid syntax'],
    ['a failed test', [{ op: 'test', path: '/a', value: 2 }], 'testing value /a failed: test failed'],
    ['no path', [{ op: 'add', value: 1 }], 'add operation failed to decode path: missing value'],
    ['an unknown operation', [{ op: 'merge', path: '/a' }], 'Unexpected kind: merge'],
    ['no operation', [{ path: '/a' }], 'Unexpected kind: unknown'],
    [
      'an inherited field as parent',
      [{ op: 'add', path: '/__proto__/polluted', value: 1 }],
      'add operation does not apply: doc is missing path: "/__proto__/polluted": missing value',
    ],
  ])('refuses %s', (_, operations, cause) => expect(refusal({ a: 1, l: [1] }, ...operations)).toBe(cause));

  it('copies at most 3 MiB', () => {
    const doubling = Array.from({ length: 30 }, () => ({ op: 'copy', from: '/a', path: '/a/-' }));
    expect(refusal({ a: ['x'.repeat(1000)] }, ...doubling)).toMatch(
      /^Unable to complete the copy, the accumulated size increase of copy is \d+, exceeding the limit 3145728$/,
    );
  });

  it('leaves the patch as it was, so that it can be tried again', () => {
    const operations = [
      { op: 'add', path: '/a', value: {} },
      { op: 'add', path: '/a/b', value: 1 },
    ];
    apply({}, ...operations);
    expect(operations[0]).toEqual({ op: 'add', path: '/a', value: {} });
  });

  it('sets __proto__ as a field', () => {
    const result = apply({}, { op: 'add', path: '/__proto__', value: { polluted: 1 } }) as object;
    expect(Object.keys(result)).toEqual(['__proto__']);
    expect(({} as Record<string, unknown>)['polluted']).toBeUndefined();
  });
});

describe('decodeJsonPatch', () => {
  it.each<[unknown, string]>([
    [{}, 'json: cannot unmarshal object into Go value of type jsonpatch.Patch'],
    ['x', 'json: cannot unmarshal string into Go value of type jsonpatch.Patch'],
    [[1], 'json: cannot unmarshal number into Go value of type jsonpatch.Operation'],
  ])('refuses %j', (body, message) => expect(() => decodeJsonPatch(body)).toThrow(message));

  it('limits the number of operations', () => {
    const operations = Array.from({ length: 10_001 }, () => ({}));
    expect(() => decodeJsonPatch(operations)).toThrow(
      'Request entity too large: The allowed maximum operations in a JSON patch is 10000, got 10001',
    );
  });

  it('reports unknown fields', () => {
    const found: string[] = [];
    decodeJsonPatch([{ op: 'add' }, { foo: 1 }], (m) => found.push(m));
    expect(found).toEqual(['json patch unknown field "[1].foo"']);
  });
});
