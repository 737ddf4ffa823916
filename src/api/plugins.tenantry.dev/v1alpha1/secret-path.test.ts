import { expect, test } from 'vitest';
import { isSecretProperty, readSecretPath, storedSecretName } from './secret-path.ts';

const LONG = 'a'.repeat(63);

test.each([
  ['one part', 'adapstory/plugins/hello/school/api', { plugin: 'hello', tenant: 'school', path: 'api' }],
  ['several parts', 'adapstory/plugins/a-b/c/x/Y_1.pem', { plugin: 'a-b', tenant: 'c', path: 'x/Y_1.pem' }],
  ['names of 63 characters', `adapstory/plugins/${LONG}/${LONG}/x`, { plugin: LONG, tenant: LONG, path: 'x' }],
])('readSecretPath reads %s', (_, text, expected) => {
  expect(readSecretPath(text)).toEqual(expected);
});

test.each([
  ['another root', 'adapstory/other/hello/school/api'],
  ['no path', 'adapstory/plugins/hello/school'],
  ['an empty path', 'adapstory/plugins/hello/school/'],
  ['an empty part', 'adapstory/plugins/hello/school/a//b'],
  ['a way up', 'adapstory/plugins/hello/school/../victim/api'],
  ['a way up at the end', 'adapstory/plugins/hello/school/a/..'],
  ['a way up as the tenant', 'adapstory/plugins/hello/../api'],
  ['a hidden part', 'adapstory/plugins/hello/school/.git'],
  ['a wildcard', 'adapstory/plugins/hello/school/*'],
  ['a wildcard as the tenant', 'adapstory/plugins/hello/+/api'],
  ['a quote', 'adapstory/plugins/hello/school/a"b'],
  ['an end of the line', 'adapstory/plugins/hello/school/api\n'],
  ['an escape', 'adapstory/plugins/hello/school/%2e%2e'],
  ['a NUL', 'adapstory/plugins/hello/school/a\0b'],
  ['a plugin in capitals', 'adapstory/plugins/Hello/school/api'],
  ['a plugin of 64 characters', `adapstory/plugins/${LONG}a/school/api`],
  ['a path that is too long', `adapstory/plugins/hello/school/${'a'.repeat(256)}`],
])('readSecretPath refuses %s', (_, text) => {
  expect(readSecretPath(text)).toBeUndefined();
});

test.each([
  ['key', true],
  ['tls.crt', true],
  ['..data', false],
  ['a/b', false],
  ['', false],
  ['a b', false],
])('isSecretProperty of %j is %s', (name, expected) => {
  expect(isSecretProperty(name)).toBe(expected);
});

test('storedSecretName gives every path a name of its own', () => {
  const paths = ['adapstory/plugins/a-b/c/x', 'adapstory/plugins/a/b-c/x', 'adapstory/plugins/a/b/c.x', 'adapstory/plugins/a/b/c/x'];
  expect(new Set(paths.map(storedSecretName)).size).toBe(paths.length);
  expect(storedSecretName(paths[0])).toMatch(/^plugin-secret-[0-9a-f]{24}$/);
});
