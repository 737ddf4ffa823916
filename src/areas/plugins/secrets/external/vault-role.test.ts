import { expect, test } from 'vitest';
import { vaultRole } from './vault-role.ts';

const MOUNTS = { mount: 'secret', authMount: 'kubernetes' };

test('vaultRole reads below the path of one plugin of one tenant, for the account of its namespace', () => {
  const text = vaultRole('hello', 'school', MOUNTS);
  expect(text).toContain('path "secret/data/adapstory/plugins/hello/school/*" {\n  capabilities = ["read"]\n}');
  expect(text).toContain('bound_service_account_namespaces=plugin-school-hello ');
});

test('vaultRole gives names that could be read in two ways roles of their own', () => {
  const roleIn = (text: string) => /role\/(\S+)/.exec(text)![1];
  expect(roleIn(vaultRole('c', 'a-b', MOUNTS))).not.toBe(roleIn(vaultRole('b-c', 'a', MOUNTS)));
});

test.each([
  ['a wildcard', '*', 'school'],
  ['a quote', 'hello"', 'school'],
  ['a way up', 'hello', '..'],
  ['a command', 'hello', 'a;rm'],
])('vaultRole refuses %s', (_, plugin, tenant) => {
  expect(() => vaultRole(plugin, tenant, MOUNTS)).toThrow('Cannot make a role');
  expect(() => vaultRole('hello', 'school', { mount: `a${plugin}b "`, authMount: 'x' })).toThrow('no mount');
});
