import { describe, expect, it } from 'vitest';
import type { Json } from '../../../kube/object.ts';
import type { Schema } from '../../../kube/schema.ts';
import { SchemaNode } from '../schema/schema-node.ts';
import { Pace, runToEnd } from '../schema/slices.ts';
import { checkRules, RuleNode } from './rule-validation.ts';

function rulesOf(...rules: string[]): RuleNode {
  const spec: Schema = {
    type: 'object',
    properties: { a: { type: 'integer' } },
    'x-kubernetes-validations': rules.map((rule) => ({ rule })),
  };
  return new RuleNode(new SchemaNode({ type: 'object', properties: { spec } }), true);
}

function check(root: RuleNode, object: Json, old?: Json) {
  return runToEnd(checkRules(root, object, { old, pace: new Pace() }));
}

/** What is written again with a status is not asked about again: that is most of what a controller writes. */
describe('checkRules on a spec that stays', () => {
  it('costs the same and asks no rule again once it was created', () => {
    const root = rulesOf('self.a > 0');
    const object = { spec: { a: 1 } };
    const created = check(root, object);
    expect(root.property('spec')!.costOfUnbroken(object.spec)).toBeGreaterThan(0);
    expect(check(root, { spec: object.spec, status: {} }, object)).toEqual(created);
  });

  it('asks a rule that looks back the first time there is something to look at', () => {
    const root = rulesOf('self.a > 0', 'self.a > oldSelf.a');
    const object = { spec: { a: 1 } };
    expect(check(root, object).found).toEqual([]);
    expect(root.property('spec')!.costOfUnbroken(object.spec)).toBeUndefined();
    expect(check(root, { spec: object.spec }, object).found).toHaveLength(1);
  });

  it('asks again when a rule was broken', () => {
    const root = rulesOf('self.a > 0');
    const object = { spec: { a: 0 } };
    expect(check(root, object).found).toHaveLength(1);
    expect(root.property('spec')!.costOfUnbroken(object.spec)).toBeUndefined();
  });
});
