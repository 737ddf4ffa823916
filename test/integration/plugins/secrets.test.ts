import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { TenantKind } from '../../../src/api/tenantry.dev/v1alpha1/tenant.ts';
import { Deployment, Secret } from '../../../src/client/kinds.ts';
import { list } from '../../../src/cli/secrets/list.ts';
import { put, type SecretInput } from '../../../src/cli/secrets/put.ts';
import { remove } from '../../../src/cli/secrets/remove.ts';
import type { KubeObject } from '../../../src/kube/object.ts';
import { PluginWorld } from './plugin-world.ts';

const NAMESPACE = 'plugin-school-keys';

describe('the secrets of a plugin', { timeout: 60_000 }, () => {
  let world: PluginWorld;
  let stopKubelet: () => Promise<void>;
  let said = '';
  const session = () => world.session((text) => void (said += text));
  const piped = (text: string): SecretInput => ({
    isTerminal: false,
    bytes: (file) => Promise.resolve(Buffer.from(file === '-' ? text : `content of ${file}`)),
    typed: () => Promise.reject(new Error('nobody is there')),
  });
  beforeAll(async () => {
    world = await PluginWorld.start();
    await world.publisher('acme', 'acme');
    await world.tenants.tenant('school');
    await world.tenants.node('worker');
    stopKubelet = world.tenants.playKubelet([NAMESPACE]);
  }, 60_000);
  afterAll(async () => {
    await stopKubelet?.();
    await world?.stop();
  }, 60_000);

  const given = async () => {
    const secret = await world.tenants.find(() => world.client.resource<KubeObject>(Secret, NAMESPACE).get('plugin-secrets'));
    return Object.values(secret?.data ?? {}).map((each) => Buffer.from(each as string, 'base64').toString());
  };
  const template = async () => {
    const { items } = await world.client.resource<KubeObject>(Deployment, NAMESPACE).list();
    return items.map(({ spec }) => JSON.stringify(spec.template.metadata.annotations ?? {})).join();
  };

  it('are put before anything is installed', async () => {
    expect(await put(session(), piped('x'), 'early/api', { tenant: 'school' })).toBe(0);
    expect(await list(session(), { plugin: 'early' })).toBe(0);
    expect(said).toMatch(/school +early\/api +value/);
  });

  it('are put with a pipe, and then it is installed', async () => {
    await world.version('acme', 'keys', '1.0.0', { secrets: [{ name: 'api', property: 'key' }] });
    await world.install('school', 'keys', { version: '1.0.0' });
    const { status } = await world.until('school', 'keys', (each) => each.status?.reason === 'SecretMissing');
    expect(status!.message).toContain('adapstory/plugins/keys/school/api; `tenantry secrets put keys/api --tenant school` puts one there');
    expect(await put(session(), piped('s3cret\n'), 'keys/api', { tenant: 'school', property: 'key' })).toBe(0);
    await world.phase('school', 'keys', 'ACTIVE');
    expect(await given()).toEqual(['s3cret']);
  });

  it('reach the Pod when they change: as a file at once, without a new Pod', async () => {
    const before = await template();
    expect(await put(session(), piped('changed'), 'keys/api', { tenant: 'school', property: 'key' })).toBe(0);
    await world.tenants.eventually(async () => (await given()).includes('changed'));
    expect(await template()).toBe(before);
  });

  it('reach the Pod when they change: as a variable by new Pods', async () => {
    await world.version('acme', 'keys', '1.1.0', { secrets: [{ name: 'api', property: 'key', env: 'API_KEY' }] });
    await world.patch('school', 'keys', { version: '1.1.0' });
    await world.until('school', 'keys', ({ status }) => status?.version === '1.1.0' && status.phase === 'ACTIVE');
    const before = await template();
    expect(await put(session(), piped('again'), 'keys/api', { tenant: 'school', property: 'key' })).toBe(0);
    await world.tenants.eventually(async () => (await template()) !== before);
    expect(before).not.toContain('changed');
  });

  it('hold up an upgrade that needs one more, while the version at work keeps what it has', async () => {
    await world.version('acme', 'keys', '1.2.0', { secrets: [{ name: 'api', path: 'other', property: 'key' }] });
    await world.patch('school', 'keys', { version: '1.2.0' });
    const { status } = await world.until('school', 'keys', (each) => each.status?.reason === 'SecretMissing');
    expect(status).toMatchObject({ version: '1.1.0', message: expect.stringContaining('adapstory/plugins/keys/school/other') });
    expect(await given()).toEqual(['again']);
    expect(await put(session(), piped('second'), 'keys/other', { tenant: 'school', property: 'key' })).toBe(0);
    await world.until('school', 'keys', (each) => each.status?.version === '1.2.0' && each.status.phase === 'ACTIVE');
    await world.tenants.eventually(async () => (await given()).join() === 'second');
  });

  it('hold up a rollback to a version whose secret is gone, and let it go on when it is back', async () => {
    await remove(session(), 'keys/api', { tenant: 'school' });
    await world.patch('school', 'keys', { rollback: { request: 1, to: '1.1.0' } });
    const { status } = await world.until('school', 'keys', (each) => each.status?.reason === 'SecretMissing');
    expect(status).toMatchObject({ version: '1.2.0', message: expect.stringContaining('adapstory/plugins/keys/school/api') });
    expect(await put(session(), piped('back'), 'keys/api', { tenant: 'school', property: 'key' })).toBe(0);
    await world.until('school', 'keys', (each) => each.status?.version === '1.1.0' && each.status.phase === 'ROLLED_BACK');
  });

  it('are listed without a value in any format', async () => {
    said = '';
    await put(session(), piped(''), 'keys/tls', { tenant: 'school', fromFile: ['tls.crt', 'tls.key=private.pem'] });
    for (const output of ['table', 'json', 'name']) expect(await list(session(), { tenant: 'school', output })).toBe(0);
    await expect(list(session(), { output: 'yaml' })).rejects.toThrow('values are never shown');
    expect(said).toMatch(/school +keys\/tls +tls\.crt,tls\.key/);
    expect(said).toContain('adapstory/plugins/keys/school/tls');
    for (const value of ['second', 'content of', Buffer.from('second').toString('base64')]) expect(said).not.toContain(value);
  });

  it('are removed, one property or all', async () => {
    await remove(session(), 'keys/tls', { tenant: 'school', property: 'tls.key' });
    await expect(remove(session(), 'keys/tls', { tenant: 'school', property: 'tls.key' })).rejects.toThrow('it has tls.crt');
    await remove(session(), 'keys/tls', { tenant: 'school' });
    await expect(remove(session(), 'keys/tls', { tenant: 'school' })).rejects.toThrow('there is none');
  });

  it.each([
    ['a way up', '../hello/x'],
    ['a way up inside', 'keys/a/../../b'],
    ['no path', 'keys'],
    ['another tenant by a slash', 'keys//api'],
    ['a name that is none', 'Keys/api'],
  ])('are refused for %s', async (_, text) => {
    await expect(put(session(), piped('x'), text, { tenant: 'school' })).rejects.toThrow('it is no secret');
  });

  it('are refused without a value, and with a property that is a hidden file', async () => {
    await expect(put(session(), piped('\n'), 'keys/x', { tenant: 'school' })).rejects.toThrow('its value is empty');
    await expect(put(session(), piped('x'), 'keys/x', { tenant: 'school', property: '..data' })).rejects.toThrow('do not begin with a dot');
  });

  it('of somebody else’s making count only at a path of a plugin', async () => {
    const labels = { 'plugins.tenantry.dev/stored-secret': 'true' };
    const annotations = { 'plugins.tenantry.dev/secret-path': 'adapstory/plugins/keys/school/../victim/x' };
    await world.client.resource(Secret, 'tenantry-system').create({ metadata: { name: 'crooked', labels, annotations } });
    said = '';
    await list(session(), {});
    expect(said).not.toContain('victim');
  });

  it('are told to be of no use where the operator fetches them', async () => {
    const stringData = { secrets: 'external-secrets', 'vault-server': 'https://vault.example:8200' };
    await world.client.resource(Secret, 'tenantry-system').create({ metadata: { name: 'plugin-platform' }, stringData });
    said = '';
    expect(await put(session(), piped('x'), 'keys/late', { tenant: 'school' })).toBe(0);
    expect(said).toContain('Plugins do not see it');
    const { status } = await world.until('school', 'keys', (each) =>
      (each.status?.conditions ?? []).some(({ reason }) => reason === 'SecretBackendUnavailable'),
    );
    expect(JSON.stringify(status)).toContain('the External Secrets Operator is not installed');
    await world.client.resource(Secret, 'tenantry-system').delete('plugin-platform');
  });

  it('go with their tenant, those of plugins that were never installed too', async () => {
    await world.client.resource(TenantKind).delete('school');
    await world.tenants.eventually(async () => {
      said = '';
      await list(session(), { tenant: 'school', output: 'name' });
      return said === '';
    });
  });
});
