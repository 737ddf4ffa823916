import { expect, test } from 'vitest';
import { RETAINED_ANNOTATION, ROLE_LABEL, TENANT_LABEL } from '../../../../api/tenantry.dev/v1alpha1/names.ts';
import { Forest } from '../../forest/forest.ts';
import { anchorOutOfBounds, deletionOutOfBounds, moveOutOfBounds, namespaceOutOfBounds } from './tenant-bounds.ts';

/** acme { acme--a { acme--b }, acme--sys }, other, and `free`, which is nobody's. */
function forest(): Forest {
  const made = new Forest();
  const add = (name: string, parent: string | undefined, labels: Record<string, string> = {}): void => {
    made.setNamespace(name, { uid: name, labels, annotations: {}, terminating: false });
    if (parent) made.setHierarchy(name, { parent, allowCascadingDeletion: false, labels: [], annotations: [], terminating: false });
  };
  add('acme', undefined, { [TENANT_LABEL]: 'acme' });
  add('acme--a', 'acme');
  add('acme--b', 'acme--a');
  add('acme--sys', 'acme', { [ROLE_LABEL]: 'tenant-system' });
  add('other', undefined, { [TENANT_LABEL]: 'other' });
  add('free', undefined);
  const annotations = { [RETAINED_ANNOTATION]: 'gone' };
  made.setNamespace('gone--data', { uid: 'gone--data', labels: {}, annotations, terminating: false });
  return made;
}

test.each<[string, string, boolean, string | undefined]>([
  ['acme', 'acme--x', false, undefined],
  ['acme--b', 'acme--x', false, undefined],
  ['free', 'acme--x', false, undefined],
  ['acme', 'x', false, 'use "acme--x"'],
  ['acme', 'x', true, 'use "acme--x"'],
  ['acme', 'acme--', false, 'are named "acme--<name>"'],
  ['acme', 'acme-x', false, 'are named'],
  ['acme', 'acmex--y', false, 'are named'],
  ['acme', 'acme--sys', false, "is the platform's namespace"],
  ['acme', 'acme--sys', true, undefined],
  ['acme--sys', 'acme--x', false, 'belongs to the platform'],
  ['acme--sys', 'acme--x', true, undefined],
  ['gone--data', 'x', false, 'was kept from a tenant that is gone'],
  ['gone--data', 'x', true, undefined],
])('an anchor in %s for %s, platform: %s', (parent, name, platform, why) => {
  const refused = anchorOutOfBounds(forest(), parent, name, platform);
  if (why === undefined) expect(refused).toBeUndefined();
  else expect(refused).toContain(why);
});

test('an anchor, is refused, thirty levels down', () => {
  const deep = forest();
  let above = 'acme--b';
  for (let level = 4; level <= 30; level++) {
    expect(anchorOutOfBounds(deep, above, `acme--l${level}`, false)).toBeUndefined();
    deep.setNamespace(`acme--l${level}`, {
      uid: '',
      labels: {},
      annotations: { 'hnc.x-k8s.io/subnamespace-of': above },
      terminating: false,
    });
    above = `acme--l${level}`;
  }
  expect(anchorOutOfBounds(deep, above, 'acme--more', false)).toBe('the tree of a tenant is at most 30 levels deep');
  expect(anchorOutOfBounds(deep, above, 'acme--more', true)).toBeUndefined();
});

test.each<[string, string | undefined, boolean, string | undefined]>([
  ['acme--b', 'acme', false, undefined],
  ['acme--b', 'acme--a', false, undefined],
  ['acme--b', undefined, false, 'out of the tree of tenant "acme"'],
  ['acme--b', 'other', false, 'out of the tree of tenant "acme"'],
  ['acme--b', 'nowhere', false, 'out of the tree of tenant "acme"'],
  ['acme--b', 'other', true, undefined],
  ['free', 'acme', false, 'into the tree of tenant "acme"'],
  ['free', 'acme', true, undefined],
  ['acme', 'free', true, 'is the root of a tenant'],
  ['acme--sys', 'acme--a', false, 'belongs to the platform'],
])('a move of %s to %s, platform: %s', (name, parent, platform, why) => {
  const refused = moveOutOfBounds(forest(), name, parent, platform);
  if (why === undefined) expect(refused).toBeUndefined();
  else expect(refused).toContain(why);
});

test.each<[string, object, object | undefined, string | undefined]>([
  ['a plain change', { labels: { a: '1' } }, { labels: {} }, undefined],
  ['what stays', { labels: { [TENANT_LABEL]: 'acme' } }, { labels: { [TENANT_LABEL]: 'acme' } }, undefined],
  ['a look-alike', { labels: { 'nottenantry.dev/x': '1' } }, undefined, undefined],
  ['a key of a part of the platform', { annotations: { 'plugins.tenantry.dev/x': '1' } }, undefined, 'annotation "plugins.tenantry.dev/x"'],
  ['a label that goes', { labels: {} }, { labels: { [TENANT_LABEL]: 'acme' } }, `label "${TENANT_LABEL}"`],
  ['an external manager', { annotations: { 'hnc.x-k8s.io/managed-by': 'me' } }, {}, 'can only be set by the platform'],
])('a namespace with %s', (_, next, previous, why) => {
  const refused = namespaceOutOfBounds(forest(), { name: 'acme--a', ...next }, previous && { name: 'acme--a', ...previous });
  if (why === undefined) expect(refused).toBeUndefined();
  else expect(refused).toContain(why);
});

test('the end of a root and of the platform’s own, is the platform’s to decide', () => {
  const of = (name: string) => deletionOutOfBounds({ name, labels: forest().get(name)!.labels });
  expect(of('acme')).toContain('delete the Tenant instead');
  expect(of('acme--sys')).toContain('belongs to the platform');
  expect(of('acme--a')).toBeUndefined();
});
