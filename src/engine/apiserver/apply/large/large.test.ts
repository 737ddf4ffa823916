import { describe, expect, it } from 'vitest';
import { deepFreeze } from '../../../../kube/json-value.ts';
import type { Json } from '../../../../kube/object.ts';
import type { Schema } from '../../../../kube/schema.ts';
import { typeFindings, typeFindingsInSlices } from '../configuration-check.ts';
import * as differences from '../field-difference.ts';
import * as sets from '../field-set.ts';
import type { FieldSet } from '../field-set.ts';
import { mergeValues } from '../merge-values.ts';
import * as owned from '../owned-fields.ts';
import { removeFields } from '../remove-fields.ts';
import { typeOfSchema } from '../value-type.ts';
import * as largeDifferences from './differences.ts';
import * as largeSets from './field-sets.ts';
import * as largeOwned from './owned-fields.ts';
import * as largeValues from './values.ts';

/** What works with pauses must do exactly what works at once. */
function run<T>(work: Generator<void, T, void>): T {
  for (;;) {
    const step = work.next();
    if (step.done) return step.value;
  }
}

const text = { type: 'string' };
const schema: Schema = {
  type: 'object',
  properties: {
    data: { type: 'object', additionalProperties: text },
    env: {
      type: 'array',
      items: { type: 'object', properties: { name: text, value: text, extra: { type: 'object', additionalProperties: text } } },
      'x-kubernetes-list-type': 'map',
      'x-kubernetes-list-map-keys': ['name'],
    },
    names: { type: 'array', items: text, 'x-kubernetes-list-type': 'set' },
    whole: { type: 'object', additionalProperties: text, 'x-kubernetes-map-type': 'atomic' },
    free: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
    nested: { type: 'object', properties: { a: text, deep: { type: 'object', additionalProperties: { type: 'object' } } } },
  },
};
const type = typeOfSchema(schema, (node) => node);

const repeat = <T>(count: number, make: (i: number) => T): T[] => Array.from({ length: count }, (_, i) => make(i));
const wide = (count: number, make: (i: number) => Json, from = 0): Json =>
  Object.fromEntries(repeat(count, (i) => [`k${(i * 7919) % 10_007}x${from + i}`, make(i)]));

function object(seed: number): Json {
  return deepFreeze({
    data: wide(700, (i) => `v${i % (seed + 1)}`, seed),
    env: repeat(400, (i) => ({ name: `n${(i * 31 + seed) % 401}`, value: `v${i % 3}`, extra: i === 5 ? wide(400, () => `e${seed}`) : {} })),
    names: repeat(500, (i) => `name "${(i * 17 + seed * 3) % 499}"`),
    whole: wide(300, () => `w${seed}`),
    free: { a: wide(300, (i) => (i % 2 ? [seed] : { b: i })), list: repeat(400, (i) => ({ i })), b: seed % 2 ? { c: 1 } : 'text' },
    nested: seed % 3 ? { a: 'x', deep: wide(300, (i) => ({ [`f${i % 5}`]: i, g: { h: seed } })) } : null,
    ...(seed % 2 ? { missing: wide(300, () => 'gone') } : {}),
  });
}

const objects = [0, 1, 2, 3].map(object);
const pairs = objects.flatMap((a) => [...objects, {}, { data: {}, names: ['a'], nested: { deep: {} } }].map((b) => [a, b] as [Json, Json]));
const ignored = { whole: true, nested: { a: true } } as const;

/** Also the order of fields counts: it is what is stored. */
const exactly = (value: unknown): string => JSON.stringify(value) ?? 'undefined';

describe('large objects, with pauses', () => {
  it.each(pairs.map((pair, i) => [i, ...pair] as const))('pair %i: the same differences, merges and removals', (_, a, b) => {
    for (const [before, after] of [
      [a, b],
      [b, a],
    ]) {
      for (const left of [undefined, ignored])
        expect(exactly(run(largeDifferences.difference(type, before, after, left)))).toBe(
          exactly(differences.difference(type, before, after, left)),
        );
      const merged: Json = mergeValues(type, before, after);
      expect(exactly(run(largeValues.mergeValues(type, before, after)))).toBe(exactly(merged));
      const fields = owned.statedFields(type, after);
      expect(exactly(run(largeOwned.statedFields(type, after)))).toBe(exactly(fields));
      expect(exactly(run(largeOwned.statedFields(type, after, ignored)))).toBe(exactly(owned.statedFields(type, after, ignored)));
      expect(exactly(run(largeOwned.withNamedFields(fields, type)))).toBe(exactly(owned.withNamedFields(fields, type)));
      expect(exactly(run(largeValues.removeFields(type, before, fields)))).toBe(exactly(removeFields(type, before, fields)));
      expect(run(typeFindingsInSlices(type, after))).toEqual(typeFindings(type, after));
    }
  });

  const fieldSets: FieldSet[] = [
    ...objects.slice(0, 2).map((value) => owned.statedFields(type, value)!),
    ...pairs.slice(1, 3).flatMap(([a, b]) => Object.values(differences.difference(type, a, b)) as FieldSet[]),
    { 'f:data': sets.LEAF },
    { 'f:data': { '.': sets.LEAF, 'f:a': sets.LEAF } },
  ];

  it('the same operations on sets of fields', () => {
    for (const a of fieldSets) {
      expect(exactly(run(largeSets.readFieldSet(a)))).toBe(exactly(sets.readFieldSet(a)));
      for (const b of fieldSets) {
        expect(exactly(run(largeSets.union(a, b)))).toBe(exactly(sets.union(a, b)));
        expect(exactly(run(largeSets.difference(a, b)))).toBe(exactly(sets.difference(a, b)));
        expect(exactly(run(largeSets.intersection(a, b)))).toBe(exactly(sets.intersection(a, b)));
        expect(run(largeSets.covers(a, b))).toBe(sets.covers(a, b));
        expect(run(largeSets.intersects(a, b))).toBe(sets.intersects(a, b));
      }
    }
  });

  it('findings of a configuration that fits no type are the same', () => {
    const bad = {
      data: wide(400, (i) => (i === 300 ? 5 : 'x')),
      env: [...repeat(400, (i) => ({ name: `${i % 399}` })), {}],
      nested: { z: 1 },
    };
    expect(typeFindings(type, bad).length).toBeGreaterThan(2);
    expect(run(typeFindingsInSlices(type, bad))).toEqual(typeFindings(type, bad));
  });
});
