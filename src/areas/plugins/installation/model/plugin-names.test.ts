import { expect, test } from 'vitest';
import { pluginNamespaceOf, versionLabelOf } from './plugin-names.ts';

test.each([
  ['plain when it can be read in one way only', 'acme', 'hello', /^plugin-acme-hello$/],
  ['with a hash when the plugin has a dash', 'acme', 'hello-world', /^plugin-acme-hello-world-[0-9a-f]{10}$/],
  ['with a hash when the tenant has a dash', 'acme-eu', 'hello', /^plugin-acme-eu-hello-[0-9a-f]{10}$/],
  ['cut and with a hash when it is too long', 'a'.repeat(40), 'b'.repeat(63), /^plugin-a{40}-b{4}-[0-9a-f]{10}$/],
])('pluginNamespaceOf is %s', (_, tenant, plugin, expected) => {
  expect(pluginNamespaceOf(tenant, plugin)).toMatch(expected);
  expect(pluginNamespaceOf(tenant, plugin).length).toBeLessThanOrEqual(63);
});

test('pluginNamespaceOf tells apart what would be written alike', () => {
  const pairs = [
    ['a-b', 'c'],
    ['a', 'b-c'],
    ['a', 'b'],
    ['a', `b${'c'.repeat(62)}`],
    ['a', `b${'c'.repeat(61)}d`],
    ['a', `b-${pluginNamespaceOf('a', 'b-c').slice(-10)}`],
  ];
  expect(new Set(pairs.map(([tenant, plugin]) => pluginNamespaceOf(tenant, plugin))).size).toBe(pairs.length);
});

test.each([
  ['1.2.3', '1.2.3'],
  ['1.2.3-rc.1+build.5', '1.2.3-rc.1_build.5'],
  [`1.2.3-${'a'.repeat(56)}-b`, `1.2.3-${'a'.repeat(56)}`],
])('versionLabelOf makes a label of %s', (version, expected) => {
  expect(versionLabelOf(version)).toBe(expected);
});
