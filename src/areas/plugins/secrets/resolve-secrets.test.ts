import { expect, test } from 'vitest';
import type { Target } from '../installation/model/target.ts';
import { resolveSecrets } from './resolve-secrets.ts';

type Declared = NonNullable<Target['manifest']['spec']['secrets']>[number];

const STORE: Record<string, Record<string, string>> = {
  'adapstory/plugins/hello/school/api': { key: 'a2V5', user: 'dXNlcg==' },
  'adapstory/plugins/hello/school/deep/one': { only: 'b25l' },
  'adapstory/plugins/hello/school/long': { ['x'.repeat(253)]: 'bG9uZw==' },
};
const resolve = (...secrets: Declared[]) =>
  resolveSecrets({ plugin: 'hello', tenant: 'school', manifest: { spec: { secrets } } } as never, { read: (path) => STORE[path] });

/** What the plugin sees of it: files by their paths, and variables. */
function seen(declared: Declared): object {
  const { data, items, env, missing } = resolve(declared);
  return {
    files: Object.fromEntries(items.map(({ key, path }) => [path, data[key]])),
    variables: Object.fromEntries(env.map(({ name, key }) => [name, data[key]])),
    missing,
  };
}

test.each<[string, Declared, object]>([
  [
    'one property is a file',
    { name: 'api', property: 'key', env: 'KEY' },
    { files: { api: 'a2V5' }, variables: { KEY: 'a2V5' }, missing: [] },
  ],
  ['all properties are a folder', { name: 'api' }, { files: { 'api/key': 'a2V5', 'api/user': 'dXNlcg==' }, variables: {}, missing: [] }],
  [
    'a path of its own and the only property as a variable',
    { name: 'x', path: 'deep/one', env: 'X' },
    { files: { 'x/only': 'b25l' }, variables: { X: 'b25l' }, missing: [] },
  ],
  ['a missing path is named', { name: 'nope' }, { files: {}, missing: ['adapstory/plugins/hello/school/nope'] }],
  [
    'a missing property is named',
    { name: 'api', property: 'nope' },
    { files: {}, missing: ['adapstory/plugins/hello/school/api (property "nope")'] },
  ],
  [
    'what every object has is no property',
    { name: 'api', property: 'constructor' },
    { files: {}, missing: ['adapstory/plugins/hello/school/api (property "constructor")'] },
  ],
  [
    'a variable of several properties is refused',
    { name: 'api', env: 'X' },
    { missing: [expect.stringContaining('a variable needs one property')] },
  ],
  ['what is optional may be missing', { name: 'nope', optional: true }, { files: {}, missing: [] }],
])('resolveSecrets: %s', (_, declared, expected) => {
  expect(seen(declared)).toMatchObject(expected);
});

test('resolveSecrets gives what two versions call by one name entries of their own', () => {
  const [before, after] = [
    resolve({ name: 'x', path: 'api', property: 'key' }),
    resolve({ name: 'x', path: 'deep/one', property: 'only' }),
  ];
  expect(Object.values({ ...before.data, ...after.data }).toSorted((a, b) => a.localeCompare(b))).toEqual(['a2V5', 'b25l']);
});

test('resolveSecrets makes no entry that is too long for a Secret', () => {
  const [key] = Object.keys(resolve({ name: 'n'.repeat(63), path: 'long' }).data);
  expect(key.length).toBeLessThanOrEqual(253);
});
