import { describe, expect, test } from 'vitest';
import { isOrphaned, namespaceOwner } from './orphaned-namespace.ts';

const OWNER = { tenant: 'school', installation: 'greeter', plugin: 'hello', publisher: 'acme' };

function namespace({ name = 'plugin-school-hello', role = 'plugin', of = 'school/greeter' } = {}) {
  const labels = { 'tenantry.dev/role': role, 'plugins.tenantry.dev/plugin': 'hello', 'plugins.tenantry.dev/publisher': 'acme' };
  const annotations = of === '' ? undefined : { 'plugins.tenantry.dev/installation': of };
  return { apiVersion: 'v1', kind: 'Namespace', metadata: { name, labels, annotations } };
}

describe('namespaceOwner', () => {
  test('says whose a namespace of a plugin is', () => expect(namespaceOwner(namespace())).toEqual(OWNER));

  test.each([
    ['has another role', namespace({ role: 'workspace' })],
    ['names no installation', namespace({ of: '' })],
    ['names something else', namespace({ of: 'school' })],
    ['has not the name that it would have', namespace({ name: 'precious' })],
    ['is another tenant’s by its name', namespace({ of: 'rival/greeter' })],
    ['has no labels', { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'plugin-school-hello' } }],
  ])('leaves alone what %s', (_, each) => expect(namespaceOwner(each)).toBeUndefined());
});

test.each([
  ['is there', { publisher: 'acme', plugin: 'hello' }, false],
  ['is gone', undefined, true],
  ['is another plugin now', { publisher: 'acme', plugin: 'other' }, true],
  ['is another publisher’s now', { publisher: 'evil', plugin: 'hello' }, true],
])('a namespace whose installation %s', (_, spec, expected) => {
  expect(isOrphaned(OWNER, spec && ({ spec } as never))).toBe(expected);
});
