import { describe, expect, test } from 'vitest';
import type { PropagationMode } from '../../../../api/hnc.x-k8s.io/v1alpha2/hnc-configuration.ts';
import { ConfigMap } from '../../../../client/kinds.ts';
import type { KubeObject, ObjectMeta } from '../../../../kube/object.ts';
import { copyOf } from './canonical-copy.ts';
import { decideCopy } from './decide-copy.ts';
import { objectsOf } from './objects-of-type.ts';
import { DEFAULT_PROPAGATION_SETTINGS } from './propagation-settings.ts';
import { treeOf, type TestNamespace } from '../../../../../test/support/namespace-tree.ts';

const map = (namespace: string, value: string, metadata: ObjectMeta = {}): KubeObject => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name: 'm', namespace, ...metadata },
  data: { value },
});
const copied = (source: KubeObject, namespace: string) => copyOf(source, namespace, undefined, DEFAULT_PROPAGATION_SETTINGS);
const NONE = { annotations: { 'propagate.hnc.x-k8s.io/none': 'true' } };
const LINE: Record<string, TestNamespace> = { a: {}, b: { parent: 'a' }, c: { parent: 'b' } };

/** What happens to `m` in `c`, and whose source is written. */
function decide(objects: KubeObject[], options: { mode?: PropagationMode; tree?: Record<string, TestNamespace> } = {}): string {
  const { mode = 'Propagate', tree = LINE } = options;
  const decision = decideCopy({ kind: ConfigMap, mode, objects: objectsOf(objects) }, treeOf(tree), DEFAULT_PROPAGATION_SETTINGS, 'c', 'm');
  return 'source' in decision ? `${decision.action} from ${decision.source.metadata.namespace}` : decision.action;
}

const top = map('a', '1');

describe('a name in a namespace', () => {
  test.each([
    ['without a source', [], 'nothing'],
    ['with a source above', [top], 'create from a'],
    ['with the right copy', [top, copied(top, 'c')], 'nothing'],
    ['with a copy that is behind', [top, copied(map('a', '0'), 'c')], 'update from a'],
    ['with a copy of another source', [top, copied(map('b', '1'), 'c')], 'update from a'],
    ['with a copy whose source is gone', [copied(top, 'c')], 'delete'],
    ['with two sources above: the topmost', [map('b', '2'), top], 'create from a'],
    ['with a topmost source that goes nowhere: the next', [map('a', '1', NONE), map('b', '2')], 'create from b'],
    ['with a copy between: the source above it', [top, copied(top, 'b')], 'create from a'],
    ["with only a copy between, which is nobody's source", [copied(top, 'b')], 'nothing'],
    ['with its own object and a source above', [top, map('c', '3')], 'update from a'],
    ['with its own object and a source above that goes nowhere', [map('a', '1', NONE), map('c', '3')], 'nothing'],
    [
      'with a copy that is on its way out',
      [top, { ...copied(map('a', '0'), 'c'), metadata: { ...copied(top, 'c').metadata, deletionTimestamp: 'x' } }],
      'nothing',
    ],
    ['with a source whose exceptions cannot be read', [map('a', '1', { annotations: { 'propagate.hnc.x-k8s.io/none': 'x' } })], 'nothing'],
  ])('%s', (_, objects, outcome) => {
    expect(decide(objects)).toBe(outcome);
  });
});

describe('a mode', () => {
  const behind = copied(map('a', '0'), 'c');
  test.each<[PropagationMode, KubeObject[], string]>([
    ['Remove', [top, behind], 'delete'],
    ['Remove', [top, map('c', '3')], 'nothing'],
    ['Ignore', [top, behind], 'nothing'],
    ['Ignore', [behind], 'nothing'],
    ['AllowPropagate', [top, behind], 'delete'],
    ['AllowPropagate', [map('a', '1', { annotations: { 'propagate.hnc.x-k8s.io/all': 'true' } })], 'create from a'],
  ])('%s', (mode, objects, outcome) => {
    expect(decide(objects, { mode })).toBe(outcome);
  });
});

describe('a place in the tree', () => {
  const behind = copied(map('a', '0'), 'c');
  test.each<[string, Record<string, TestNamespace>, string]>([
    ['not known yet', { a: {}, b: { parent: 'a' } }, 'nothing'],
    ['going', { ...LINE, c: { parent: 'b', terminating: true } }, 'nothing'],
    ['no longer below the source', { a: {}, b: {}, c: { parent: 'b' } }, 'delete'],
    ['below a namespace that is missing', { a: {}, c: { parent: 'b' } }, 'nothing'],
    ['below one whose parent is missing', { b: { parent: 'a' }, c: { parent: 'b' } }, 'nothing'],
    ['in a cycle', { a: { parent: 'c' }, b: { parent: 'a' }, c: { parent: 'b' } }, 'nothing'],
  ])('%s', (_, tree, outcome) => {
    expect(decide([top, behind], { tree })).toBe(outcome);
  });
});
