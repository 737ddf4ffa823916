import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { FakeClock } from '../../lib/clock-fake.ts';
import { contextOptions } from './connect.ts';
import { tokenFileCredentials } from './credentials.ts';
import { loadKubeconfig, parseKubeconfig } from './kubeconfig-file.ts';
import { resolveContext } from './kubeconfig.ts';

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'kubeconfig-'));
});
afterEach(() => rm(folder, { recursive: true }));

const ONE = `
apiVersion: v1
kind: Config
current-context: one
clusters: [{ name: c1, cluster: { server: 'https://one:6443/base', certificate-authority: ca.crt, tls-server-name: kubernetes } }]
users: [{ name: u1, user: { token: secret, as: jane, as-groups: [devs, ops], as-user-extra: { 'example.com/x': [y] } } }]
contexts: [{ name: one, context: { cluster: c1, user: u1, namespace: team } }]
`;
const TWO = `
current-context: two
clusters: [{ name: c1, cluster: { server: 'https://shadowed' } }, { name: c2, cluster: { server: 'http://two' } }]
users:
contexts: [{ name: two, context: { cluster: c2 } }, { name: broken, context: { cluster: nowhere } }]
`;

test('loadKubeconfig merges the files of KUBECONFIG, the first to say something wins, missing files are skipped', async () => {
  await writeFile(join(folder, 'one'), ONE);
  await writeFile(join(folder, 'two'), TWO);
  const config = await loadKubeconfig({ variable: ['one', 'absent', 'two'].map((name) => join(folder, name)).join(':') });
  expect(config.currentContext).toBe('one');
  expect(config.clusters.map(({ name, cluster }) => [name, cluster.server])).toEqual([
    ['c1', 'https://one:6443/base'],
    ['c2', 'http://two'],
  ]);
  expect(resolveContext(config)).toMatchObject({ namespace: 'team', cluster: { 'certificate-authority': join(folder, 'ca.crt') } });
  expect(resolveContext(config, 'two')).toMatchObject({ namespace: 'default', user: {} });
});

test.each<[string, string, string | undefined, string]>([
  ['no current context', 'clusters: []', undefined, 'Cannot choose a cluster: the kubeconfig has no current-context; name a context'],
  ['an unknown context', TWO, 'three', 'Cannot find context "three": the kubeconfig has "two", "broken"; choose another'],
  [
    'a context whose cluster is absent',
    TWO,
    'broken',
    'Cannot find cluster "nowhere": the kubeconfig has "c1", "c2"; correct context "broken"',
  ],
])('resolveContext refuses %s', async (_name, text, context, message) => {
  const config = await parseKubeconfig(text);
  expect(() => resolveContext(config, context)).toThrow(message);
});

test.each([
  ['a list at the top', '- a'],
  ['clusters that are a mapping', 'clusters: { a: b }'],
  ['broken YAML', 'clusters: [{'],
])('parseKubeconfig refuses %s', async (_name, text) => {
  await expect(parseKubeconfig(text, 'my.yaml')).rejects.toMatchObject({
    code: 'BadConfig',
    message: expect.stringContaining('"my.yaml"'),
  });
});

test('loadKubeconfig says where it looked when there is no file', async () => {
  await expect(loadKubeconfig({ home: folder })).rejects.toThrow('Cannot find a kubeconfig: none of');
  await expect(loadKubeconfig({ path: join(folder, 'absent') })).rejects.toThrow('Cannot read kubeconfig');
});

test('contextOptions carries impersonation, the name to verify and the token', async () => {
  const options = contextOptions(resolveContext(await parseKubeconfig(ONE)), { userAgent: 'tenantry/1' });
  expect(options.endpoint).toMatchObject({ tlsServerName: 'kubernetes' });
  expect(options.endpoint.url.pathname).toBe('/base');
  expect(options.headers).toEqual({
    'Impersonate-User': 'jane',
    'Impersonate-Group': ['devs', 'ops'],
    'Impersonate-Extra-example.com%2Fx': ['y'],
    'User-Agent': 'tenantry/1',
  });
  expect(await options.credentials.headers()).toEqual({ Authorization: 'Bearer secret' });
});

test('a token file is read again after a minute, or when the server refuses the token', async () => {
  const path = join(folder, 'token');
  const clock = new FakeClock();
  const credentials = tokenFileCredentials(path, clock);
  await expect(credentials.headers()).rejects.toMatchObject({ code: 'CredentialsFailed' });
  const tokenAfterWriting = async (token: string): Promise<string> => {
    await writeFile(path, `${token}\n`);
    return (await credentials.headers()).Authorization;
  };
  expect(await tokenAfterWriting('one')).toBe('Bearer one');
  expect(await tokenAfterWriting('two')).toBe('Bearer one');
  await clock.advance(60_000);
  expect(await tokenAfterWriting('three')).toBe('Bearer three');
  await clock.advance(1000);
  expect(credentials.refresh()).toBe(true);
  expect(await tokenAfterWriting('four')).toBe('Bearer four');
});
