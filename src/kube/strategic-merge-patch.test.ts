import { describe, expect, it } from 'vitest';
import type { Schema } from './schema.ts';
import { applyStrategicMergePatch } from './strategic-merge-patch.ts';

const item: Schema = {
  type: 'object',
  properties: {
    name: { type: 'string' },
    value: { type: 'string' },
    other: { type: 'string' },
    merging: { type: 'array', items: { $ref: 'item' }, 'x-kubernetes-patch-strategy': 'merge', 'x-kubernetes-patch-merge-key': 'name' },
    set: { type: 'array', items: { type: 'string' }, 'x-kubernetes-patch-strategy': 'merge' },
    atomic: { type: 'array', items: { $ref: 'item' } },
    object: { allOf: [{ $ref: 'item' }] },
    replaced: { allOf: [{ $ref: 'item' }], 'x-kubernetes-patch-strategy': 'replace' },
    union: { allOf: [{ $ref: 'item' }], 'x-kubernetes-patch-strategy': 'retainKeys' },
    labels: { type: 'object', additionalProperties: { type: 'string' } },
  },
};
const resolve = (node: Schema): Schema => ((node.$ref ?? node.allOf?.[0].$ref) ? item : node);
const apply = (doc: object, patch: unknown): object => applyStrategicMergePatch(doc, patch, { $ref: 'item' }, resolve);

describe('applyStrategicMergePatch', () => {
  const cases: [string, object, object, object][] = [
    ['sets, changes and removes fields', { name: 'a', value: 'b' }, { value: 'c', other: 'd', name: null }, { value: 'c', other: 'd' }],
    [
      'merges objects',
      { object: { name: 'a', value: 'b' } },
      { object: { value: null, other: 'c' } },
      { object: { name: 'a', other: 'c' } },
    ],
    ['merges maps', { labels: { a: '1' } }, { labels: { b: '2', a: null } }, { labels: { b: '2' } }],
    ['replaces objects marked so', { replaced: { name: 'a' } }, { replaced: { value: 'b' } }, { replaced: { value: 'b' } }],
    ['replaces unmarked lists', { atomic: [{ name: 'a' }] }, { atomic: [{ name: 'b' }] }, { atomic: [{ name: 'b' }] }],
    [
      'merges lists by key, items of the patch first',
      { merging: [{ name: 'a', value: '1' }, { name: 'b' }] },
      { merging: [{ name: 'c' }, { name: 'a', other: 'x' }] },
      { merging: [{ name: 'c' }, { name: 'a', value: '1', other: 'x' }, { name: 'b' }] },
    ],
    [
      'deletes from lists by key',
      { merging: [{ name: 'a' }, { name: 'b' }] },
      { merging: [{ name: 'a', $patch: 'delete' }] },
      { merging: [{ name: 'b' }] },
    ],
    [
      'replaces a merged list on demand',
      { merging: [{ name: 'a' }] },
      { merging: [{ name: 'b' }, { $patch: 'replace' }] },
      { merging: [{ name: 'b' }] },
    ],
    ['replaces an object on demand', { object: { name: 'a' } }, { object: { $patch: 'replace', value: 'b' } }, { object: { value: 'b' } }],
    ['empties an object on demand', { object: { name: 'a' } }, { object: { $patch: 'delete' } }, { object: {} }],
    ['merges scalars as a set', { set: ['a', 'b'] }, { set: ['c', 'b'] }, { set: ['c', 'a', 'b'] }],
    ['deletes scalars', { set: ['a', 'b', 'c'] }, { '$deleteFromPrimitiveList/set': ['a', 'x'] }, { set: ['b', 'c'] }],
    ['orders scalars', { set: ['a', 'b'] }, { '$setElementOrder/set': ['c', 'a', 'b'], set: ['c'] }, { set: ['c', 'a', 'b'] }],
    [
      'orders items, keeping those of the server in place',
      { merging: [{ name: 'a' }, { name: 'server' }, { name: 'b' }] },
      { '$setElementOrder/merging': [{ name: 'b' }, { name: 'a' }], merging: [{ name: 'b', value: '1' }] },
      { merging: [{ name: 'server' }, { name: 'b', value: '1' }, { name: 'a' }] },
    ],
    ['orders without a list in the patch', { set: ['a', 'b'] }, { '$setElementOrder/set': ['b', 'a'] }, { set: ['b', 'a'] }],
    [
      'retains only the keys named',
      { union: { name: 'a', value: 'b' } },
      { union: { $retainKeys: ['other'], other: 'c' } },
      { union: { other: 'c' } },
    ],
    [
      'drops directives of what meets nothing',
      {},
      { merging: [{ name: 'a', $patch: 'delete' }, { name: 'b' }] },
      { merging: [{ name: 'b' }] },
    ],
    ['drops nulls of what meets nothing', {}, { object: { name: null, value: 'a' } }, { object: { value: 'a' } }],
    ['replaces what has another type', { object: { name: 'a' } }, { object: [] }, { object: [] }],
  ];
  it.each(cases)('%s', (_, doc, patch, expected) => {
    const before = JSON.stringify([doc, patch]);
    expect(apply(doc, patch)).toEqual(expected);
    expect(JSON.stringify([doc, patch])).toBe(before);
  });

  it.each<[string, object, unknown, number, string]>([
    [
      'a missing merge key',
      { merging: [{ name: 'a' }] },
      { merging: [{ value: 'x', other: 'y' }] },
      500,
      'map: map[other:y value:x] does not contain declared merge key: name',
    ],
    [
      'an order that the list does not follow',
      { merging: [{ name: 'a' }] },
      { '$setElementOrder/merging': [{ name: 'a' }, { name: 'b' }], merging: [{ name: 'b' }, { name: 'a' }] },
      500,
      "The order in patch list:\n[map[name:b] map[name:a]]\n doesn't match $setElementOrder list:\n[map[name:a] map[name:b]]\n",
    ],
    ['an unknown directive', { object: {} }, { object: { $patch: 'x' } }, 500, 'unknown patch type: x in map: map[$patch:x]'],
    [
      'fields beside $retainKeys',
      { union: {} },
      { union: { $retainKeys: ['other'], name: 'c' } },
      400,
      'invalid patch format of retainKeys',
    ],
    ['a malformed deletion', { set: ['a'] }, { $deleteFromPrimitiveList: ['a'] }, 400, 'invalid patch format of primitive list'],
    ['a malformed order', { set: ['a'] }, { $setElementOrder: ['a'] }, 400, 'invalid patch format of setElementOrder list'],
    ['lists of lists', { set: [['a']] }, { set: [['b']] }, 422, 'the server rejected our request due to an error in our request'],
    ['mixed items', { set: ['a'] }, { set: [1] }, 500, 'list element types are not identical: [[a] [1]]'],
    ['no object', {}, [], 400, 'json: cannot unmarshal array into Go value of type map[string]interface {}'],
  ])('refuses %s', (_, doc, patch, code, message) => {
    expect(() => apply(doc, patch)).toThrow(message);
    expect(() => apply(doc, patch)).toThrow(expect.objectContaining({ code }));
  });

  it('never reaches a prototype', () => {
    const result = apply({}, JSON.parse('{"__proto__":{"polluted":1},"labels":{"__proto__":"x"}}'));
    expect(Object.keys(result)).toEqual(['__proto__', 'labels']);
    expect(({} as Record<string, unknown>)['polluted']).toBeUndefined();
  });
});
