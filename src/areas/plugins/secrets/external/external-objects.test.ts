import { expect, test } from 'vitest';
import { externalObjects } from './external-objects.ts';
import { externalSettings } from './external-settings.ts';

const encoded = (data: Record<string, string>) =>
  ({ data: Object.fromEntries(Object.entries(data).map(([key, value]) => [key, Buffer.from(value).toString('base64')])) }) as never;
const VAULT = { secrets: 'external-secrets', 'vault-server': 'https://vault.example:8200' };

const aTarget = (tenant: string, ...secrets: object[]) =>
  ({ plugin: 'hello', tenant, publisher: 'acme', namespace: `plugin-${tenant}-hello`, manifest: { spec: { secrets } } }) as never;

const objectsFor = (data: Record<string, string>, ...targets: never[]) => externalObjects(targets, externalSettings(encoded(data))!);

test('a SecretStore logs in to Vault by a role of its namespace alone', () => {
  const { store, account } = objectsFor(VAULT, aTarget('school', { name: 'api' }));
  expect(store.spec).toEqual({
    provider: {
      vault: {
        server: 'https://vault.example:8200',
        path: 'secret',
        version: 'v2',
        auth: {
          kubernetes: { mountPath: 'kubernetes', role: 'plugin-school-hello', serviceAccountRef: { name: account.metadata.name } },
        },
      },
    },
    refreshInterval: 60,
  });
  expect(account['automountServiceAccountToken']).toBe(false);
});

test.each<[string, object[], object[]]>([
  [
    'a property is fetched alone',
    [{ name: 'api', property: 'key' }],
    [{ data: [{ secretKey: 'key', remoteRef: { key: 'adapstory/plugins/hello/school/api', property: 'key' } }] }],
  ],
  ['all properties are extracted', [{ name: 'api' }], [{ dataFrom: [{ extract: { key: 'adapstory/plugins/hello/school/api' } }] }]],
  [
    'one path is fetched once',
    [
      { name: 'a', path: 'api', property: 'key' },
      { name: 'b', path: 'api', property: 'user' },
    ],
    [
      {
        data: [
          { secretKey: 'key', remoteRef: { key: 'adapstory/plugins/hello/school/api', property: 'key' } },
          { secretKey: 'user', remoteRef: { key: 'adapstory/plugins/hello/school/api', property: 'user' } },
        ],
      },
    ],
  ],
  [
    'what may be missing fails nothing else',
    [
      { name: 'a', path: 'api', property: 'key' },
      { name: 'b', path: 'api', property: 'user', optional: true },
    ],
    [{ dataFrom: [{ extract: { key: 'adapstory/plugins/hello/school/api' } }] }],
  ],
])('externalObjects: %s', (_, secrets, expected) => {
  const found = objectsFor(VAULT, aTarget('school', ...secrets)).secrets;
  expect(
    found.map(({ spec }) => ({ ...(spec.data ? { data: spec.data } : {}), ...(spec.dataFrom ? { dataFrom: spec.dataFrom } : {}) })),
  ).toEqual(expected);
});

test('externalObjects covers all versions that run, and nothing of another tenant', () => {
  const { secrets } = objectsFor(VAULT, aTarget('school', { name: 'api' }), aTarget('school', { name: 'old' }));
  const text = JSON.stringify(secrets);
  expect(secrets).toHaveLength(2);
  expect(text).toContain('hello/school/old');
  expect(new Set([...text.matchAll(/adapstory\/plugins\/hello\/(\w+)\//g)].map(([, tenant]) => tenant))).toEqual(new Set(['school']));
});

test('another provider is filled in with what the plugin is called', () => {
  const provider = JSON.stringify({
    kubernetes: { remoteNamespace: 'vault-{tenant}', auth: { names: ['{plugin}', '{namespace}', '{other}'] } },
  });
  const data = { secrets: 'external-secrets', 'secrets-provider': provider, 'secrets-separator': '.' };
  const { store, secrets } = objectsFor(data, aTarget('school', { name: 'api' }));
  expect(store.spec.provider).toEqual({
    kubernetes: { remoteNamespace: 'vault-school', auth: { names: ['hello', 'plugin-school-hello', '{other}'] } },
  });
  expect(secrets[0].spec.dataFrom).toEqual([{ extract: { key: 'adapstory.plugins.hello.school.api' } }]);
});

test.each<[string, Record<string, string>, string]>([
  ['another word', { secrets: 'vault' }, 'neither "stored" nor "external-secrets"'],
  ['no server', { secrets: 'external-secrets' }, 'vault-server'],
  ['a provider that is no JSON', { secrets: 'external-secrets', 'secrets-provider': '{"token":"s3cret"' }, 'is no JSON'],
  ['two providers', { secrets: 'external-secrets', 'secrets-provider': '{"a":{},"b":{}}' }, 'one provider'],
  ['a refresh that is no time', { ...VAULT, 'secrets-refresh': 'soon' }, 'no duration'],
  ['a separator that could be a path', { ...VAULT, 'secrets-separator': '/../' }, 'neither _ nor .'],
  ['a separator that names have in them', { ...VAULT, 'secrets-separator': '-' }, 'neither _ nor .'],
])('externalSettings refuses %s, and repeats no value', (_, data, message) => {
  const read = () => externalSettings(encoded(data));
  expect(read).toThrow(message);
  expect(read).not.toThrow('s3cret');
});

test('externalSettings leaves it to the embedded store when nothing is said', () => {
  expect(externalSettings(undefined)).toBeUndefined();
  expect(externalSettings(encoded({ secrets: 'stored' }))).toBeUndefined();
});
