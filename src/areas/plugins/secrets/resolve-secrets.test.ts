import { expect, test } from 'vitest';
import type { Target } from '../installation/model/target.ts';
import { resolveSecrets } from './resolve-secrets.ts';

type Declared = NonNullable<Target['manifest']['spec']['secrets']>[number];

const STORE: Record<string, Record<string, string>> = {
  'adapstory/plugins/hello/school/api': { key: 'a2V5', user: 'dXNlcg==' },
  'adapstory/plugins/hello/school/deep/one': { only: 'b25l' },
};
const resolve = (...secrets: Declared[]) =>
  resolveSecrets({ plugin: 'hello', tenant: 'school', manifest: { spec: { secrets } } } as never, { read: (path) => STORE[path] });

test.each<[string, Declared, object]>([
  [
    'one property is a file',
    { name: 'api', property: 'key', env: 'KEY' },
    { data: { api: 'a2V5' }, items: [{ key: 'api', path: 'api' }], env: [{ name: 'KEY', key: 'api' }], missing: [] },
  ],
  [
    'all properties are a folder',
    { name: 'api' },
    {
      data: { 'api.key': 'a2V5', 'api.user': 'dXNlcg==' },
      items: [
        { key: 'api.key', path: 'api/key' },
        { key: 'api.user', path: 'api/user' },
      ],
      env: [],
      missing: [],
    },
  ],
  [
    'a path of its own and the only property as a variable',
    { name: 'x', path: 'deep/one', env: 'X' },
    { data: { 'x.only': 'b25l' }, env: [{ name: 'X', key: 'x.only' }], missing: [] },
  ],
  ['a missing path is named', { name: 'nope' }, { data: {}, missing: ['adapstory/plugins/hello/school/nope'] }],
  [
    'a missing property is named',
    { name: 'api', property: 'nope' },
    { data: {}, missing: ['adapstory/plugins/hello/school/api (property "nope")'] },
  ],
  [
    'a variable of several properties is refused',
    { name: 'api', env: 'X' },
    { missing: [expect.stringContaining('a variable needs one property')] },
  ],
  ['what is optional may be missing', { name: 'nope', optional: true }, { data: {}, items: [], missing: [] }],
])('resolveSecrets: %s', (_, declared, expected) => {
  expect(resolve(declared)).toMatchObject(expected);
});
