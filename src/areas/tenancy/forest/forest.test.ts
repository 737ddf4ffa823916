import { expect, test } from 'vitest';
import { MANAGED_BY, SUBNAMESPACE_OF, treeLabel } from '../../../api/hnc.x-k8s.io/v1alpha2/names.ts';
import { ROLE_LABEL, TENANT_LABEL } from '../../../api/tenantry.dev/v1alpha1/names.ts';
import { Forest } from './forest.ts';
import type { KeyValue } from './tree-namespace.ts';
import { DEFAULT_SETTINGS, managedKeyPattern, type TreeSettings } from './tree-settings.ts';

interface Given {
  parent?: string;
  /** The namespace whose anchor made it; an anchor is there unless `anchored` says no. */
  sub?: string;
  anchored?: boolean;
  labels?: Record<string, string>;
  annotations?: Record<string, string>;
  terminating?: boolean;
  cascades?: boolean;
  managed?: KeyValue[];
}

/** A forest with namespaces, told in the order given. */
function forestOf(given: Record<string, Given>, settings?: Partial<TreeSettings>): Forest {
  const forest = new Forest({ ...DEFAULT_SETTINGS, ...settings });
  for (const [
    name,
    { parent, sub, anchored = true, labels = {}, annotations = {}, terminating = false, cascades, managed },
  ] of Object.entries(given)) {
    const sought = sub ? { ...annotations, [SUBNAMESPACE_OF]: sub } : annotations;
    forest.setNamespace(name, { uid: name, labels, annotations: sought, terminating });
    if (sub && anchored) forest.setAnchor(sub, name, { labels: [], annotations: [] });
    if (parent || cascades || managed)
      forest.setHierarchy(name, {
        parent,
        allowCascadingDeletion: cascades ?? false,
        labels: managed ?? [],
        annotations: [],
        terminating: false,
      });
  }
  return forest;
}

const reasons = (forest: Forest, name: string) => forest.get(name)!.conditions.map(({ reason, message }) => `${reason}: ${message}`);
const depths = (forest: Forest, name: string) =>
  Object.fromEntries(
    Object.entries(forest.get(name)!.labels)
      .filter(([key]) => key.endsWith('.tree.hnc.x-k8s.io/depth'))
      .map(([key, value]) => [key.slice(0, key.indexOf('.')), value]),
  );

test('tree labels, say how far up each ancestor is, on every managed namespace', () => {
  const forest = forestOf({ c: { parent: 'b' }, a: {}, b: { sub: 'a' }, default: {}, 'kube-system': {} });
  expect(depths(forest, 'c')).toEqual({ c: '0', b: '1', a: '2' });
  expect(depths(forest, 'a')).toEqual({ a: '0' });
  expect(forest.get('c')!.labels['hnc.x-k8s.io/included-namespace']).toBe('true');
  expect(forest.get('default')).toMatchObject({ isManaged: false, labels: {}, conditions: [] });
  expect(forest.get('kube-system')!.isManaged).toBe(false);
  expect(forest.ancestors('c')).toEqual(['b', 'a']);
  expect(forest.descendants('a')).toEqual(['b', 'c']);
  expect(forest.get('a')!.children).toEqual(['b']);
});

test.each<[string, Record<string, Given>, string, string[]]>([
  ['a missing parent', { a: { parent: 'gone' } }, 'a', ['ParentMissing: Parent "gone" does not exist']],
  ['an unmanaged parent', { default: {}, a: { parent: 'default' } }, 'a', ['IllegalParent: Parent "default" is an unmanaged namespace']],
  ['itself as its parent', { a: { parent: 'a' } }, 'a', ['InCycle: Namespace is a member of the cycle: a <- a']],
  [
    'a cycle of three, seen from any of them',
    { c: { parent: 'b' }, b: { parent: 'a' }, a: { parent: 'c' } },
    'b',
    ['InCycle: Namespace is a member of the cycle: a <- b <- c <- a'],
  ],
  [
    'an orphan above it',
    { a: { parent: 'gone' }, b: { parent: 'a' }, c: { sub: 'b', anchored: false } },
    'c',
    [
      'AncestorHaltActivities: Propagation paused in "c" and its descendants due to ActivitiesHalted condition on ancestor "a"',
      'SubnamespaceAnchorMissing: The anchor is missing in the parent namespace',
    ],
  ],
  [
    'a label nobody may manage',
    { a: { managed: [{ key: 'cost', value: '1' }] } },
    'a',
    ['IllegalManagedLabel: Not a legal managed label (set via --managed-namespace-label): cost'],
  ],
])('a namespace with %s, has the condition', (_, given, name, expected) => {
  expect(reasons(forestOf(given), name)).toEqual(expected);
});

test('tree labels, end at the first halted namespace, and cascading deletion does not leak around a cycle', () => {
  const forest = forestOf({
    a: { parent: 'gone', cascades: true },
    b: { parent: 'a' },
    x: { parent: 'y', cascades: true },
    y: { parent: 'x' },
  });
  expect(depths(forest, 'b')).toEqual({ b: '0', a: '1' });
  expect(forest.allowsCascadingDeletion('b')).toBe(true);
  expect([forest.allowsCascadingDeletion('x'), forest.allowsCascadingDeletion('y')]).toEqual([true, false]);
  expect([forest.isHalted('b'), forest.haltedRoot('b'), forest.isHalted('y')]).toEqual([true, 'a', true]);
});

test('a terminating subnamespace, leaves the tree, and stays its tenant’s', () => {
  const mark = { [TENANT_LABEL]: 'acme' };
  const forest = forestOf({ acme: { labels: mark }, 'acme--x': { sub: 'acme', labels: mark, terminating: true } });
  expect(forest.get('acme--x')).toMatchObject({ parent: undefined, isSub: false, tenant: 'acme' });
});

test('the tenant, is said by the root alone, and outlives a lost parent', () => {
  const mark = { [TENANT_LABEL]: 'acme' };
  const forest = forestOf({
    acme: { labels: mark },
    'acme--x': { sub: 'acme' },
    plugin: { parent: 'acme--x', labels: { ...mark, [ROLE_LABEL]: 'plugin' } },
    'acme--not': {},
    spoof: { labels: mark },
    below: { parent: 'spoof', labels: mark },
  });
  expect(['acme', 'acme--x', 'plugin', 'acme--not', 'spoof', 'below'].map((name) => forest.get(name)!.tenant)).toEqual([
    'acme',
    'acme',
    'acme',
    undefined,
    undefined,
    undefined,
  ]);
  expect(forest.get('plugin')!.role).toBe('plugin');
  expect(forest.get('below')!.labels[TENANT_LABEL]).toBeUndefined();
  forest.setNamespace('acme--x', undefined);
  expect(reasons(forest, 'plugin')).toEqual(['ParentMissing: Parent "acme--x" does not exist']);
  expect(forest.get('plugin')!.tenant).toBe('acme');
});

test('an external hierarchy, adds its depths to ours', () => {
  const forest = forestOf({
    e: { parent: 'ignored', annotations: { [MANAGED_BY]: 'other' }, labels: { [treeLabel('e')]: '0', [treeLabel('org')]: '2' } },
    a: { parent: 'e' },
  });
  expect(forest.get('e')).toMatchObject({ parent: undefined, externalManager: 'other' });
  expect(depths(forest, 'a')).toEqual({ a: '0', e: '1', org: '3' });
});

test('managed labels, come from above, win over what is below, and are dropped where nobody sets them', () => {
  const settings = { managedLabels: [managedKeyPattern('team\\..*')] };
  const entry = (value: string) => [{ key: 'team.x', value }];
  const forest = forestOf(
    { a: { managed: entry('1') }, b: { parent: 'a', managed: entry('2') }, c: { labels: { 'team.x': 'own' } } },
    settings,
  );
  expect(['a', 'b', 'c'].map((name) => forest.get(name)!.labels['team.x'])).toEqual(['1', '1', undefined]);
  expect(() => managedKeyPattern('.*')).toThrow('it matches "hnc.x-k8s.io"');
});

test('listeners, hear of everybody concerned, and of nobody when nothing changed', () => {
  const forest = forestOf({ a: {}, b: { parent: 'a' }, c: { parent: 'b' }, other: {} });
  const heard: string[][] = [];
  const stop = forest.onChange((names) => heard.push([...names].sort()));
  forest.setNamespace('c', { uid: 'c', labels: { x: '1' }, annotations: {}, terminating: false });
  forest.setNamespace('c', { uid: 'c', labels: { x: '1' }, annotations: {}, terminating: false });
  forest.setHierarchy('b', { parent: 'other', allowCascadingDeletion: false, labels: [], annotations: [], terminating: false });
  stop();
  forest.setNamespace('a', undefined);
  expect(heard).toEqual([['c'], ['a', 'b', 'c', 'other']]);
});

test('a frozen forest, halts everywhere and keeps the labels that are there', () => {
  const forest = forestOf({ a: {}, b: { parent: 'a', labels: { [treeLabel('a')]: '1' } } });
  forest.setHierarchy('b', undefined);
  forest.setFrozen(true);
  expect(reasons(forest, 'b')).toEqual(['DeletingCRD: The HierarchyConfiguration CRD is being deleted; all propagation is disabled.']);
  expect(forest.get('b')!.labels).toEqual({ [treeLabel('a')]: '1' });
  expect(forest.isHalted('a')).toBe(true);
});
