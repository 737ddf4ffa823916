import { expect, test } from 'vitest';
import { Forest } from '../../forest/forest.ts';
import { moveChecks, whyNotParent } from './move-checks.ts';

/** root1 { a { a1, a2 } }, root2 { b }, orphan of `gone`, a cycle x <-> y. */
function forest(): Forest {
  const parents = { root1: '', a: 'root1', a1: 'a', a2: 'a', root2: '', b: 'root2', orphan: 'gone', x: 'y', y: 'x' };
  const made = new Forest();
  for (const [name, parent] of Object.entries(parents)) {
    made.setNamespace(name, { uid: name, labels: {}, annotations: {}, terminating: false });
    made.setHierarchy(name, { parent, allowCascadingDeletion: false, labels: [], annotations: [], terminating: false });
  }
  return made;
}

const authorized = (namespace: string, reason: string) => ({ kind: 'authorized', namespace, reason });
const common = (from: string, to: string) => `most recent common ancestor of current parent "${from}" and proposed parent "${to}"`;

test.each<[string, string | undefined, string | undefined, object[]]>([
  ['nowhere', 'a', 'a', []],
  ['a root into a tree', undefined, 'b', [authorized('b', 'proposed parent')]],
  ['out of a tree', 'a', undefined, [authorized('root1', 'current root ancestor')]],
  ['into another tree', 'a', 'b', [authorized('root1', 'current root ancestor'), authorized('b', 'proposed parent')]],
  ['to a sibling', 'a1', 'a2', [authorized('a', common('a1', 'a2'))]],
  ['up its own tree', 'a1', 'root1', [authorized('root1', common('a1', 'root1'))]],
  ['down its own tree', 'a', 'a1', [authorized('a', common('a', 'a1'))]],
  ['an orphan', 'gone', 'b', [{ kind: 'missing', namespace: 'gone' }]],
  ['away from an unmanaged parent', 'default', 'b', [authorized('b', 'proposed parent')]],
  ['away from an unmanaged parent to none', 'default', undefined, []],
])('a move %s, asks the API server as HNC does', (_, current, proposed, checks) => {
  expect(moveChecks(forest(), current, proposed)).toEqual(checks);
});

test('whyNotParent, names the way round, also where a cycle is already', () => {
  expect(whyNotParent(forest(), 'a', 'a')).toBe('"a" cannot be set as its own parent');
  expect(whyNotParent(forest(), 'root1', 'a2')).toBe('cycle when making "a2" the parent of "root1": current ancestry is a2 -> a -> root1');
  expect(whyNotParent(forest(), 'a', 'x')).toBeUndefined();
  expect(whyNotParent(forest(), 'x', 'y')).toBe('cycle when making "y" the parent of "x": current ancestry is y -> x');
});
