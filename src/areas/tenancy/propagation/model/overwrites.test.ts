import { describe, expect, test } from 'vitest';
import type { PropagationMode } from '../../../../api/hnc.x-k8s.io/v1alpha2/hnc-configuration.ts';
import { ConfigMap } from '../../../../client/kinds.ts';
import type { KubeObject } from '../../../../kube/object.ts';
import { copyOf } from './canonical-copy.ts';
import { objectsOf } from './objects-of-type.ts';
import { overwrittenBy, overwrittenByMove, overwrittenInTree, type Overwrite } from './overwrites.ts';
import { DEFAULT_PROPAGATION_SETTINGS } from './propagation-settings.ts';
import { treeOf } from '../../../../../test/support/namespace-tree.ts';

const map = (namespace: string, name: string, annotations: Record<string, string> = {}): KubeObject => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { namespace, name, annotations },
});
const select = (text: string) => ({ 'propagate.hnc.x-k8s.io/select': text });
const treeSelect = (text: string) => ({ 'propagate.hnc.x-k8s.io/treeSelect': text });
const tree = treeOf({
  a: {},
  b: { parent: 'a', labels: { env: 'test' } },
  c: { parent: 'b' },
  d: { parent: 'a' },
  e: {},
  f: { parent: 'e' },
});
const type = (objects: KubeObject[], mode: PropagationMode = 'Propagate') => ({ kind: ConfigMap, mode, objects: objectsOf(objects) });
const print = (found: Overwrite[]) =>
  found.map(({ object, by }) => `${by.metadata.namespace}/${by.metadata.name} > ${object.metadata.namespace}`);

describe('a source would overwrite', () => {
  const own = [map('c', 'm'), map('b', 'm'), map('d', 'm'), map('f', 'm'), map('d', 'n')];
  test.each([
    ['the objects of its name below it', map('a', 'm'), ['b', 'c', 'd']],
    ['only where it goes, by the labels of each namespace', map('a', 'm', select('env=test')), ['b']],
    ['only where it goes, by the tree', map('a', 'm', treeSelect('!b')), ['d']],
    ['nothing above or beside it', map('c', 'm'), []],
    ['nothing when it goes nowhere', map('a', 'm', { 'propagate.hnc.x-k8s.io/none': 'true' }), []],
  ])('%s', (_, source, overwritten) => {
    expect(overwrittenBy(source, type([...own, source]), tree, DEFAULT_PROPAGATION_SETTINGS)).toEqual(overwritten);
  });

  test('of a name that is everywhere, those below it', () => {
    const everywhere = Array.from({ length: 100 }, (_, i) => map(`elsewhere-${i}`, 'm'));
    const objects = [...everywhere, ...own];
    expect(overwrittenBy(map('a', 'm'), type(objects), tree, DEFAULT_PROPAGATION_SETTINGS)).toEqual(['b', 'c', 'd']);
    expect(overwrittenBy(map('a', 'm', select('env=test')), type(objects), tree, DEFAULT_PROPAGATION_SETTINGS)).toEqual(['b']);
  });

  test('no copies', () => {
    const copy = copyOf(map('b', 'm'), 'c', undefined, DEFAULT_PROPAGATION_SETTINGS);
    expect(overwrittenBy(map('a', 'm'), type([copy]), tree, DEFAULT_PROPAGATION_SETTINGS)).toEqual([]);
  });
});

describe('a move would overwrite', () => {
  test.each([
    ['objects of the namespace and below', [map('f', 'm'), map('b', 'm'), map('c', 'm')], ['f/m > b', 'f/m > c']],
    ['also those from further above', [map('e', 'm'), map('c', 'm')], ['e/m > c']],
    ['only where the source goes', [map('f', 'm', select('env=test')), map('b', 'm'), map('c', 'm')], ['f/m > b']],
    ['by the tree as it would be', [map('f', 'm', treeSelect('f, !c')), map('b', 'm'), map('c', 'm')], ['f/m > b']],
    ['not by the tree as it is', [map('f', 'm', treeSelect('a')), map('b', 'm')], []],
    ['nothing of other names', [map('f', 'm'), map('b', 'n')], []],
  ])('%s', (_, objects, overwritten) => {
    expect(print(overwrittenByMove('b', 'f', type(objects), tree, DEFAULT_PROPAGATION_SETTINGS))).toEqual(overwritten);
  });
});

test('a type that starts to be propagated, would overwrite every object below one of its name that goes there', () => {
  const objects = [
    map('a', 'm'),
    map('b', 'm'),
    map('c', 'm'),
    map('d', 'n'),
    map('e', 'o', { 'propagate.hnc.x-k8s.io/all': 'true' }),
    map('f', 'o'),
  ];
  const found = (mode: PropagationMode) => print(overwrittenInTree(type(objects, mode), tree.names(), tree, DEFAULT_PROPAGATION_SETTINGS));
  expect(found('Propagate')).toEqual(['a/m > b', 'a/m > c', 'b/m > c', 'e/o > f']);
  expect(found('AllowPropagate')).toEqual(['e/o > f']);
});
